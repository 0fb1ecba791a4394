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


def test_a_domain_of_ones_own_is_a_domain_like_the_others(tmp_path: Path) -> None:
    """As if it were installed: an entry point beside the package. Read, solved, searched, and a whole experiment."""
    info = tmp_path / "reach-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: reach\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[paccf.domains]\nreach = reach\n")
    own = EXAMPLES / "own_domain"
    assert '[project.entry-points."paccf.domains"]\nreach = "reach"' in (own / "pyproject.toml").read_text()
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(own)]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }

    def said(*command: str) -> str:
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True, env=environment, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    code = """
import sys
from paccf.domains.registry import sample, task_of, world
text, answer = sample("reach")
task, place = task_of("reach", text), world("reach", bound=50)
start = place.start(task)
found = place.read_proposals(task, start.state, answer + "\\nadd: 3 -> 11\\nfly: 3 -> 4\\nI think that double\\n")
assert ([a.key for a in found.actions], found.illegal, found.unparsable) == (["double", "add"], 2, 1), found
assert place.execute(task, (13, 1), found.actions[1]).solved is True
assert place.execute(task, (40, 3), found.actions[0]).terminal, "beyond the bound"
assert not {"reach.oracle", "reach.tasks", "reach.truth"} & set(sys.modules), "a world loads nothing that knows solutions"
from paccf.models.simulated import simulated, truth_of
truth = truth_of("reach")
for line, counted in ((truth.wrong, "illegal"), (truth.garbled, "unparsable")):
    assert getattr(place.read_proposals(task, start.state, line(task, start.state, found.actions[0])), counted) == 1
from paccf.domains.oracles import oracle_of
oracle = oracle_of("reach")
state = start.state
for step in oracle.solution(task):
    assert oracle.protected(task, state, [step]) == [True]
    state = place.execute(task, state, step).state
assert state[0] == 20
"""
    said("-c", code)
    assert "10-in-5" in said("-m", "paccf", "tasks", "reach", "-n", "3")
    assert "protected" in said("-m", "paccf", "solve", "reach", "3 to 20 in 5")
    run = said("-m", "paccf", "run", str(own / "reach.toml"), "-o", "run", "--quiet")
    assert "SIMULATED" in run
    assert re.search(r"^reach +LevinTS +24 ", run, re.M)
    assert "0 failed" not in run
