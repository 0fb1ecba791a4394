"""A small experiment, played in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paccf.experiment.design import Design
from paccf.experiment.executor import Stop
from paccf.experiment.folder import Folder
from paccf.experiment.labelling import labelled
from paccf.experiment.phases import Experiment
from paccf.experiment.progress import Progress
from paccf.experiment.reading import read
from paccf.experiment.schedule import Shard
from paccf.experiment.spec import Spec
from paccf.experiment.work import Done, Job, play
from paccf.models.simulated import simulated

SMALL = (
    "domains.game24.test=3",
    "budgets=[10, 20]",
    "calibration.budget=20",
    "calibration.tasks=6",
    "calibration.exposed=4",
    "calibration.limit=12",
    "certificate.q=0.7",
)


class Here:
    """An executor and labeller in this process; ``order`` shuffles nothing, ``limit`` stops after so many jobs."""

    def __init__(self, design: Design, stop: Stop, limit: int | None = None, backwards: bool = False) -> None:
        self.design, self.stop, self.limit, self.backwards = design, stop, limit, backwards
        self.played: list[Job] = []

    async def play(self, jobs: Sequence[Job]) -> AsyncIterator[Done]:
        for job in reversed(jobs) if self.backwards else jobs:
            if self.limit is not None and len(self.played) >= self.limit:
                self.stop.ask("enough")
                return
            self.played.append(job)
            spec = self.design.spec
            settings = spec.domains[job.cell.domain].settings
            model = simulated(job.cell.domain, spec.model.profile, spec.seed, **settings)
            done = play(job, self.design, model)
            yield replace(done, labels=tuple(tuple(labelled(s, job.task, self.design)) for s in done.searches))

    async def label(self, due: Sequence[Any]) -> AsyncIterator[Any]:
        for search, task in due:
            yield search, labelled(search, task, self.design)


@pytest.fixture(scope="session")
def small() -> Spec:
    return read("smoke", SMALL)


@pytest.fixture
def experiment() -> Callable[..., tuple[bool, Here]]:
    """Run a spec on a folder; whether it is complete, and what was played."""

    def run(spec: Spec, path: Path, shard: Shard | None = None, **how: Any) -> tuple[bool, Here]:
        folder = Folder.begin(path, Design(spec))
        stop = Stop()
        here = Here(folder.design, stop, **how)
        try:
            complete = asyncio.run(Experiment(folder, here, here, Progress(), stop, shard).run())
        finally:
            folder.close()
        return complete, here

    return run


def contents(path: Path) -> dict[str, Any]:
    """Everything in a folder that counts: files but the database, and the database's values."""
    folder = Folder.look(path)
    try:
        store, name = folder.store, folder.run
        mode = folder.design.spec.calibration.labels
        found: dict[str, Any] = {
            "searches": list(store.searches(name, labels=mode)),
            "certificates": store.certificates(name),
            "exclusions": store.exclusions(name),
            "info": store.run(name),
        }
    finally:
        folder.close()
    for file in sorted(path.rglob("*")):
        if file.is_file() and not file.name.startswith("run.sqlite"):
            found[str(file.relative_to(path))] = file.read_bytes()
    return found
