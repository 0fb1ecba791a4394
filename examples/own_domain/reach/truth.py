"""What the simulated model distorts. Without this file the domain works with every model but the simulated one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paccf.search.tree import Action, Task
from reach.oracle import in_reach
from reach.world import STEPS, State, action, after


@dataclass(frozen=True, slots=True)
class ReachTruth:
    bound: int = 1000

    def key(self, state: State) -> str:
        return f"{state[0]}/{state[1]}"

    def legal(self, task: Task, state: State) -> Sequence[Action]:
        return [action(name, state[0]) for name in STEPS]

    def value(self, task: Task, state: State, action: Action) -> float:
        return float(in_reach(after(state, action.key), task.data[1], self.bound))

    def wrong(self, task: Task, state: State, action: Action) -> str:
        return f"{action.key}: {state[0]} -> {after(state, action.key)[0] + 1}"

    def garbled(self, task: Task, state: State, action: Action) -> str:
        return f"{action.key}: {state[0]} -> ?"


make = ReachTruth
