"""Labels by probing in a run whose model is waited for."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from paccf.cli import main
from paccf.domains.probing import FIRST_DRAW
from paccf.experiment import work
from paccf.experiment.design import Cell, Design
from paccf.experiment.executor import Stop
from paccf.experiment.folder import Folder
from paccf.experiment.live import LiveSearches
from paccf.experiment.phases import Experiment
from paccf.experiment.plan import plan, probed_at_most
from paccf.experiment.progress import Progress
from paccf.experiment.reading import read
from paccf.models.live import CeilingReached, Withheld
from paccf.models.opening import Waiting
from paccf.models.simulated import simulated
from paccf.record.values import Label, LabelMode
from paccf.search.chance import chance
from paccf.search.world import Request

from .conftest import SMALL, Here

MODES: tuple[LabelMode, ...] = ("oracle", "probed")
SPEC = read(
    "smoke",
    [*SMALL, "execution.tape=always", "execution.searches=4", "calibration.labels=probed", "calibration.probe=3"],
)


def play(path: Path, progress: Progress | None = None) -> tuple[bool, list[Label], int]:
    """Go on with the run: whether it is complete then, the labels of its record, and how many tasks it left out."""
    folder, stop, progress = Folder.begin(path, Design(SPEC)), Stop(), progress or Progress()
    try:
        searches = LiveSearches(folder.design, folder.store, stop, lambda said: None)
        here = Here(folder.design, stop)
        complete = asyncio.run(Experiment(folder, searches, here, progress, stop).run())
        found = folder.store.searches(folder.run, labels="probed")
        labels = [label for search in found for f in search.frontiers for label in f.protected or ()]
        return complete, labels, len(folder.store.exclusions(folder.run))
    finally:
        folder.close()


def failing(monkeypatch: pytest.MonkeyPatch, error: Exception, share: float) -> None:
    """``share`` of the proposals that probes ask for are not answered."""
    answer = Waiting.answer

    async def answered(model: Waiting, request: Request, attempting: Any = None) -> Any:
        if request.draw >= FIRST_DRAW and chance("failing", request.prompt) < share:
            raise error
        return await answer(model, request, attempting)

    monkeypatch.setattr(Waiting, "answer", answered)


def test_a_withheld_proposal_leaves_a_label_open_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, labels, excluded = play(tmp_path / "quiet")
    with monkeypatch.context() as patched:
        failing(patched, Withheld("filtered"), 0.2)
        assert play(tmp_path / "run")[::2] == (whole, excluded) == (True, 0)
        _, fewer, _ = play(tmp_path / "run")
    assert labels.count(None) / len(labels) < fewer.count(None) / len(fewer) < 1
    assert {True, False} <= set(fewer)


def test_what_ends_a_run_ends_it_from_a_probe_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        failing(patched, CeilingReached("it is full"), 0.2)
        with pytest.raises(Exception, match="it is full"):
            play(tmp_path / "run")
    assert play(tmp_path / "run")[0]


def test_the_requests_of_probes_are_planned_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What probes ask is bounded and expected by the plan, counted as they go, and printed."""
    asked: list[Request] = []
    answer = Waiting.answer

    async def answered(model: Waiting, request: Request, attempting: Any = None) -> Any:
        asked.append(request)
        return await answer(model, request, attempting)

    monkeypatch.setattr(Waiting, "answer", answered)
    progress = Progress()
    _, labels, _ = play(tmp_path / "run", progress)
    probes = [request for request in asked if request.draw >= FIRST_DRAW]
    assert 0 < len(probes) <= progress.probes <= 3 * len(labels), "what probes ask alike is sent once"
    assert f"{progress.probes:,} more of probes" in progress.line()
    exact, probed = (plan(Design(replace(SPEC, calibration=replace(SPEC.calibration, labels=mode)))) for mode in MODES)
    for one, two in zip(exact, probed, strict=True):
        assert one.probes == 0 < two.probes == two.ceiling - one.ceiling
        assert one.requests < two.requests
        assert one.prompt_tokens < two.prompt_tokens
    assert len(asked) <= sum(line.ceiling for line in probed)
    assert progress.probes <= sum(line.probes for line in probed)
    told = CliRunner().invoke(main, ["run", "smoke", "--plan", "--set", "calibration.labels=probed"]).output
    assert "with the probes that label candidates" in told


@pytest.mark.parametrize("budget", [0, 3, 4, 9, 20, 100])
@pytest.mark.parametrize("cell", Design(SPEC).cells, ids=str)
def test_a_search_has_no_more_candidates_than_its_plan_says(cell: Cell, budget: int) -> None:
    design = Design(SPEC)
    for task in design.tests[cell.domain]:
        model = simulated(cell.domain, "paper-like", 1)
        search = work.play(work.Job("single", cell, task, ("native",), (budget,)), design, model).searches[0]
        candidates = sum(len(f.candidates) for f in search.frontiers)
        assert candidates * SPEC.calibration.probe <= probed_at_most(SPEC, budget)
