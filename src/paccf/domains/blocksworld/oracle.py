"""Which states can still reach the goal in the steps that are left: exact. For labels after a search, and for the
simulated model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paccf.domains.blocksworld.distances import TooManyBlocks, distances
from paccf.domains.blocksworld.moves import State, after, moves
from paccf.domains.blocksworld.strips import Atoms, Problem
from paccf.search.tree import Action, Task

__all__ = ["Oracle", "TooManyBlocks", "make"]


@dataclass(frozen=True, slots=True)
class Oracle:
    """Knows every distance to the goal. Refuses more blocks than `distances.MOST_BLOCKS` with `TooManyBlocks`."""

    horizon: int = 16

    def distance(self, task: Task, atoms: Atoms) -> int:
        """Steps from ``atoms`` to the nearest state that holds the goal."""
        problem: Problem = task.data
        return distances(problem.objects, problem.goal).of(atoms)

    def protected(self, task: Task, state: State, actions: Sequence[Action]) -> list[bool]:
        """For each action, whether the goal can be reached after it in the steps that are left then: d(child) <= H -
        depth(child)."""
        return [self.distance(task, after(state.atoms, action)) < state.left for action in actions]

    def value(self, task: Task, state: State, depth: int) -> float:
        """The share of spare steps, (left + 1 - d) / (left + 1): 1 at the goal, above 0 while it can be reached in
        time, else 0. The state knows the steps that are left, so ``depth`` adds nothing."""
        far = self.distance(task, state.atoms)
        return max(0.0, 1 - far / (state.left + 1))

    def solution(self, task: Task) -> list[Action] | None:
        """A shortest plan, the first in order of actions; `None` if it is longer than the horizon."""
        atoms: Atoms = task.data.init
        far = self.distance(task, atoms)
        if far > self.horizon:
            return None
        plan: list[Action] = []
        while far:
            far -= 1
            move = next(m for m in moves(atoms).values() if self.distance(task, after(atoms, m.action)) == far)
            plan.append(move.action)
            atoms = after(atoms, move.action)
        return plan

    def facts(self, task: Task) -> Mapping[str, object]:
        """What `paccf solve` says beside the protected actions."""
        return {"distance": self.distance(task, task.data.init), "horizon": self.horizon}


make = Oracle
