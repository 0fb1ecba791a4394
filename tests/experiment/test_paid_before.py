"""What a run folder has paid for, or may have, counts against the ceiling of whoever goes on with it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.models import faults as f

from paccf.experiment.design import Design
from paccf.experiment.executor import Stop
from paccf.experiment.folder import Folder
from paccf.experiment.live import LiveSearches
from paccf.experiment.reading import read
from paccf.models.openai import chat
from paccf.models.pace import Pace
from paccf.models.tape import AsyncTaped, DurableTape
from paccf.search.tree import Action, Task
from paccf.search.world import Kind, Request, Subject

from .conftest import SMALL

SILENT = f.says(f.reply(f.completion("[50]", usage=None)))
MODEL = ("model.model=m", "model.prices.prompt=1", "model.prices.completion=2", "model.concurrency=1")


def asking(draw: int, kind: Kind = "evaluate") -> Request:
    return Request(kind, f"How good? \n\x00 é {'x' * draw}", draw, Subject(Task("t", None), None, (Action("a", "a"),)))


def live(path: Path, *sets: str) -> LiveSearches:
    folder = Folder.begin(path, Design(read("smoke", [*SMALL, *MODEL, *sets])))
    try:
        return LiveSearches(folder.design, folder.store, Stop(), lambda said: None)
    finally:
        folder.close()


@pytest.mark.parametrize(
    "more", [(), ("model.json_schema=true", "model.stop=['é']"), ("model.extra={max_completion_tokens = 7}",)]
)
def test_the_next_process_counts_what_this_one_counts(tmp_path: Path, more: tuple[str, ...]) -> None:
    async def go(server: f.Server, folder: Folder, before: LiveSearches) -> Pace:
        spec = folder.design.spec
        async with chat(spec.model, spec.seed, pace=before.pace) as model:
            taped = AsyncTaped(DurableTape(folder.store, model.fingerprint), model)
            for draw in range(6):  # the first three do not say what they took
                await taped.answer(asking(draw, "propose" if draw % 2 else "evaluate"))
            open_ = asyncio.create_task(taped.answer(asking(6)))
            while len(server.asked) < 7:
                await asyncio.sleep(0.01)
            for task in taped._under_way.values():  # as a crash does
                task.cancel()
            await asyncio.gather(open_, return_exceptions=True)
            return before.pace

    async def served() -> None:
        async with f.serving(SILENT, SILENT, SILENT, f.ok(), f.ok(), f.ok(), f.hang) as server:
            sets = (f"model.preset={server.url}", "model.ceilings.money=1000", *more)
            folder = Folder.begin(tmp_path / "run", Design(read("smoke", [*SMALL, *MODEL, *sets])))
            try:
                pace = await go(server, folder, LiveSearches(folder.design, folder.store, Stop(), lambda said: None))
            finally:
                folder.close()
            assert (pace.spent.unknown, pace.spent.prompt_tokens) == (4, 300)
            again = live(tmp_path / "run", *sets)
            assert again.before == (300, 30)
            assert again.pace._committed == pytest.approx(pace._committed, rel=1e-12)
            assert again.pace._committed > 2 * folder.design.spec.model.prices.cost(300, 30)  # type: ignore[union-attr]

    asyncio.run(served())
