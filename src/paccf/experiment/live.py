"""The executor for a model that is waited for: hundreds of searches in flight in one process, over one tape."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

from paccf.domains.labels import recorded_places
from paccf.domains.probing import Probe, by_probes_async
from paccf.experiment.design import Design
from paccf.experiment.executor import Halt, Stop
from paccf.experiment.work import Done, Job, playing
from paccf.models.live import CeilingReached, Unavailable, Unusable
from paccf.models.opening import opened
from paccf.models.tape import AsyncTaped, DurableTape, Tape
from paccf.record.store import Store
from paccf.search.driver import AsyncModel, run_async
from paccf.search.world import Answer, Request

PAUSE = (2.0, 60.0)  # ours: seconds before an endpoint that is away is asked again: the first time, at most


class LiveSearches:
    """One opened model a domain, all behind the tape in ``store``. ``tell`` is given sentences about outages."""

    def __init__(self, design: Design, store: Store, stop: Stop, tell: Callable[[str], None]) -> None:
        self.design, self.store, self.stop, self.tell = design, store, stop, tell

    async def play(self, jobs: Sequence[Job]) -> AsyncIterator[Done]:
        """Each job done, without labels, in the order they end."""
        ended: asyncio.Queue[Done | BaseException] = asyncio.Queue()
        async with AsyncExitStack() as stack:
            models = {name: await self._model(stack, name) for name in dict.fromkeys(job.cell.domain for job in jobs)}
            left = iter(jobs)
            workers = [
                asyncio.create_task(self._work(left, models, ended))
                for _ in range(min(self.design.spec.execution.searches, len(jobs)))
            ]
            closing = asyncio.create_task(_close(workers, ended))
            try:
                while not isinstance(found := await ended.get(), BaseException):
                    yield found
                if not isinstance(found, StopAsyncIteration):
                    raise found
            finally:
                for worker in workers:  # at the end of all jobs none is left
                    worker.cancel()
                await asyncio.gather(*workers, return_exceptions=True)
                await closing
                for model in models.values():
                    await model.model.settled()

    async def _model(self, stack: AsyncExitStack, domain: str) -> Steady:
        spec = self.design.spec
        live = await stack.enter_async_context(opened(spec.model, domain, spec.seed, spec.domains[domain].settings))
        taped = AsyncTaped(DurableTape(self.store, live.fingerprint), live)
        return Steady(taped, self.stop, spec.execution.outage, self.tell)

    async def _work(
        self, left: Iterator[Job], models: Mapping[str, Steady], ended: asyncio.Queue[Done | BaseException]
    ) -> None:
        for job in left:
            if self.stop.asked:
                return
            try:
                ended.put_nowait(await self._played(job, models[job.cell.domain]))
            except (ExceptionGroup, Halt, Stopped) as error:
                if not isinstance(_first(error), Stopped):
                    ended.put_nowait(_first(error))
                return

    async def _played(self, job: Job, model: Steady) -> Done:
        known = Tape()
        free = self.design.spec.model.simulated
        slots = asyncio.Semaphore(1 << 30)  # the model bounds what is in flight
        hearing = Hearing(model, known)
        steps = playing(job, self.design, known, model.model.key)
        try:
            current = next(steps)
            while True:
                hearing = Hearing(model, known)  # counts anew
                trace = await run_async(current, hearing, slots)
                current = steps.send((trace, 0 if free else hearing.sent))
        except StopIteration as stop:
            done = stop.value
            assert isinstance(done, Done)
            return await self._probed(done, hearing, slots)

    async def _probed(self, done: Done, model: AsyncModel, slots: asyncio.Semaphore) -> Done:
        """With the labels of a probe, where the spec asks for them: others need no model and are made later."""
        if self.design.spec.calibration.labels != "probed":
            return done
        task, world, found = done.job.task, self.design.worlds[done.job.cell.domain], []
        for search in done.searches:
            places = recorded_places(search, world, task)
            probe = Probe(seed=self.design.spec.seed)
            found.append(tuple((await by_probes_async(task, world, places, model, probe, slots))[0]))
        return replace(done, labels=tuple(found))


async def _close(workers: Sequence[asyncio.Task[None]], ended: asyncio.Queue[Done | BaseException]) -> None:
    """When all workers have ended, say so, or why one could not go on."""
    for outcome in await asyncio.gather(*workers, return_exceptions=True):
        if isinstance(outcome, BaseException):
            ended.put_nowait(outcome)
    ended.put_nowait(StopAsyncIteration())


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class Stopped(Exception):
    """No new request is begun: a stop was asked for."""


class Hearing:
    """A model whose answers are also entered in ``known``: what a job's smaller budgets are played from. ``sent``
    counts what went over the wire for them."""

    def __init__(self, model: AsyncModel, known: Tape) -> None:
        self.model, self.known, self.sent = model, known, 0

    async def answer(self, request: Request) -> Answer:
        found = self.known.find(request)
        if found is None:
            found = await self.model.answer(request)
            self.sent += found.attempts
            self.known.put(request, found)
        return found


class Steady:
    """A model that waits out an endpoint that is away, up to ``outage`` seconds.

    Raises `Halt` when waiting is over or no use, `Stopped` when a stop was asked for; a search that hears either ends
    unrecorded and is resumed from the tape. Other failures are the search's own.
    """

    def __init__(self, model: AsyncTaped, stop: Stop, outage: float, tell: Callable[[str], None]) -> None:
        self.model, self.stop, self.outage, self.tell = model, stop, outage, tell
        self.away: float | None = None  # since when
        self.halted = ""

    async def answer(self, request: Request) -> Answer:
        pause = PAUSE[0]
        while True:
            if self.halted:
                raise Halt(self.halted)
            if self.stop.asked:
                raise Stopped
            try:
                answer = await self.model.answer(request)
            except Unavailable as error:
                await self._wait(error, pause)
                pause = min(2 * pause, PAUSE[1])
            except (Unusable, CeilingReached) as error:
                self.halted = str(error)
            else:
                if self.away is not None:
                    self.tell("the endpoint answers again")
                    self.away = None
                return answer

    async def _wait(self, error: Unavailable, pause: float) -> None:
        now = time.monotonic()
        if self.away is None:
            self.away = now
            self.tell(f"the endpoint does not answer ({error}); waiting up to {self.outage:g} s")
        if now - self.away >= self.outage:
            self.halted = f"the endpoint did not answer for {self.outage:g} s: {error}"
        else:
            await asyncio.sleep(min(pause, max(self.outage - (now - self.away), 0.1)))
