"""Every table loads as printed, and a damaged one says where it is damaged."""

from __future__ import annotations

import csv
import subprocess
import sys
from importlib.resources import as_file, files
from io import StringIO
from pathlib import Path
from shutil import copytree

import pytest

from paccf.published import Printed, Table, load, names, read, table
from paccf.published.tables import TITLES


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with as_file(files("paccf.published") / "tables") as source:
        return Path(copytree(source, tmp_path / "tables"))


def test_every_file_is_a_table() -> None:
    found = {f.name for f in (files("paccf.published") / "tables").iterdir()}
    assert found == {f"{name}.csv" for name in names()}
    assert set(TITLES) == set(names())


@pytest.mark.parametrize("name", names())
def test_as_printed(name: str) -> None:
    text = (files("paccf.published") / "tables" / f"{name}.csv").read_text("utf-8")
    lines = list(csv.reader(StringIO(text)))
    found: Table[object] = table(name)
    assert [list(found.columns), *found.cells] == lines
    assert found.title
    assert found.place


def test_typed_rows() -> None:
    row = load().macro_main.find(domain="GTA", budget="B100")
    assert row.delta_utility_pp == Printed("+1.23")
    assert load().gross_subtree_main.find(domain="Game24", controller="Macro").n_eff is None
    with pytest.raises(AttributeError):
        row.domain = "x"  # type: ignore[misc]


def test_unknown() -> None:
    with pytest.raises(LookupError, match="the tables are q95_l_main, "):
        table("nope")
    with pytest.raises(LookupError, match="no row with"):
        load().macro_main.find(domain="GTA", budget="B700")


def test_read_elsewhere(folder: Path) -> None:
    assert read(folder) == load()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("10.73", "10.7e", r"macro_main\.csv, line 2, column preq_reduction_pct: '10\.7e' is not"),
        ("10.73,", "", r"macro_main\.csv, line 2: 5 cells, the table has 6 columns"),
        ("domain,", "area,", r"macro_main\.csv, line 1: the columns must be domain,budget"),
    ],
)
def test_damaged(folder: Path, old: str, new: str, message: str) -> None:
    file = folder / "macro_main.csv"
    file.write_text(file.read_text("utf-8").replace(old, new, 1), "utf-8")
    with pytest.raises(ValueError, match=message):
        read(folder)


def test_missing_file(folder: Path) -> None:
    (folder / "raw_gta.csv").unlink()
    with pytest.raises(ValueError, match=r"raw_gta\.csv is missing"):
        read(folder)


def test_needs_the_standard_library_only() -> None:
    code = (
        "import sys; from paccf.published import check; assert check().ok;"
        "sys.exit(bool({'numpy', 'scipy', 'click', 'msgspec'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
