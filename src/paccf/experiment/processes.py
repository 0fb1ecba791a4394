"""The executor for a model that computes: jobs on all cores. Results do not depend on how many."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Executor as Pool
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import lru_cache
from typing import Self, TypeVar

from paccf.experiment.design import Design
from paccf.experiment.executor import Halt, Stop
from paccf.experiment.labelling import labelled, probed
from paccf.experiment.reading import parse
from paccf.experiment.work import Done, Job, play
from paccf.models.simulated import Simulated, simulated
from paccf.record.values import Label, Search
from paccf.search.tree import Task

Given = TypeVar("Given")
Found = TypeVar("Found")

AHEAD = 3  # ours: jobs a worker that wait for it


class Processes:
    """``workers`` processes, 0 for one a core; they end with this one, however it ends."""

    def __init__(self, spec: str, workers: int, stop: Stop) -> None:
        self.spec, self.workers, self.stop = spec, workers or os.cpu_count() or 1, stop
        self._pool: Pool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def _ready(self) -> Pool:
        """The workers, started when there is work."""
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.workers, context, _begin, (os.getpid(),))
        return self._pool

    async def play(self, jobs: Sequence[Job]) -> AsyncIterator[Done]:
        """Each job done, labelled, in the order they end."""
        async for done in self.compute(_play, [(self.spec, job) for job in jobs]):
            yield done

    async def label(self, due: Sequence[tuple[Search, Task]]) -> AsyncIterator[tuple[Search, list[tuple[Label, ...]]]]:
        """Recorded searches with their labels."""
        async for found in self.compute(_label, [(self.spec, *pair) for pair in due]):
            yield found

    async def compute(self, function: Callable[[Given], Found], work: Sequence[Given]) -> AsyncIterator[Found]:
        """``function``, which is of a module's top level, of every item, as they are done."""
        left = iter(work)
        waiting: set[asyncio.Future[Found]] = set()
        loop = asyncio.get_running_loop()
        try:
            while True:
                while len(waiting) < AHEAD * self.workers and not self.stop.asked and (item := next(left, None)):
                    waiting.add(loop.run_in_executor(self._ready(), function, item))
                if not waiting:
                    return
                ended, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for future in ended:
                    yield future.result()
        except BrokenProcessPool:
            raise Halt("a worker process ended before its job did, most likely for want of memory") from None
        finally:
            for future in waiting:
                future.cancel()


def _begin(parent: int) -> None:
    """In a worker: leave Ctrl-C to the parent, and end when it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


@lru_cache(4)
def design_of(spec: str) -> Design:
    """In a worker: the design of this spec, made once."""
    return Design(parse(spec))


@lru_cache(16)
def model_of(spec: str, domain: str) -> Simulated:
    """In a worker: the simulated model of this spec in a domain."""
    s = design_of(spec).spec
    return simulated(domain, s.model.profile, s.seed, s.model.latency_ms, **s.domains[domain].settings)


def _play(given: tuple[str, Job]) -> Done:
    spec, job = given
    design, model = design_of(spec), model_of(spec, job.cell.domain)
    done = play(job, design, model)
    if design.spec.calibration.labels == "probed":
        found = [probed(s, job.task, design, model) for s in done.searches]
        return replace(done, labels=tuple(tuple(labels) for labels, _ in found), probes=sum(n for _, n in found))
    return replace(done, labels=tuple(tuple(labelled(s, job.task, design, model)) for s in done.searches))


def _label(given: tuple[str, Search, Task]) -> tuple[Search, list[tuple[Label, ...]]]:
    spec, search, task = given
    design = design_of(spec)
    model = model_of(spec, search.outcome.key.domain) if design.spec.model.simulated else None
    return search, labelled(search, task, design, model)
