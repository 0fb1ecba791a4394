"""An endpoint that is away for an hour, on a clock that is turned by hand: waited out, nothing lost, nothing doubled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from paccf.experiment import live
from paccf.experiment.design import Design
from paccf.experiment.executor import Halt, Stop
from paccf.experiment.folder import Folder
from paccf.experiment.live import PAUSE, Hearing, LiveSearches, Steady, Weather
from paccf.experiment.phases import Experiment
from paccf.experiment.progress import Progress
from paccf.experiment.reading import read
from paccf.models.live import Attempting, Unavailable
from paccf.models.opening import Waiting
from paccf.models.tape import AsyncTaped, Tape
from paccf.record.tape import read_rows
from paccf.search.tree import Task
from paccf.search.world import Answer, Request, Subject

from .conftest import SMALL, Here, contents

HOUR = 3600.0
BEFORE = 40  # answers before the endpoint goes away


class Clock:
    """Time passes by waiting for the endpoint, and by nothing else. From the ``BEFORE``-th answer on the endpoint is away for ``seconds``."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
        self.now, self.seconds, self.answers = 0.0, seconds, 0
        self.gone: float | None = None
        self.tried: list[float] = []
        real, answer, wait = asyncio.sleep, Waiting.answer, Weather.wait
        waiting = False

        async def sleep(seconds: float, result: Any = None) -> Any:
            self.now += seconds if waiting else 0
            return await real(0 if waiting else 0.001, result)

        async def waited(weather: Weather, error: Unavailable, pause: float) -> None:
            nonlocal waiting
            waiting = True
            await wait(weather, error, pause)
            waiting = False

        async def answered(model: Waiting, request: Any, attempting: Any = None) -> Any:
            if self.answers >= BEFORE and self.gone is None:
                self.gone = self.now
            if self.gone is not None and self.now - self.gone < self.seconds:
                self.tried.append(self.now - self.gone)
                raise Unavailable("nobody is there")
            self.answers += 1
            return await answer(model, request, attempting)

        monkeypatch.setattr(asyncio, "sleep", sleep)
        monkeypatch.setattr(live.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(Waiting, "answer", answered)
        monkeypatch.setattr(Weather, "wait", waited)


def play(path: Path, outage: float = 7200.0) -> tuple[bool, list[str]]:
    """Go on with the run in one search at a time; what it said."""
    spec = read("smoke", [*SMALL, "execution.tape=always", "execution.searches=1", f"execution.outage={outage}"])
    folder, stop, said = Folder.begin(path, Design(spec)), Stop(), list[str]()
    try:
        searches = LiveSearches(folder.design, folder.store, stop, said.append)
        here = Here(folder.design, stop)
        return asyncio.run(Experiment(folder, searches, here, Progress(), stop).run()), said
    finally:
        folder.close()


def tape(path: Path) -> list[tuple[bytes, Any]]:
    folder = Folder.look(path)
    try:
        with folder.store.database.read() as connection:
            return sorted((row.question.key, row.reply and row.reply.text) for row in read_rows(connection))
    finally:
        folder.close()


@pytest.fixture
def undisturbed(tmp_path: Path) -> Callable[[Path], None]:
    """Hold a folder against one whose endpoint was always there."""
    play(tmp_path / "quiet")

    def compare(path: Path) -> None:
        (path / "spec.toml").write_bytes((tmp_path / "quiet" / "spec.toml").read_bytes())  # the outage may differ
        assert contents(path) == contents(tmp_path / "quiet")
        assert tape(path) == tape(tmp_path / "quiet"), "every answer once, and no other"

    return compare


def test_an_hour_is_waited_out(
    undisturbed: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        clock = Clock(patched, HOUR)
        complete, said = play(tmp_path / "run")
    assert complete
    assert [line.partition(" (")[0] for line in said] == ["the endpoint does not answer", "the endpoint answers again"]
    gaps = [b - a for a, b in pairwise(clock.tried)]
    assert gaps[0] < 2 * PAUSE[0]
    assert all(b >= a - 1 for a, b in pairwise(gaps)), "it asks ever less often"
    assert HOUR / PAUSE[1] <= len(clock.tried) < 2 * HOUR / PAUSE[1], "but about once a minute"
    undisturbed(tmp_path / "run")


def test_an_outage_that_is_too_long_stops_the_run_and_the_same_command_goes_on(
    undisturbed: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        clock = Clock(patched, HOUR)
        with pytest.raises(Halt, match="did not answer for 1800 s: nobody is there"):
            play(tmp_path / "run", outage=1800)
        assert clock.tried[-1] <= 1800 + PAUSE[1]
    assert len([reply for _, reply in tape(tmp_path / "run") if reply is not None]) == BEFORE
    complete, said = play(tmp_path / "run", outage=1800)
    assert complete
    assert not said
    undisturbed(tmp_path / "run")


def test_what_was_sent_in_vain_is_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    class Away:
        """Answers when it is asked a third time; each time it sends three attempts."""

        name = fingerprint = "away"
        asked = 0

        async def answer(self, request: Request, attempting: Attempting) -> Answer:
            self.asked += 1
            for attempt in range(1, 4):
                await attempting(attempt)
            if self.asked < 3:
                raise Unavailable("nobody is there")
            return Answer("[50]", attempts=3)

    async def go() -> tuple[int, int]:
        model = Steady(AsyncTaped(Tape(fingerprint="away"), Away()), Weather(Stop(), HOUR, lambda said: None))
        one, two = Hearing(model, Tape()), Hearing(model, Tape())
        request = Request("propose", "What now?", 0, Subject(Task("t", None), None))
        await asyncio.gather(one.answer(request), one.answer(request))
        await two.answer(request)
        return one.sent, two.sent

    monkeypatch.setattr(live, "PAUSE", (0.0, 0.0))
    assert asyncio.run(go()) == (9, 0), "what is on the tape costs nothing"
