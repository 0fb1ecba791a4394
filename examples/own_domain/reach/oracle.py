"""What can be solved. For labels after a search has ended, and for the simulated model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from paccf.search.tree import Action, Task
from reach.world import STEPS, State, action, after


@cache
def in_reach(state: State, target: int, bound: int) -> bool:
    n, left = state
    if n == target:
        return True
    return left > 0 and abs(n) <= bound and any(in_reach(after(state, name), target, bound) for name in STEPS)


@dataclass(frozen=True, slots=True)
class ReachOracle:
    """Made with the settings of the world that have the names of its own fields."""

    bound: int = 1000

    def protected(self, task: Task, state: State, actions: Sequence[Action]) -> list[bool]:
        return [in_reach(after(state, step.key), task.data[1], self.bound) for step in actions]

    def value(self, task: Task, state: State, depth: int) -> float:
        return float(in_reach(state, task.data[1], self.bound))

    def solution(self, task: Task) -> list[Action] | None:  # for `paccf solve`; may be left out
        state, made = (task.data[0], task.data[2]), []
        if not in_reach(state, task.data[1], self.bound):
            return None
        while state[0] != task.data[1]:
            name = next(name for name in STEPS if in_reach(after(state, name), task.data[1], self.bound))
            made.append(action(name, state[0]))
            state = after(state, name)
        return made


make = ReachOracle
