"""`paccf tasks` and `paccf solve`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.real import folder

from paccf.cli import main
from paccf.domains.game24.world import Game24, task_of
from paccf.domains.registry import has, names, sample


def run(*args: str) -> Result:
    return CliRunner().invoke(main, [*args])


def as_json(*args: str) -> dict[str, Any]:
    result = run(*args, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert isinstance(found, dict)
    return found


def test_sources_are_listed() -> None:
    listed = as_json("tasks")["sources"]
    assert {(s["domain"], s["source"]) for s in listed} >= {("game24", "generated"), ("game24", "tot")}
    text = run("tasks").output
    assert all(name in text for name in names() if has(name, "tasks"))
    assert "takes ranks" in text


@pytest.mark.parametrize("name", [name for name in names() if has(name, "tasks")])
def test_a_draw_shows_ids_and_hash(name: str) -> None:
    calibration = as_json("tasks", name, "--split", "calibration", "--seed", "7", "-n", "80")
    test = as_json("tasks", name, "--split", "test", "--seed", "7", "-n", "100")
    assert (len(calibration["tasks"]), len(test["tasks"])) == (80, 100)
    assert not set(calibration["tasks"]) & set(test["tasks"])
    text = run("tasks", name, "--split", "test", "--seed", "7", "-n", "100").output
    assert all(f"  {task}" in text for task in test["tasks"])
    assert test["digest"] in text
    assert len(run("tasks", name).output.splitlines()) >= 12


def test_the_whole_split_as_json_and_too_many() -> None:
    found = as_json("tasks", "game24", "--split", "test")
    assert (found["count"], found["of"], found["source"]) == (681, 681, "generated")
    result = run("tasks", "game24", "--split", "test", "-n", "682")
    assert result.exit_code == 2
    assert "682 tasks for test: the source generated of game24 has 681" in result.output


@pytest.mark.parametrize("name", [name for name in names() if has(name, "tasks")])
def test_solve_shows_what_the_oracle_knows(name: str) -> None:
    task = sample(name)[0]
    found = as_json("solve", name, task)
    text = run("solve", name, task).output
    assert found["task"] in text
    assert f"{sum(a['protected'] for a in found['actions'])} of {len(found['actions'])} first actions" in text
    assert any(a["protected"] for a in found["actions"])


def test_a_solution_is_one() -> None:
    found = as_json("solve", "game24", "4-7-8-8")
    game = Game24()
    assert game.verify(task_of("4 7 8 8"), found["solution"])
    assert len(found["steps"]) == 3
    first = next(a for a in found["actions"] if a["text"] == found["steps"][0])
    assert first["protected"]
    nothing = as_json("solve", "game24", "1 1 1 1")
    assert (nothing["solution"], nothing["value"]) == (None, 0.0)
    assert not any(a["protected"] for a in nothing["actions"])


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["solve", "game24", "4 7 8"], "is no hand"),
        (["solve", "gam24", "4 7 8 8"], "Did you mean 'game24'?"),
        (["solve", "game24", "4 7 8 8", "--world", "horizon=3"], "no setting of game24"),
        (["tasks", "gam24"], "Did you mean 'game24'?"),
        (["tasks", "game24", "--source", "tot:1-5/5-9", "--data", "/nowhere"], "paccf data get game24/24.csv"),
        (["tasks", "game24", "--source", "nothing"], "Known: generated, tot"),
    ],
)
def test_bad_input_is_a_sentence(args: list[str], said: str) -> None:
    result = run(*args)
    assert result.exit_code == 2, result.output
    assert said in result.output


def test_a_task_that_is_listed_can_be_named() -> None:
    """Also one that was generated, which nobody could write out by hand."""
    for seed in ("0", "3"):
        name = as_json("tasks", "gta", "--seed", seed, "-n", "40")["tasks"][-1]
        assert as_json("solve", "gta", name, "--seed", seed)["task"] == name
        found = run(
            "search", "--domain", "gta", "--task", name, "--seed", seed, "--budget", "20", "--no-tree", "--quiet"
        )
        assert name in found.output, found.output
    unknown = run("solve", "gta", "task-0000000000000000")
    assert unknown.exit_code == 2
    assert "is no task: write one in the JSON of a record" in unknown.output
    assert "and no id of `paccf tasks gta`" in unknown.output


def test_gta_tasks_are_listed_with_their_requests() -> None:
    text = run("tasks", "gta", "-n", "3").output
    ids = as_json("tasks", "gta", "-n", "3")["tasks"]
    assert [line.split()[0] for line in text.splitlines()[1:4]] == ids
    assert all(len(line.split()) > 4 for line in text.splitlines()[1:4])


def test_a_task_that_is_left_out_says_why() -> None:
    data = str(folder("gta/dataset.json", "gta/toolmeta.json"))
    for args in (["solve", "gta", "gta-34"], ["search", "--domain", "gta", "--task", "gta-34"]):
        found = run(*args, "--source", "gta", "--data", data)
        assert found.exit_code == 2
        assert "gta-34 is left out of the source gta: no legal plan can equal the recorded one" in found.output
    declared = run("solve", "gta", "gta-1", "--source", "gta", "--data", data, "--world", "tools=declared")
    assert declared.output.count("leak") == 1
    assert "[LEAK: only declared tools offered]" in declared.output
