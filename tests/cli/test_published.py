"""`paccf published`, as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path
from shutil import copytree
from time import perf_counter

import pytest
from click.testing import CliRunner, Result

from paccf.cli import main
from paccf.published import names, table


def paccf(*args: str) -> Result:
    return CliRunner().invoke(main, ["published", *args])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with as_file(files("paccf.published") / "tables") as source:
        return Path(copytree(source, tmp_path / "tables"))


def edit(folder: Path, name: str, old: str, new: str) -> None:
    file = folder / f"{name}.csv"
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), "utf-8")


def test_list() -> None:
    found = paccf("list")
    assert found.exit_code == 0
    assert [line.split()[0] for line in found.output.splitlines()[2:]] == list(names())
    assert [t["name"] for t in json.loads(paccf("list", "--json").output)["tables"]] == list(names())


@pytest.mark.parametrize("name", names())
def test_show(name: str) -> None:
    found = paccf("show", name)
    assert found.exit_code == 0
    for row in table(name).cells:
        assert all(cell in found.output for cell in row)
    shown = json.loads(paccf("show", name, "--json").output)
    assert [list(row.values()) for row in shown["rows"]] == table(name).cells


def test_show_unknown() -> None:
    found = paccf("show", "macro_man")
    assert found.exit_code == 2
    assert "Did you mean 'macro_main'?" in found.output
    assert "`paccf published list`" in paccf("show", "qqqq").output


def test_check() -> None:
    found = paccf("check")
    assert found.exit_code == 0, found.output
    assert "1102 checks: 1030 agree, 60 rounding, 12 differ. Only the known ones differ." in found.output
    assert "exclude_tooltree_macro / B100 / preq_reduction_pct" in found.output
    assert "Fisher p = 8.8e-09" in found.output
    assert "raw_gta / B500 LevinTS / delta_pp" not in found.output
    assert "raw_gta / B500 LevinTS / delta_pp" in paccf("check", "--all").output


def test_check_json() -> None:
    found = json.loads(paccf("check", "--json").output)
    assert found["ok"] is True
    assert found["total"] == {"checks": 1102, "agrees": 1030, "rounding": 60, "differs": 12}
    assert len(found["checks"]) == 1102
    assert sum("explanation" in c for c in found["checks"]) == 12
    assert {"middle": "2329/600", "low": "1163/300", "high": "583/150"} in [c.get("exact") for c in found["checks"]]
    assert found["remarks"]


def test_a_new_discrepancy_fails_and_comes_first(folder: Path) -> None:
    edit(folder, "macro_main", "10.73", "10.83")
    found = paccf("check", "--tables", str(folder))
    assert found.exit_code == 1
    assert found.output.startswith("FAILED: 2 discrepancies that are not known:")
    assert "macro_main / Game24 B100 / preq_reduction_pct" in found.output.split("kind of check")[0]
    assert paccf("check", "--tables", str(folder), "--json").exit_code == 1


def test_a_vanished_discrepancy_fails(folder: Path) -> None:
    edit(folder, "per_condition_header", "6,R/G/T\n", "")
    found = paccf("check", "--tables", str(folder))
    assert found.exit_code == 1
    assert "1 known discrepancies no longer appear" in found.output
    assert "per_condition_ci / column heads / R/G/T" in found.output.split("kind of check")[0]


def test_unusable_figures_fail_without_a_traceback(folder: Path) -> None:
    edit(folder, "calibration_rank_audit", "LevinTS,30,30", "LevinTS,30,95")
    found = paccf("check", "--tables", str(folder))
    assert (found.exit_code, found.exception.__class__) == (1, SystemExit)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("GTA,B100,+1.23", "GTA,B100,many", "macro_main.csv, line 10, column delta_utility_pp: 'many'"),
        ("GTA,B100,", "GTA,B150,", "has no row with"),
    ],
)
def test_bad_tables(folder: Path, old: str, new: str, message: str) -> None:
    edit(folder, "macro_main", old, new)
    found = paccf("check", "--tables", str(folder))
    assert found.exit_code == 2
    assert message in found.output.replace("\n", " ")


@pytest.mark.parametrize("args", [(), ("list",), ("show",), ("check",)])
def test_help_shows_an_example(args: tuple[str, ...]) -> None:
    found = paccf(*args, "--help")
    assert found.exit_code == 0
    assert "Example" in found.output
    assert "paccf published" in found.output


def test_starts_fast() -> None:
    code = (
        "import sys; import paccf.cli.published as p; p.command;"
        "sys.exit(any(m.split('.')[0] in {'numpy', 'scipy'} or m.startswith('paccf.published') for m in sys.modules))"
    )
    start = perf_counter()
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert perf_counter() - start < 5
