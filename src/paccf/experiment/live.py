"""The executor for a model that is waited for: hundreds of searches in flight in one process, over one tape."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from paccf.domains.labels import recorded_places
from paccf.domains.probing import by_probes_async
from paccf.experiment.design import Design
from paccf.experiment.executor import Halt, Stop
from paccf.experiment.work import Done, Job, playing
from paccf.models.live import Attempting, CeilingReached, Ended, Unavailable, Unusable
from paccf.models.openai import at_most, paced
from paccf.models.opening import connected
from paccf.models.pace import Pace
from paccf.models.spec import ModelSpec
from paccf.models.tape import AsyncTaped, DurableTape, Tape
from paccf.record.store import Store
from paccf.record.tape import Unstated, totals, unstated
from paccf.search.driver import run_async
from paccf.search.world import Answer, AsyncModel, Kind, Request

PAUSE = (2.0, 60.0)  # ours: seconds before an endpoint that is away is asked again: the first time, at most
LOST = 3  # ours: times that a request may go unanswered while others are answered, before that is its own failure
HEED = 0.1  # ours: seconds until a wish to stop is heard


class LiveSearches:
    """Whoever answers is shared by all domains and phases of a run, and so are its pace and its ceilings. ``tell`` is
    given sentences about outages."""

    def __init__(self, design: Design, store: Store, stop: Stop, tell: Callable[[str], None]) -> None:
        self.design, self.store, self.stop = design, store, stop
        self.weather = Weather(stop, design.spec.execution.outage, tell)
        with store.database.read() as connection:
            known = totals(connection)
            maybe = maybe_billed(design.spec.model, unstated(connection))
        self.before = known.prompt_tokens, known.completion_tokens  # stated of what earlier processes sent
        self.pace: Pace = paced(design.spec.model, (self.before[0] + maybe[0], self.before[1] + maybe[1]))

    async def play(self, jobs: Sequence[Job]) -> AsyncIterator[Done]:
        """Each job done, without labels, in the order they end. Without jobs nobody is connected."""
        if not jobs:
            return
        spec = self.design.spec
        ended: asyncio.Queue[Done | BaseException] = asyncio.Queue()
        async with connected(spec.model, spec.seed, self.pace) as answering:
            models = {}
            for name in dict.fromkeys(job.cell.domain for job in jobs):
                live = answering(name, spec.domains[name].settings)
                models[name] = Steady(AsyncTaped(DurableTape(self.store, live.fingerprint), live), self.weather)
            left = iter(jobs)
            workers = [
                asyncio.create_task(self._work(left, models, ended))
                for _ in range(min(spec.execution.searches, len(jobs)))
            ]
            closing = asyncio.create_task(_close(workers, ended))
            heeding = asyncio.create_task(self._heed())
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
                heeding.cancel()

    async def _heed(self) -> None:
        """Once a stop is asked for, let nothing more be sent, backoffs included."""
        while not self.stop.asked:
            await asyncio.sleep(HEED)
        self.pace.end()

    async def _work(
        self, left: Iterator[Job], models: Mapping[str, Steady], ended: asyncio.Queue[Done | BaseException]
    ) -> None:
        for job in left:
            if self.stop.asked:
                return
            try:
                ended.put_nowait(await self._played(job, models[job.cell.domain]))
            except (ExceptionGroup, Halt, Ended) as error:
                if not isinstance(_first(error), Ended):
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
        task, world = done.job.task, self.design.worlds[done.job.cell.domain]
        found, probes = [], 0
        for search in done.searches:
            places = recorded_places(search, world, task)
            labels, spent = await by_probes_async(task, world, places, model, self.design.probe, slots)
            found.append(tuple(labels))
            probes += spent
        return replace(done, labels=tuple(found), probes=probes)


def maybe_billed(model: ModelSpec, sent: Iterable[Unstated]) -> tuple[int, int]:
    """The most prompt and completion tokens of what was sent and nobody stated, as whoever sent it set them aside.
    Nothing where no ceiling asks."""
    prompt = completion = 0
    if model.ceilings.money is not None:
        for kind, parameters, text, attempts in sent:
            worst = at_most(model, cast(Kind, kind), parameters, text)
            prompt, completion = prompt + attempts * worst[0], completion + attempts * worst[1]
    return prompt, completion


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


class Hearing:
    """A model whose answers are also entered in ``known``: what a job's smaller budgets are played from. ``sent``
    counts what goes over the wire for them, attempts that came to nothing among it."""

    def __init__(self, model: Steady, known: Tape) -> None:
        self.model, self.known, self.sent = model, known, 0

    async def answer(self, request: Request) -> Answer:
        found = self.known.find(request)
        if found is None:
            found = await self.model.answer(request, self._attempting)
            self.known.put(request, found)
        return found

    async def _attempting(self, attempt: int) -> None:
        self.sent += 1


class Weather:
    """Whether the endpoint answers, as all models of a run see it together. ``outage``: seconds it may be away."""

    def __init__(self, stop: Stop, outage: float, tell: Callable[[str], None]) -> None:
        self.stop, self.outage, self.tell = stop, outage, tell
        self.away: float | None = None  # since when
        self.answers = 0
        self.halted = ""

    def check(self) -> None:
        """Raises `Halt` when waiting is over or no use, `Ended` when a stop was asked for."""
        if self.halted:
            raise Halt(self.halted)
        if self.stop.asked:
            raise Ended("stopped before it was asked")

    def answered(self) -> None:
        self.answers += 1
        if self.away is not None:
            self.tell("the endpoint answers again")
            self.away = None

    async def wait(self, error: Unavailable, pause: float) -> None:
        """Wait ``pause`` seconds, less if a stop is asked for or the waiting is over."""
        now = time.monotonic()
        if self.away is None:
            self.away = now
            self.tell(f"the endpoint does not answer ({error}); waiting up to {self.outage:g} s")
        if now - self.away >= self.outage:
            self.halted = f"the endpoint did not answer for {self.outage:g} s: {error}"
        until = min(now + pause, max(self.away + self.outage, now + HEED))
        while not (self.stop.asked or self.halted) and time.monotonic() < until:
            await asyncio.sleep(min(HEED, max(until - time.monotonic(), 0)))


class Steady:
    """A model that waits out an endpoint that is away. What `Weather.check` raises leaves a search unrecorded; it is
    resumed from the tape. Other failures are the search's own, and so is a request that goes unanswered `LOST` times
    while others are answered."""

    def __init__(self, model: AsyncTaped, weather: Weather) -> None:
        self.model, self.weather = model, weather

    async def answer(self, request: Request, attempting: Attempting | None = None) -> Answer:
        weather, pause, lost = self.weather, PAUSE[0], 0
        while True:
            weather.check()
            heard = weather.answers
            try:
                answer = await self.model.answer(request, attempting)
            except Unavailable as error:
                lost += weather.answers > heard
                if lost == LOST:
                    raise
                await weather.wait(error, pause)
                pause = min(2 * pause, PAUSE[1])
            except (Unusable, CeilingReached) as error:
                weather.halted = str(error)
            else:
                if answer.attempts:
                    weather.answered()
                return answer
