"""The phases of an experiment, in order; each looks at the record for what is there and does the rest.

calibrate   Native runs, PAC-CF disabled, along every cell's own stream
freeze      labels -> deficits -> certificates, from the record alone; never again changed
test        every arm at the largest budget on the same tasks, the smaller budgets as replays
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Protocol

from paccf.experiment.design import Cell, Design, title
from paccf.experiment.executor import Executor, Stop
from paccf.experiment.folder import Folder
from paccf.experiment.labelling import certificate, exposed
from paccf.experiment.schedule import Shard, fair
from paccf.experiment.stream import extent
from paccf.experiment.work import Done, Job, Margin
from paccf.method.certificate import Certificate, MismatchedCertificate
from paccf.record.values import Exclusion, Key, Label, Phase, Search
from paccf.search.tree import Task

WRITES = 64  # ours: jobs that wait for the disk, at most; more and the executor waits too


class Labeller(Protocol):
    """Who labels recorded searches; see `processes.Processes`."""

    def label(self, due: Sequence[tuple[Search, Task]]) -> AsyncIterator[tuple[Search, list[tuple[Label, ...]]]]: ...


class Watcher(Protocol):
    """Who is told of progress. It changes nothing."""

    def phase(self, name: str, jobs: Sequence[Job], done: int) -> None: ...
    def done(self, job: Done) -> None: ...
    def say(self, text: str) -> None: ...


class Experiment:
    """One experiment on one folder. Methods may be called again at any time, also in another process."""

    def __init__(
        self,
        folder: Folder,
        executor: Executor,
        labeller: Labeller,
        watcher: Watcher,
        stop: Stop,
        shard: Shard | None = None,
    ) -> None:
        self.folder, self.executor, self.labeller, self.watcher = folder, executor, labeller, watcher
        self.stop, self.shard = stop, shard or Shard()
        self.design: Design = folder.design
        self.spec = folder.design.spec
        outcomes = list(folder.store.outcomes(folder.run))
        self.known: set[Key] = {outcome.key for outcome in outcomes}
        self.excluded = {(e.domain, e.task): e for e in folder.store.exclusions(folder.run)}
        for outcome in outcomes:
            self._fail(outcome.key, outcome.failure)
        self.exposures: dict[tuple[Cell, str], bool] = {}

    async def run(self) -> bool:
        """All phases. Whether everything is there now: not if it was stopped, or is one shard of several."""
        for exclusion in self.design.predeclared:
            self._exclude(exclusion)
        if self.spec.needs_margin and not await self._margins():
            return False
        await self._play("test", self._tests())
        await self._label("test")
        return not self.stop.asked and self.shard.whole

    # calibration

    async def _margins(self) -> bool:
        frozen = self.folder.certificates()
        due = [cell for cell in self.design.cells if cell not in frozen]
        if (due or self._lost(frozen)) and not await self._calibrate():
            return False
        for cell in due:
            self.folder.freeze(cell, self._frozen(cell))
        self.folder.write_certificates()
        return True

    def _lost(self, frozen: Mapping[Cell, Certificate]) -> bool:
        """Whether calibration searches that a frozen margin rests on are not here: the record was damaged, and saved
        without them. They are run again, so that the margin can be audited; it stays what it is."""
        budget, seed = self.spec.calibration.budget, self.spec.seed
        return any(
            Key("calibration", cell.domain, cell.controller, "native", budget, task, seed) not in self.known
            for cell, certificate in frozen.items()
            for task, _ in certificate.deficits
        )

    async def _calibrate(self) -> bool:
        """Run every cell's stream as far as its own exposures ask for. False if it was stopped on the way."""
        await self._label("calibration")
        self._recall()
        while True:
            jobs = fair([self._due(cell) for cell in self.design.cells])
            if not jobs:
                return self.shard.whole or self._everybody()
            await self._play("calibration", jobs)
            await self._label("calibration")
            if self.stop.asked:
                return False

    def used(self, cell: Cell) -> tuple[int, int]:
        """Of the stream of ``cell``: how many tasks calibrate, and up to where it has to be run now."""
        first, limit, wanted = self.spec.pool(cell.domain)
        seen = []
        for task in self.design.streams[cell.domain][:limit]:
            out = (cell.domain, task.id) in self.excluded
            found = False if out else self.exposures.get((cell, task.id))
            if found is None:
                break
            seen.append(found)
        there = len(self.design.streams[cell.domain])
        return extent(seen, min(first, there), min(limit, there), wanted)

    def _due(self, cell: Cell) -> list[Job]:
        run = self.used(cell)[1]
        tasks = enumerate(self.design.streams[cell.domain][:run])
        mine = [task for place, task in tasks if self.shard.holds(place)]
        return self._jobs("calibration", cell, mine, None)

    def _everybody(self) -> bool:
        """Of a shard: whether the others' part is here too."""
        return all(len(self._missing(cell)) == 0 for cell in self.design.cells)

    def _missing(self, cell: Cell) -> list[Task]:
        stream = self.design.streams[cell.domain][: self.used(cell)[1]]
        return [t for t in stream if (cell, t.id) not in self.exposures and (cell.domain, t.id) not in self.excluded]

    def _recall(self) -> None:
        """The exposures of the calibration searches that are recorded."""
        mode = self.spec.calibration.labels
        for search in self.folder.store.searches(self.folder.run, labels=mode, phase="calibration"):
            self._expose(search, None)

    def _expose(self, search: Search, labels: Sequence[Sequence[Label]] | None) -> None:
        key = search.outcome.key
        if key.phase == "calibration" and search.outcome.end != "failure":
            there = exposed(search, labels, self.spec.evaluator.repeats)
            self.exposures[Cell(key.domain, key.controller), key.task] = there

    def _frozen(self, cell: Cell) -> Certificate:
        """From the record: the tasks of the stream that calibrate, the excluded ones left out."""
        stream = self.design.streams[cell.domain][: self.used(cell)[0]]
        tasks = [task.id for task in stream if (cell.domain, task.id) not in self.excluded]
        found = self.folder.store.searches(
            self.folder.run,
            labels=self.spec.calibration.labels,
            phase="calibration",
            domain=cell.domain,
            controller=cell.controller,
            task=tasks,
        )
        return certificate(cell, found, self.design)

    # test

    def _tests(self) -> list[Job]:
        frozen = self.folder.certificates()
        jobs = []
        for cell in self.design.cells:
            margin: Margin = None
            if self.spec.needs_margin:
                margin = self._deployable(cell, frozen[cell]).margin_exact
            tasks = [t for i, t in enumerate(self.design.tests[cell.domain]) if self.shard.holds(i)]
            jobs.append(self._jobs("test", cell, tasks, margin))
        return fair(jobs)

    def _deployable(self, cell: Cell, found: Certificate) -> Certificate:
        """The certificate, if it may be used here. Raises `MismatchedCertificate`."""
        budget = None if self.spec.beyond else self.spec.largest
        problems = found.mismatches(self.design.matched_to(cell), budget)
        if problems:
            raise MismatchedCertificate(f"the certificate of {cell} is for something else: {'; '.join(problems)}")
        return found

    # both

    def _jobs(self, phase: Phase, cell: Cell, tasks: Sequence[Task], margin: Margin) -> list[Job]:
        """The jobs of these tasks that are not all recorded yet."""
        calibrating = phase == "calibration"
        arms = ("native",) if calibrating else self.spec.arms
        budgets = (self.spec.calibration.budget,) if calibrating else self.spec.budgets
        jobs = [Job(phase, cell, task, arms, budgets, margin) for task in tasks]
        return [job for job in jobs if not self._settled(job)]

    def _settled(self, job: Job) -> bool:
        keys = [job.key(arm, budget, self.spec.seed) for arm in job.arms for budget in job.budgets]
        return all(key in self.known for key in keys)

    async def _play(self, phase: Phase, jobs: Sequence[Job]) -> None:
        self.watcher.phase(phase, jobs, len(self.known))
        writing: set[asyncio.Task[None]] = set()
        try:
            async for done in self.executor.play(jobs):
                self._hear(done)
                writing.add(asyncio.create_task(asyncio.to_thread(self.folder.keep, done)))
                if len(writing) >= WRITES:
                    ended, writing = await asyncio.wait(writing, return_when=asyncio.FIRST_COMPLETED)
                    for task in ended:
                        task.result()
                self.watcher.done(done)
        finally:
            for outcome in await asyncio.gather(*writing, return_exceptions=True):
                if isinstance(outcome, BaseException):
                    raise outcome

    def _hear(self, done: Done) -> None:
        for place, search in enumerate(done.searches):
            key, labels = search.outcome.key, done.labels[place] if done.labels else None
            self.known.add(key)
            if labels is not None:
                self._expose(search, labels)
            self._fail(key, search.outcome.failure)
        self.known.update(outcome.key for outcome in done.outcomes)

    async def _label(self, phase: Phase) -> None:
        """Label the recorded searches of ``phase`` that are not labelled yet; after they have ended, as all have."""
        tasks = {(d, t.id): t for d, part in self._tasks(phase).items() for t in part}
        due = [
            (search, tasks[search.outcome.key.domain, search.outcome.key.task]) for search in self._unlabelled(phase)
        ]
        async for search, found in self.labeller.label(due):
            await asyncio.to_thread(self.folder.keep_labels, search, found)
            self._expose(search, found)

    def _unlabelled(self, phase: Phase) -> Iterable[Search]:
        mode = self.spec.calibration.labels
        for key in self.folder.store.unlabelled(self.folder.run, mode, phase):
            yield from self.folder.store.searches(self.folder.run, **asdict(key))

    def _tasks(self, phase: Phase) -> dict[str, tuple[Task, ...]]:
        return self.design.streams if phase == "calibration" else self.design.tests

    def _fail(self, key: Key, failure: str) -> None:
        """A technical failure takes its task out of both arms and all controllers of its domain."""
        if failure:
            where = f"{key.phase}, {title(key.controller)}, {key.arm}"
            self._exclude(Exclusion(key.domain, key.task, f"technical failure ({where}): {failure}"))

    def _exclude(self, exclusion: Exclusion) -> None:
        """The first reason stands."""
        place = exclusion.domain, exclusion.task
        if place not in self.excluded:
            self.excluded[place] = exclusion
            self.folder.exclude(exclusion)
            self.watcher.say(f"{exclusion.domain} {exclusion.task} is excluded: {exclusion.reason}")
