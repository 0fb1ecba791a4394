"""The smallest world there is: a regular tree of digits. For tests, benchmarks, and as an example of the protocols.

A state is the digits so far; every state above the horizon has the same number of actions; a leaf is solved if its
hash says so. The model that goes with it answers by hashes too: its scores carry ``signal`` points for the branch that
leads to a solved leaf, the rest is noise. SIMULATED, of course.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from paccf.search.chance import chance
from paccf.search.effects import Channel
from paccf.search.tree import Action, Outcome, Task
from paccf.search.world import Answer, Reading, Request


@dataclass(frozen=True, slots=True)
class Toy:
    """A tree with ``branching`` actions a state and leaves at ``horizon``; a share of ``density`` leaves is solved.
    Without ``verified`` nobody says which, as in a domain without an online verifier."""

    branching: int = 3
    horizon: int = 4
    density: float = 0.05
    verified: bool = True
    name: str = "toy"

    def start(self, task: Task) -> Outcome:
        return Outcome("", "")

    def execute(self, task: Task, state: str, action: Action) -> Outcome:
        new = state + action.key
        if len(new) < self.horizon:
            return Outcome(new, new)
        return Outcome(new, new, True, self.is_solved(task, new) if self.verified else None)

    def is_solved(self, task: Task, leaf: str) -> bool:
        return chance(task.id, leaf, "solved") < self.density

    def utility(self, task: Task, actions: Sequence[Action]) -> float:
        leaf = "".join(a.key for a in actions)
        return float(len(leaf) == self.horizon and self.is_solved(task, leaf))

    def metrics(self, task: Task, actions: Sequence[Action]) -> Mapping[str, float]:
        return {}

    def solution(self, task: Task, actions: Sequence[Action]) -> str:
        return " ".join(a.key for a in actions)

    def propose(self, task: Task, state: str, k: int, notes: Sequence[str]) -> str:
        return f"{task.id} at [{state}]: name up to {k} of {self.branching} digits" + "".join(notes)

    def read_proposals(self, task: Task, state: str, text: str) -> Reading:
        said = text.split()
        legal = [Action(d, d) for d in said if d.isdecimal() and int(d) < self.branching]
        return Reading(tuple(legal), illegal=len(said) - len(legal))

    def evaluate(
        self,
        task: Task,
        state: str,
        actions: Sequence[Action],
        channel: Channel,
        notes: Sequence[str],
        outcomes: Sequence[Outcome] | None,
    ) -> str:
        return f"{task.id} at [{state}], {channel}: score " + " ".join([a.key for a in actions]) + "".join(notes)

    def read_scores(self, text: str, count: int) -> list[float | None]:
        try:
            scores = json.loads(text)
        except json.JSONDecodeError:
            scores = []
        return [scores[i] if i < len(scores) else None for i in range(count)]

    def reflect(self, task: Task, actions: Sequence[Action]) -> str:
        return f"{task.id}: why did {self.solution(task, actions)} fail?"


@dataclass(frozen=True, slots=True)
class ToyModel:
    """Answers for `Toy` by hashes. ``malformed`` is the share of scoring answers that lack their last entry."""

    world: Toy
    signal: float = 40.0
    malformed: float = 0.0
    name: str = "SIMULATED/toy"

    def answer(self, request: Request) -> Answer:
        about = request.subject
        if request.kind == "propose":
            if about.k == 1:  # a sample: one digit a draw
                text = str(int(chance(request.prompt, request.draw) * self.world.branching))
            else:
                text = " ".join(map(str, range(min(about.k, self.world.branching))))
        elif request.kind == "reflect":
            text = f"note {chance(request.prompt):.3f}. "
        else:
            scores = [self._score(about.task, about.state + a.key, request.draw) for a in about.actions]
            if chance(request.prompt, request.draw, "malformed") < self.malformed:
                scores.pop()
            text = json.dumps(scores)
        return Answer(text, len(request.prompt) // 4, len(text) // 4)

    def _score(self, task: Task, state: str, draw: int) -> int:
        good = self.signal if self.signal and _leads_on(self.world, task, state) else 0.0
        return round(good + (100 - self.signal) * (0.7 * chance(task.id, state) + 0.3 * chance(task.id, state, draw)))


@lru_cache(1 << 16)
def _leads_on(world: Toy, task: Task, state: str) -> bool:
    if len(state) >= world.horizon:
        return world.is_solved(task, state)
    return any(_leads_on(world, task, state + str(d)) for d in range(world.branching))
