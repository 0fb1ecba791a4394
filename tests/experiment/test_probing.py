"""Labels by probing in a run whose model is waited for."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from paccf.domains.probing import FIRST_DRAW
from paccf.experiment.design import Design
from paccf.experiment.executor import Stop
from paccf.experiment.folder import Folder
from paccf.experiment.live import LiveSearches
from paccf.experiment.phases import Experiment
from paccf.experiment.progress import Progress
from paccf.experiment.reading import read
from paccf.models.live import CeilingReached, Withheld
from paccf.models.opening import Waiting
from paccf.record.values import Label
from paccf.search.chance import chance
from paccf.search.world import Request

from .conftest import SMALL, Here

SPEC = read(
    "smoke",
    [*SMALL, "execution.tape=always", "execution.searches=4", "calibration.labels=probed", "calibration.probe=3"],
)


def play(path: Path) -> tuple[bool, list[Label], int]:
    """Go on with the run: whether it is complete then, the labels of its record, and how many tasks it left out."""
    folder, stop = Folder.begin(path, Design(SPEC)), Stop()
    try:
        searches = LiveSearches(folder.design, folder.store, stop, lambda said: None)
        here = Here(folder.design, stop)
        complete = asyncio.run(Experiment(folder, searches, here, Progress(), stop).run())
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
