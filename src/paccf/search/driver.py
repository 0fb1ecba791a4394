"""Answers a controller's effects: the one place where requests are made, counted, and candidates dropped.

`search` is itself a generator, of model requests: it yields a batch that may be sent at once and is sent the answers
in the same order. The loops that talk to models (`run`, `run_async`, `replay`) are a few lines each, and give the same
trace: which requests are made depends on the answers alone, not on who waits for them.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Generator, Sequence
from functools import lru_cache
from typing import Any

from paccf.method.scores import UNIT, exact, sums
from paccf.search.chance import chance
from paccf.search.effects import (
    Admission,
    Admit,
    Appraise,
    BudgetExhausted,
    Controller,
    Ending,
    Execute,
    Proposal,
    Propose,
    Reflect,
    Setting,
)
from paccf.search.meter import Meter
from paccf.search.scoring import Scoring, rounds
from paccf.search.trace import Arm, Frontier, Trace, decide
from paccf.search.tree import Action, Node, Outcome, Task, solved
from paccf.search.world import Answer, AsyncModel, Model, ModelFailure, Request, Subject, World

Requests = Generator[list[Request], list[Answer], Any]
Search = Generator[list[Request], list[Answer], Trace]
Watch = Callable[[Frontier], None]

NOTE_LIMIT = 2000  # ours: characters of a reflection that later prompts repeat


def search(
    task: Task,
    world: World,
    controller: Callable[[Setting], Controller],
    *,
    arm: Arm | None = None,
    scoring: Scoring | None = None,
    budget: int,
    seed: int = 0,
    watch: Watch | None = None,
) -> Search:
    """One search, as a generator of request batches that returns its `Trace`.

    ``controller`` is a controller with its config bound, e.g. ``partial(levin, config=Levin())``. ``watch`` is called
    with every admitted frontier and changes nothing. A `ModelFailure` thrown in ends the search as a failure.
    """
    answering = _Answering(task, world, arm or Arm(), scoring or Scoring(), Meter(budget), seed, watch)
    root = Node(None, None)
    root.outcome = world.start(task)

    def hashed(node: Node, purpose: str) -> float:
        return chance(seed, task.id, *node.path, purpose)

    algorithm = controller(Setting(root, world.horizon, world.verified, hashed))
    failure = ""
    try:
        ending = yield from _converse(algorithm, answering)
    except ModelFailure as error:
        algorithm.close()
        ending, failure = Ending(None, "failure"), str(error)
    actions = [] if ending.node is None else ending.node.actions
    return Trace(
        task,
        answering.arm,
        seed,
        budget,
        ending.reason,
        ending.node,
        ending.node is not None and solved(ending.node),
        world.utility(task, actions),
        answering.meter.bill,
        answering.frontiers,
        root,
        failure,
    )


def _converse(algorithm: Controller, answering: _Answering) -> Generator[list[Request], list[Answer], Ending]:
    """Send effect after effect to ``answering`` until the controller returns."""
    try:
        effect = next(algorithm)
        while True:
            try:
                if isinstance(effect, Execute):
                    answer = answering.execute(effect)
                else:
                    answer = yield from answering.answer(effect)
            except BudgetExhausted as end:
                effect = algorithm.throw(end)
                raise RuntimeError(
                    f"the controller asked for {type(effect).__name__} after its budget had ended"
                ) from None
            effect = algorithm.send(answer)
    except StopIteration as stop:
        ending = stop.value
        assert isinstance(ending, Ending)
        return ending


class _Answering:
    """The state of one search outside its controller."""

    def __init__(
        self, task: Task, world: World, arm: Arm, scoring: Scoring, meter: Meter, seed: int, watch: Watch | None
    ) -> None:
        self.task, self.world, self.arm, self.scoring = task, world, arm, scoring
        self.meter, self.seed, self.watch = meter, seed, watch
        self.frontiers: list[Frontier] = []

    def execute(self, effect: Execute) -> Outcome:
        """The transition: no request."""
        return self.world.execute(self.task, _state(effect.node), effect.action)

    def answer(self, effect: Propose | Admit | Appraise | Reflect) -> Requests:
        """The generator of the requests that answer ``effect``."""
        match effect:
            case Propose():
                return self._propose(effect)
            case Admit():
                return self._admit(effect)
            case Appraise():
                return self._appraise(effect)
            case Reflect():
                return self._reflect(effect)

    def _ask(self, requests: list[Request]) -> Generator[list[Request], list[Answer], list[Answer]]:
        """Send what the budget holds; raise `BudgetExhausted` if that is not all."""
        granted = self.meter.grant(requests)
        answers: list[Answer] = []
        if granted:
            try:
                answers = yield granted
            except ModelFailure:
                self.meter.lose(granted)
                raise
            self.meter.take(answers)
        if len(granted) < len(requests):
            raise BudgetExhausted
        return answers

    def _propose(self, effect: Propose) -> Requests:
        """The first k distinct legal actions of a list, or the first of each of k samples: what else a model says is
        left out. As long as nothing legal was said, the whole is asked again, ``retries`` times at most."""
        state = _state(effect.node)
        sampled = self.scoring.proposer == "sample"
        prompt = self.world.propose(self.task, state, 1 if sampled else effect.k, effect.notes)
        subject = Subject(self.task, state, k=1 if sampled else effect.k)
        size = effect.k if sampled else 1
        actions: dict[str, Action] = {}
        votes: list[str] = []
        for attempt in range(1 + self.scoring.retries):
            draws = range(attempt * size, (attempt + 1) * size)
            answers = yield from self._ask([Request("propose", prompt, draw, subject) for draw in draws])
            for answer in answers:
                reading = self.world.read_proposals(self.task, state, answer.said)
                self.meter.bill.illegal += reading.illegal
                self.meter.bill.unparsable += reading.unparsable
                said = reading.actions[:1] if sampled else reading.actions
                votes += [action.key for action in said]
                for action in said:
                    if len(actions) < effect.k:
                        actions.setdefault(action.key, action)
            if actions:
                break
        counts = tuple([votes.count(key) for key in actions]) if sampled else (1,) * len(actions)
        return Proposal(tuple(actions.values()), counts, sampled)

    def _admit(self, effect: Admit) -> Requests:
        path = effect.node.path
        observations = yield from self._observe(effect, path)
        repeats = self.scoring.repeats
        totals = sums(observations, repeats)
        eligible = _everyone(len(totals))
        if effect.tau is not None:
            low = _floor(effect.tau, repeats)
            eligible = tuple([i for i, t in enumerate(totals) if t is None or t >= low])
        native = decide(totals, repeats, eligible, effect.native)
        gap = None if self.arm.gap is None else decide(totals, repeats, eligible, self.arm.gap)
        kept = gap if gap is not None and self.arm.name == "paccf" else native
        scale = repeats * UNIT
        scores = tuple([None if t is None else t / scale for t in totals])
        bill = self.meter.bill
        frontier = Frontier(
            path,
            effect.channel,
            effect.actions,
            tuple(observations),
            scores,
            eligible,
            native,
            gap,
            kept,
            bill.total,
        )
        self.frontiers.append(frontier)
        bill.expansions += 1
        bill.nodes += len(kept)
        bill.scored += len(totals)
        bill.unscored += scores.count(None)
        if self.watch is not None:
            self.watch(frontier)
        return Admission(kept, scores)

    def _observe(
        self, effect: Admit, path: tuple[str, ...]
    ) -> Generator[list[Request], list[Answer], list[tuple[float, ...] | None]]:
        """R observations a candidate, or `None` for one that does not get them all."""
        actions, scoring = effect.actions, self.scoring
        seen: list[list[float | None]] = [[None] * scoring.repeats for _ in actions]
        due = rounds(len(actions), scoring, self.seed, self.task.id, *path)
        for attempt in range(1 + scoring.retries):
            requests = [self._question(effect, batch, draw + attempt * scoring.repeats) for draw, batch in due]
            answers = yield from self._ask(requests)
            again = []
            for (draw, batch), answer in zip(due, answers, strict=True):
                read = self.world.read_scores(answer.said, len(batch))
                for i, value in zip(batch, read, strict=True):
                    if value is not None:
                        seen[i][draw] = value
                if None in read:
                    self.meter.bill.malformed += 1
                    again.append((draw, batch))
            due = again
            if not due:
                break
        return [None if None in values else tuple(values) for values in seen]  # type: ignore[arg-type]

    def _question(self, effect: Admit, batch: tuple[int, ...], draw: int) -> Request:
        state = _state(effect.node)
        asked = tuple([effect.actions[i] for i in batch])
        outcomes = None if effect.outcomes is None else [effect.outcomes[i] for i in batch]
        prompt = self.world.evaluate(self.task, state, asked, effect.channel, effect.notes, outcomes)
        return Request("evaluate", prompt, draw, Subject(self.task, state, asked, effect.channel))

    def _appraise(self, effect: Appraise) -> Requests:
        node = effect.node
        assert node.parent is not None
        assert node.action is not None
        assert node.outcome is not None
        state = _state(node.parent)
        prompt = self.world.evaluate(self.task, state, [node.action], "post", (), [node.outcome])
        subject = Subject(self.task, state, (node.action,), "post")
        for attempt in range(1 + self.scoring.retries):
            answers = yield from self._ask([Request("appraise", prompt, attempt, subject)])
            value = self.world.read_scores(answers[0].said, 1)[0]
            if value is not None:
                return value
            self.meter.bill.malformed += 1
        return None

    def _reflect(self, effect: Reflect) -> Requests:
        prompt = self.world.reflect(self.task, effect.node.actions)
        subject = Subject(self.task, _state(effect.node))
        answers = yield from self._ask([Request("reflect", prompt, 0, subject)])
        return answers[0].said.strip()[:NOTE_LIMIT]


@lru_cache
def _everyone(count: int) -> tuple[int, ...]:
    """All indices of a frontier; one tuple for all frontiers of that size."""
    return tuple(range(count))


@lru_cache
def _floor(tau: float, repeats: int) -> int:
    """The smallest total of ``repeats`` observations whose mean is at least ``tau``."""
    return math.ceil(exact(tau) * UNIT * repeats)


def _state(node: Node) -> Any:
    outcome: Outcome | None = node.outcome
    if outcome is None:
        raise RuntimeError(f"{node} was used before it was executed")
    return outcome.state


def run(search: Search, model: Model) -> Trace:
    """Drive one search, a request at a time."""
    try:
        requests = next(search)
        while True:
            try:
                answers = [model.answer(request) for request in requests]
            except ModelFailure as failure:
                requests = search.throw(failure)
            else:
                requests = search.send(answers)
    except StopIteration as stop:
        trace = stop.value
        assert isinstance(trace, Trace)
        return trace


class NotRecorded(LookupError):
    """A replay needs an answer that was not recorded: the search is not the one that was recorded, or not all of it."""


class _Recorded:
    name = "recorded"

    def __init__(self, find: Callable[[Request], Answer | None]) -> None:
        self.find = find

    def answer(self, request: Request) -> Answer:
        answer = self.find(request)
        if answer is None:
            raise NotRecorded(f"no answer for {request.kind}, draw {request.draw}: {request.prompt:.200}")
        return answer


def replay(search: Search, recorded: Callable[[Request], Answer | None]) -> Trace:
    """Drive one search from recorded answers alone: nobody is asked. Raises `NotRecorded` at the first one missing."""
    return run(search, _Recorded(recorded))


async def run_async(search: Search, model: AsyncModel, slots: asyncio.Semaphore) -> Trace:
    """Drive one search, a batch at once; ``slots`` bounds the requests in flight over all searches that share it."""

    async def ask(request: Request) -> Answer:
        async with slots:
            return await model.answer(request)

    try:
        requests = next(search)
        while True:
            failures: list[BaseException] = []
            try:
                async with asyncio.TaskGroup() as group:
                    asked = [group.create_task(ask(request)) for request in requests]
            except* ModelFailure as failed:
                failures.extend(failed.exceptions)
            if failures:  # the others of the batch were cancelled
                requests = search.throw(failures[0])
            else:
                requests = search.send([task.result() for task in asked])
    except StopIteration as stop:
        trace = stop.value
        assert isinstance(trace, Trace)
        return trace


async def run_all(searches: Sequence[Search], model: AsyncModel, in_flight: int) -> list[Trace]:
    """Drive many searches over one model with at most ``in_flight`` requests at once; traces in the given order."""
    if in_flight < 1:
        raise ValueError(f"with {in_flight} requests in flight no search would ever end; let it be 1 or more")
    slots = asyncio.Semaphore(in_flight)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run_async(search, model, slots)) for search in searches]
    return [task.result() for task in tasks]
