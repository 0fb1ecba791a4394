"""The examples that need nothing but what the tests have: each run as a user would, on fewer hands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.parts import need

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize(
    ("name", "needs"), [("plain_loop", "numpy"), ("langgraph_send", "langgraph"), ("treequest_best_first", "treequest")]
)
def test_an_example_records_calibrates_gates_and_bills(name: str, needs: str, tmp_path: Path) -> None:
    need(find_spec(needs), f"{needs} is not installed")
    code = f"import {name}; from pathlib import Path; {name}.main(Path({str(tmp_path)!r}), 16)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(EXAMPLES), os.environ.get("PYTHONPATH", "")])}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    said = run.stdout
    before, after = (
        re.search(rf"^{arm} +(\d+) of 16 solved, ([\d,]+) requests", said, re.M) for arm in ("before", "after")
    )
    assert before is not None
    assert after is not None
    for found in (before, after):
        assert 0 < int(found[1]) <= 16
        assert 16 * 5 <= int(found[2].replace(",", "")) <= 16 * 500
    assert "margin" in said
    assert "SIMULATED" in said
    assert (tmp_path / "margin.json").exists()
    covered = re.search(r"^coverage +(\d+) of (\d+)", said, re.M)
    assert covered is not None
    assert int(covered[1]) <= int(covered[2])


FULL = ("plain_loop", "langgraph_send", "treequest_best_first") if os.environ.get("PACCF_THOROUGH") else ("plain_loop",)


@pytest.mark.parametrize("name", FULL)
def test_the_bill_in_the_docs_is_what_the_example_prints(name: str) -> None:
    done = subprocess.run([sys.executable, str(EXAMPLES / f"{name}.py")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = re.search(
        r"margin +(?P<margin>[\d.]+) .*\n"
        r"before +(?P<solved>\d+) of (?P<hands>\d+) solved, (?P<requests>[\d,]+) .*\n"
        r"after +(?P<gated>\d+) of \d+ solved, (?P<fewer>[\d,]+) .*\n"
        r"saved +(?P<saved>[\d.]+ %) .*\n"
        r"coverage +(?P<covered>\d+) of (?P<exposed>\d+) ",
        done.stdout,
    )
    assert found is not None, done.stdout
    row = (
        "| {name} | {hands} + {hands} | {margin} | {solved} / {gated} | {requests} / {fewer} | {saved} "
        "| {covered}/{exposed} ".format(name=name, **found.groupdict())
    )
    assert row in (EXAMPLES.parent / "docs" / "examples.md").read_text()


def test_every_example_says_how_to_run_it_and_shows_the_three_steps() -> None:
    scripts = sorted(EXAMPLES.glob("*.py"))
    assert len(scripts) == 7
    for script in scripts:
        text = script.read_text()
        if script.name != "puzzle.py":
            header = re.match(r"# /// script\n((?:#.*\n)+?)# ///\n", text)
            assert header is not None, script.name
            said = tomllib.loads(re.sub(r"^# ?", "", header[1], flags=re.M))
            assert "paccf" in said["dependencies"]
            assert said["tool"]["uv"]["sources"]["paccf"] == {"path": ".."}, "an index need not have it"
            assert all(f"    # {n}. " in text for n in (1, 2, 3)), script.name
            assert f"examples/{script.name}" in text
            assert script.stem in (EXAMPLES / "run_all").read_text()
