"""A run on declared tools, and on a model that is seeded with gold: every output of it says so."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

import paccf
from paccf.cli import main

LEAK = "the tools that the task declares were offered, which gives away the recorded plan's tools: a leak"
SEEDED = "the model is SIMULATED, seeded with gold"
SPEC = """
name = "declared"
seed = 1
budgets = [20, 40]
[domains.gta]
test = 4
settings = { tools = "declared" }
[controllers.levin]
[calibration]
budget = 40
tasks = 8
exposed = 4
limit = 12
[certificate]
q = "0.7"
[model]
preset = "simulated"
"""


def run(*args: str) -> str:
    result = CliRunner().invoke(main, [*args])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("declared")
    (path / "spec.toml").write_text(SPEC)
    printed = run("run", str(path / "spec.toml"), "-o", str(path / "run"))
    assert LEAK in printed
    assert SEEDED in printed
    return path / "run"


def test_every_command_on_the_run_says_it(folder: Path) -> None:
    task = next(o["task"] for o in json.loads(run("table", str(folder), "cases", "--format", "json"))["rows"])
    for args in (["status"], ["audit"], ["show", task, "--controller", "levin"]):
        command = [args[0], str(folder), *args[1:]]
        printed = run(*command)
        assert LEAK in printed, args
        assert SEEDED in printed, args
        caveats = json.loads(run(*command, "--json"))["caveats"]
        assert any(LEAK in said for said in caveats), args
        assert any(SEEDED in said for said in caveats), args


def test_show_needs_no_controller_where_there_is_one_and_names_them_otherwise(folder: Path) -> None:
    task = next(o["task"] for o in json.loads(run("table", str(folder), "cases", "--format", "json"))["rows"])
    named = CliRunner().invoke(main, ["show", str(folder), task, "--controller", "lavin"])
    assert named.exit_code == 2
    assert "the run has no controller 'lavin': --controller levin" in named.output
    assert run("show", str(folder), task) == run("show", str(folder), task, "--controller", "levin")


@pytest.mark.parametrize("form", ["text", "md", "tex", "csv", "json"])
def test_every_format_of_a_table_says_it(folder: Path, form: str) -> None:
    printed = run("table", str(folder), "bill", "--format", form)
    assert "the tools that the task declares were offered" in printed
    assert "seeded with gold" in printed


def test_nothing_of_this_machine_s_folders_is_in_what_is_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run where somebody else's repository is, with an origin on this machine."""
    for command in (["init", "-q"], ["remote", "add", "origin", str(tmp_path / "origin")]):
        subprocess.run(["git", *command], check=True, cwd=tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.toml").write_text(SPEC)
    run("run", "spec.toml", "-o", "made", "--quiet")
    run("report", "made")
    table = run("table", "made", "frozen_config", "--format", "csv")
    assert "version of paccf" in table
    page = (tmp_path / "made" / "report.html").read_text()
    for said in (table, page):
        assert str(tmp_path) not in said
        assert str(Path(paccf.__file__).parents[2]) not in said


def test_gtas_own_figures_reach_the_table(folder: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run("table", str(folder), "metrics", "--format", "csv"))))
    at = [row for row in rows if row["budget"] == "B40"]
    counts = {row["metric"]: int(row["n"]) for row in at}
    assert {
        name: counts[name] for name in ("inst_acc", "tool_acc", "arg_acc", "plan_f1", "strict_avg3")
    } == dict.fromkeys(("inst_acc", "tool_acc", "arg_acc", "plan_f1", "strict_avg3"), 4)
    partly = [counts.get(name, 0) for name in ("p_f1", "o_f1", "l_f1", "c_f1", "summ_acc")]
    assert any(0 < n < 4 for n in partly), "a figure that some tasks do not define is shown for the others"
    assert {row["native"] for row in at if row["metric"] == "declared_tools"} == {"1.0"}


@pytest.mark.parametrize("budgets", ["20, 40", "40"])
def test_a_budget_over_the_calibrated_one_is_told_of_everywhere(budgets: str, tmp_path: Path) -> None:
    """And where no budget is within it, no promise is printed beside the coverage."""
    folder = str(tmp_path / "run")
    changes = (f"budgets=[{budgets}]", "calibration.budget=20", "beyond=larger is asked for", "domains.game24.test=4")
    changes = (*changes, "controllers={levin={}}", "calibration.tasks=10", "certificate.q=0.7", "calibration.exposed=5")
    printed = run("run", "smoke", "-o", folder, "--quiet", *(part for c in changes for part in ("--set", c)))
    tables = json.loads(run("run", folder, "--json"))["tables"]
    covered = json.loads(run("table", folder, "zero_api_native_coverage", "--format", "json"))
    for output in (
        printed,
        run("status", folder),
        run("audit", folder),
        run("table", folder, "bill"),
        run("table", folder, "zero_api_native_coverage", "--format", "csv"),
        json.dumps(covered),
    ):
        assert "calibrated at budget 20 and promise nothing at 40" in output
        assert "larger is asked for" in output
    (title,) = (table["title"] for table in tables if "Coverage" in table["title"])
    (row,) = next(table["rows"] for table in tables if "Coverage" in table["title"])
    run("report", folder)
    page = (tmp_path / "run" / "report.html").read_text()
    assert "larger is asked for" in page
    inside = budgets != "40"
    assert title.endswith("promised 0.7" if inside else "nothing is promised at these budgets")
    assert title in printed
    assert (row["P(so few)"] != "-") == inside
    assert (covered["rows"][0]["reference"] is not None) == inside
    assert ("Promised 70" in page) == inside
    assert ("Nothing is promised at these budgets" in page) != inside


@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_a_single_search_says_it(extra: list[str]) -> None:
    printed = run("search", "--domain", "gta", "--tasks", "1", "--budget", "12", "--world", "tools=declared", *extra)
    assert LEAK in printed
    assert SEEDED in printed
    plain = run("search", "--domain", "gta", "--tasks", "1", "--budget", "12", *extra)
    assert LEAK not in plain
    assert SEEDED in plain


def test_labels_that_are_no_oracle_s_are_told_of_everywhere(tmp_path: Path) -> None:
    """And a probe takes what the spec allows it."""
    made = {}
    for name, labels, probe in (("found", "found", 1), ("few", "probed", 1), ("many", "probed", 40)):
        spec = SPEC.replace("[calibration]", f'[calibration]\nlabels = "{labels}"\nprobe = {probe}')
        spec = spec.replace("domains.gta", "domains.game24").replace('settings = { tools = "declared" }', "")
        (tmp_path / f"{name}.toml").write_text(spec)
        folder = str(tmp_path / name)
        printed = run("run", str(tmp_path / f"{name}.toml"), "-o", folder, "--quiet")
        for output in (printed, run("status", folder), run("table", folder, "zero_api_native_coverage")):
            assert f"labels are {labels}: solution-bearing means" in output
        made[name] = json.loads((tmp_path / name / "certificates" / "game24-levin.json").read_text())
        assert made[name]["labels"] == labels
    assert made["few"]["counts"]["unresolved"] > made["many"]["counts"]["unresolved"]
