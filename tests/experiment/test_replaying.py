"""What-ifs on the tape: exact where the tape reaches, and naming what is missing where it does not."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from paccf.cli import main
from paccf.domains.game24.world import Game24
from paccf.experiment.design import Cell, Design
from paccf.experiment.executor import Stop
from paccf.experiment.folder import Folder
from paccf.experiment.live import LiveSearches
from paccf.experiment.phases import Experiment
from paccf.experiment.processes import Processes
from paccf.experiment.progress import Progress
from paccf.experiment.reading import read, toml
from paccf.experiment.replaying import Lacking, jobs, refrozen, replays
from paccf.experiment.spec import Spec
from paccf.experiment.work import Job, play
from paccf.models.simulated import simulated
from paccf.record.tape import read_rows
from paccf.search.tree import Action, Task

from .conftest import SMALL, Here

LARGER = (*SMALL, "budgets=[10, 60]", "calibration.budget=60")
Run = Callable[..., tuple[bool, Here]]


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on the simulated model, without a tape."""
    path = tmp_path_factory.mktemp("computed") / "run"
    done = CliRunner().invoke(main, ["run", "smoke", "-o", str(path), "--quiet", *sets(SMALL)])
    assert done.exit_code == 0, done.output
    return path


@pytest.fixture(scope="module")
def taped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with its answers on a tape, as those of a real model are."""
    path = tmp_path_factory.mktemp("taped") / "run"
    spec = read("smoke", [*LARGER, "execution.tape=always"])
    folder, stop = Folder.begin(path, Design(spec)), Stop()
    live = LiveSearches(folder.design, folder.store, stop, print)
    here = Here(folder.design, stop)
    assert asyncio.run(Experiment(folder, live, here, Progress(), stop).run())
    folder.close()
    return path


def sets(changes: tuple[str, ...]) -> list[str]:
    return [part for change in changes for part in ("--set", change)]


def replayed(path: Path, budget: int, margins: dict[Cell, Any]) -> list[Any]:
    """All replays."""
    folder = Folder.look(path)
    text = toml(folder.design.spec)

    async def every() -> list[Any]:
        with Processes(text, 1, Stop()) as processes:
            return [done async for done in replays(folder, jobs(folder, budget, margins), text, processes)]

    try:
        return asyncio.run(every())
    finally:
        folder.close()


def frozen(path: Path) -> dict[Cell, Any]:
    folder = Folder.look(path)
    try:
        return {cell: c.margin_exact for cell, c in folder.certificates().items()}
    finally:
        folder.close()


@pytest.mark.parametrize("place", ["computed", "taped"])
def test_the_frozen_margin_at_a_recorded_budget_is_what_was_recorded(
    place: str, request: pytest.FixtureRequest
) -> None:
    path: Path = request.getfixturevalue(place)
    folder = Folder.look(path)
    recorded = {o.key: o for o in folder.store.outcomes(folder.run, phase="test")}
    folder.close()
    for budget in sorted({key.budget for key in recorded}):
        done = replayed(path, budget, frozen(path))
        found = {o.key: o for one in done for o in one.outcomes}
        assert {k: o.costs.total for k, o in found.items()} == {
            k: o.costs.total for k, o in recorded.items() if k.budget == budget
        }
        assert {k: (o.end, o.utility, o.answer) for k, o in found.items()} == {
            k: (o.end, o.utility, o.answer) for k, o in recorded.items() if k.budget == budget
        }


@pytest.mark.parametrize("margin", ["0", "20", None])
def test_what_the_tape_answers_is_a_real_run_and_what_it_lacks_is_not_on_it(margin: Any, taped: Path) -> None:
    folder = Folder.look(taped)
    with folder.store.database.read() as connection:
        there = {(row.question.kind, row.question.draw, row.question.prompt) for row in read_rows(connection)}
    model = simulated("game24", folder.design.spec.model.profile, folder.design.spec.seed)
    done = replayed(taped, 45, dict.fromkeys(folder.design.cells, margin))
    for one in done:
        real = {
            arm: play(Job("test", one.job.cell, one.job.task, (arm,), (45,), margin), folder.design, model)
            for arm in ("native", "paccf")
        }
        for arm, found in zip(("native", "paccf"), one.arms, strict=True):
            whole = real[arm].searches[0]  # type: ignore[index]
            if isinstance(found, Lacking):
                assert arm == "paccf", "Native at a smaller budget is always on the tape"
                assert found.requests
                assert not there.intersection(found.requests)
                assert found.spent < whole.outcome.costs.total
            else:
                assert found == whole.outcome
    folder.close()
    if margin == "20":
        assert any(one.lacking for one in done), "another margin goes where nobody went"


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("taped", r"test game24 \w+ \w+ B=\d+ .*effect \d+: recorded is \[\"execute\".*, replayed is \[\"execute\""),
        ("computed", r"test game24 \w+ \w+ B=\d+ .*frontier \d+: recorded is .*, replayed is "),
    ],
)
def test_a_replay_that_does_something_else_is_an_error_that_names_both(
    place: str, says: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The world moves otherwise than it did when the run was made: at any budget, it is seen where it happens."""
    path: Path = request.getfixturevalue(place)
    execute = Game24.execute

    def moved(self: Game24, task: Task, state: Any, action: Action) -> Any:
        done = execute(self, task, state, action)
        return replace(done, key=("moved", done.key), state=tuple(sorted(done.state, reverse=True)))

    async def here(self: Processes, function: Any, work: Any) -> Any:
        for item in work:
            yield function(item)

    monkeypatch.setattr(Processes, "compute", here)
    assert CliRunner().invoke(main, ["replay", str(path)]).exit_code == 0
    monkeypatch.setattr(Game24, "execute", moved)
    for more in ([], ["--budget", "15"], ["--margin", "20"]):  # of the last, the Native arm is as it was
        refused = CliRunner().invoke(main, ["replay", str(path), *more])
        assert refused.exit_code == 1, refused.output
        assert "a replay does not do what is recorded" in refused.stderr
        assert re.search(says, refused.stderr), refused.stderr


def test_native_beyond_its_budget_stops_where_the_tape_does(taped: Path) -> None:
    done = replayed(taped, 90, frozen(taped))
    lacking = [arm for one in done for arm in one.arms if isinstance(arm, Lacking)]
    assert lacking
    assert all(arm.spent >= 60 for arm in lacking), "up to the run's own budget it is all there"


def test_margins_at_another_coverage(computed: Path, small: Spec) -> None:
    folder = Folder.look(computed)
    try:
        assert refrozen(folder, str(small.certificate.q)) == frozen(computed)
        assert set(refrozen(folder, "0.999").values()) == {None}, "too few tasks for that: keep everything"
    finally:
        folder.close()


def test_the_command(taped: Path, computed: Path, tmp_path: Path) -> None:
    def said(*args: str) -> str:
        done = CliRunner().invoke(main, ["replay", *args])
        assert done.exit_code == 0, done.output
        return done.stdout

    assert "the simulated model computes every answer" in said(str(computed), "--budget", "15", "--margin", "20")
    file = tmp_path / "missing.jsonl"
    text = said(str(taped), "--margin", "20", "--budget", "45", "--missing", str(file))
    assert "replays lack answers" in text
    assert "no fair sample" in text
    assert "SIMULATED" in text
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    found = json.loads(said(str(taped), "--margin", "20", "--budget", "45", "--json"))
    assert 0 < len(lines) <= found["requests_missing_at_least"]
    assert {"task", "controller", "domain", "kind", "draw", "prompt"} == set(lines[0])
    assert found["simulated"]
    assert [c["controller"] for c in found["cells"]] == ["UCT-MCTS", "LevinTS"]
    assert all(c["answered"] <= c["tasks"] == 3 for c in found["cells"])
    one = json.loads(said(str(taped), "--controller", "levin", "--json"))
    assert [c["controller"] for c in one["cells"]] == ["LevinTS"]
    for bad, why in (
        (["--margin", "-1"], "0 or more"),
        (["--margin", "x"], "not a finite number"),
        (["--margin", "1", "-q", "0.9"], "not both"),
        (["-q", "2"], "between 0 and 1"),
        (["--controller", "lats"], "has no controller"),
    ):
        refused = CliRunner().invoke(main, ["replay", str(taped), *bad])
        assert refused.exit_code == 2
        assert why in refused.output
