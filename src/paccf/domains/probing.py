"""Labels by probing: for domains without an oracle, what somebody finds who looks under every candidate alike.

A probe starts at a candidate and searches below it, depth first, in an order that is a hash. It asks the proposer for
actions and never for a score, so what it finds does not depend on what the evaluator thinks; and every candidate has
the same budget. The rule:

- true: a completion that the verifier accepts was reached;
- false: all that the proposer proposes below the candidate was walked to its end, and nothing was accepted;
- None: the budget ended first, somewhere nothing legal was proposed, or the model could not answer (`ModelFailure`).

A state that it comes to again after as many steps is not walked twice: what would be asked there was asked, and the
answers would be the same. So false speaks of what the proposer would ever play. A probe shares nothing with the search
that it labels, nor with the probe of another candidate: what a search came to look at is no reason to look there again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from paccf.domains.labels import Label, Labels, Place, is_valid
from paccf.search.chance import chance
from paccf.search.tree import Action, Task
from paccf.search.world import Answer, AsyncModel, Model, ModelFailure, Request, Subject, World

FIRST_DRAW = 1 << 20  # ours: draws that no search asks for, so that a probe's proposals are its own


@dataclass(frozen=True, slots=True)
class Probe:
    """How much a probe may do: ``budget`` requests a candidate, ``width`` actions asked for in a state."""

    budget: int = 16
    width: int = 8
    seed: int = 0

    def __post_init__(self) -> None:
        if self.budget < 0 or self.width < 1:
            raise ValueError(f"a probe has a budget of 0 or more requests and a width of 1 or more: {self}")


Probing = Generator[Request, Answer, tuple[Label, int]]


def probing(task: Task, world: World, place: Place, action: Action, probe: Probe) -> Probing:
    """The probe of one candidate, as a generator of requests that returns its label and the requests it took. A
    `ModelFailure` thrown in ends it without a label, as it ends a search as a failure."""
    line = (*place.line, action)
    stack = [(line, world.execute(task, place.state, action))]
    spent, whole = 0, True
    walked: set[tuple[Hashable, int]] = set()
    while stack:
        line, outcome = stack.pop()
        if is_valid(world, task, line, outcome):
            return True, spent
        where = outcome.key, len(line)
        if outcome.terminal or len(line) >= world.horizon or where in walked:
            continue
        if spent >= probe.budget:
            return None, spent
        spent += 1
        walked.add(where)
        prompt = world.propose(task, outcome.state, probe.width, ())
        about = Subject(task, outcome.state, k=probe.width)
        try:
            answer = yield Request("propose", prompt, FIRST_DRAW + probe.seed, about)
        except ModelFailure:
            return None, spent
        actions = {a.key: a for a in world.read_proposals(task, outcome.state, answer.said).actions}
        whole = whole and bool(actions)
        path = [step.key for step in line]
        order = sorted(actions.values(), key=lambda a, path=path: chance(probe.seed, task.id, *path, a.key, "probe"))  # type: ignore[misc]
        stack += [((*line, a), world.execute(task, outcome.state, a)) for a in order]
    return (False if whole else None), spent


def by_probes(task: Task, world: World, frontiers: Sequence[Place], model: Model, probe: Probe) -> tuple[Labels, int]:
    """Labels in the mode ``probed``, and the requests that all probes took."""
    labels: Labels = []
    total = 0
    for place in frontiers:
        found = [_run(probing(task, world, place, action, probe), model) for action in place.actions]
        labels.append(tuple([label for label, _ in found]))
        total += sum(spent for _, spent in found)
    return labels, total


def _run(probing: Probing, model: Model) -> tuple[Label, int]:
    try:
        request = next(probing)
        while True:
            try:
                answer = model.answer(request)
            except ModelFailure as failure:
                request = probing.throw(failure)
            else:
                request = probing.send(answer)
    except StopIteration as stop:
        found: tuple[Label, int] = stop.value
        return found


async def by_probes_async(
    task: Task, world: World, frontiers: Sequence[Place], model: AsyncModel, probe: Probe, slots: asyncio.Semaphore
) -> tuple[Labels, int]:
    """As `by_probes`, all candidates at once; ``slots`` bounds the requests in flight. The same labels."""

    async def go(probing: Probing) -> Any:
        try:
            request = next(probing)
            while True:
                try:
                    async with slots:
                        answer = await model.answer(request)
                except ModelFailure as failure:
                    request = probing.throw(failure)
                else:
                    request = probing.send(answer)
        except StopIteration as stop:
            return stop.value

    async with asyncio.TaskGroup() as group:
        asked = [
            [group.create_task(go(probing(task, world, place, action, probe))) for action in place.actions]
            for place in frontiers
        ]
    found = [[each.result() for each in row] for row in asked]
    return [tuple([label for label, _ in row]) for row in found], sum(spent for row in found for _, spent in row)
