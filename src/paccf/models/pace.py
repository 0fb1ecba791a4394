"""How many requests may be in flight, how fast they may follow each other, and what they may cost: one `Pace` for all
searches that share a model.

Concurrency adapts below its ceiling: an endpoint that says it is busy halves it (once for the requests that were under
way together), every answer raises it again by one in as many answers as are in flight. First come, first served.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from paccf.models.live import CeilingReached, Ended
from paccf.models.spec import Ceilings, Prices


@dataclass(slots=True)
class Spent:
    """What went over the wire. Sums hold what the provider stated; ``unknown`` counts the sends it said nothing about
    that may have been billed. ``cost`` is what the stated tokens cost, `None` without prices."""

    sends: int = 0
    answers: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unknown: int = 0
    cost: float | None = None


@dataclass(slots=True)
class Lease:
    """Leave to send one request, and what became of it; whoever holds it says so. What was sent and neither answered
    nor declared unbilled counts as maybe billed."""

    at_most: tuple[int, int]  # prompt and completion tokens
    sent: bool = False
    busy: bool = False  # the endpoint could not take it
    unbilled: bool = False
    answered: bool = False
    usage: tuple[int, int] | None = None  # the provider's
    timed: bool = False  # it counts in the rates

    def used(self, prompt: int | None, completion: int | None) -> None:
        """It was answered, with this usage."""
        self.answered = True
        if prompt is not None and completion is not None:
            self.usage = prompt, completion

    @property
    def tokens(self) -> tuple[int, int]:
        """What it may have cost, at most."""
        return self.usage or ((0, 0) if self.unbilled or not self.sent else self.at_most)


class Pace:
    """Use it in one event loop. ``before`` are (prompt, completion) tokens that count against the money ceiling
    although they were paid for earlier, by another process."""

    def __init__(
        self,
        ceiling: int,
        ceilings: Ceilings | None = None,
        prices: Prices | None = None,
        before: tuple[int, int] = (0, 0),
    ) -> None:
        self.ceiling = ceiling
        self.limit = float(ceiling)
        self.flying = 0
        self.spent = Spent(cost=None if prices is None else 0.0)
        self._ceilings, self._prices = ceilings or Ceilings(), prices
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._cuts = 0
        self._ready = 0.0  # when the next request may be sent
        self._tokens_ready = 0.0
        self._committed = self._price(before)  # money: at most this much is spent or under way
        self._reserved = 0  # how many are under way
        self._changed = asyncio.Event()  # set when a wait may be over early
        self._end = asyncio.Event()

    @asynccontextmanager
    async def lease(self, at_most: tuple[int, int]) -> AsyncIterator[Lease]:
        """Leave to send one request of at most these (prompt, completion) tokens, waited for. Raises `CeilingReached`
        if the money ceiling could be passed by it, `Ended` after `end`."""
        await self._enter()
        cuts = self._cuts
        lease = Lease(at_most)
        try:
            await self._reserve(self._price(at_most))
            try:
                await self._in_time(lease)
                yield lease
            finally:
                self._settle(lease)
        finally:
            self._adapt(lease, cuts)
            self.flying -= 1
            self._admit()

    def hold(self, seconds: float) -> None:
        """Send nothing for so long."""
        self._ready = max(self._ready, asyncio.get_running_loop().time() + seconds)

    async def pause(self, seconds: float) -> None:
        """Wait so long between two attempts. Raises `Ended` as soon as there will be no other."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._end.wait()
        self._check()

    def end(self) -> None:
        """From now on nothing is sent: whoever waits for leave, or comes for it, gets `Ended`."""
        self._end.set()
        self._changed.set()
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_exception(Ended("stopped before it was sent"))

    async def _waited(self, until: float | None) -> bool:
        """Wait for the time ``until``, or until something changed: whether the time has come. Raises `Ended`."""
        self._check()
        if until is not None and until <= asyncio.get_running_loop().time():
            return True
        self._changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                await self._changed.wait()
        return False

    def _check(self) -> None:
        if self._end.is_set():
            raise Ended("stopped before it was sent")

    async def _enter(self) -> None:
        self._check()
        if not self._waiting and self.flying < int(self.limit):
            self.flying += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:  # it had its turn already: hand it on
                self.flying -= 1
                self._admit()
            raise

    def _admit(self) -> None:
        while self._waiting and self.flying < int(self.limit):
            turn = self._waiting.popleft()
            if not turn.done():
                self.flying += 1
                turn.set_result(None)

    def _adapt(self, lease: Lease, cuts: int) -> None:
        if lease.busy and cuts == self._cuts:  # else those sent before the last cut have been answered for by it
            self._cuts += 1
            self.limit = max(1.0, self.limit / 2)
        elif lease.answered:
            self.limit = min(float(self.ceiling), self.limit + 1 / self.limit)

    async def _in_time(self, lease: Lease) -> None:
        """Wait for the rates. Sends are spaced evenly, and so are tokens: the most that this one may take, until
        `_settle` knows what it took."""
        while not await self._waited(max(self._ready, self._tokens_ready)):
            pass
        now = asyncio.get_running_loop().time()
        if self._ceilings.requests_per_minute is not None:
            self._ready = now + 60 / self._ceilings.requests_per_minute
        if self._ceilings.tokens_per_minute is not None:
            self._tokens_ready = now + 60 * sum(lease.at_most) / self._ceilings.tokens_per_minute
        lease.timed = True

    def _price(self, tokens: tuple[int, int]) -> float:
        if self._prices is None:
            return 0.0
        return self._prices.cost(*tokens)

    async def _reserve(self, worst: float) -> None:
        """Set ``worst`` aside. What is under way may turn out cheaper, so the ceiling is reached when nothing is."""
        ceiling = self._ceilings.money
        while ceiling is not None and self._committed + worst > ceiling:
            if not self._reserved:
                raise CeilingReached(
                    f"the money ceiling of {ceiling:g} is reached: {self._committed:.4g} are spent or maybe billed, "
                    f"and the next request may cost {worst:.2g}; raise ceilings.money and run the same command again"
                )
            await self._waited(None)
        self._committed += worst
        self._reserved += 1

    def _settle(self, lease: Lease) -> None:
        spent = self.spent
        self._committed += self._price(lease.tokens) - self._price(lease.at_most)
        self._reserved -= 1
        self._changed.set()
        spent.sends += lease.sent
        spent.answers += lease.answered
        if lease.usage is not None:
            spent.prompt_tokens += lease.usage[0]
            spent.completion_tokens += lease.usage[1]
            if spent.cost is not None:
                spent.cost += self._price(lease.usage)
        elif lease.sent and not lease.unbilled:
            spent.unknown += 1
        if lease.timed and self._ceilings.tokens_per_minute is not None:
            left = sum(lease.at_most) - sum(lease.tokens)
            self._tokens_ready -= 60 * left / self._ceilings.tokens_per_minute  # who waits is woken by `_changed`
