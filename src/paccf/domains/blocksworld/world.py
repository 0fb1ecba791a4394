"""Blocksworld as a `paccf.search.world.World`. It transforms and verifies; it does not know how far a goal is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paccf.domains.answers import read_scores
from paccf.domains.blocksworld import prompts
from paccf.domains.blocksworld.blocks import DOMAIN, task_of
from paccf.domains.blocksworld.moves import State, after, moves
from paccf.domains.blocksworld.reading import read_actions
from paccf.domains.blocksworld.strips import Atoms, Problem, fault
from paccf.search.effects import Channel
from paccf.search.tree import Action, Outcome, Task
from paccf.search.world import Reading

__all__ = ["SAMPLE", "Blocksworld", "make", "task_of"]

SAMPLE = ("a-cb-d--bc", "(unstack b c)\n(pick-up a)")
LONGEST_HORIZON = 1000  # ours: steps


@dataclass(frozen=True, slots=True)
class Blocksworld:
    """A state is where the blocks are and how many steps are left of ``horizon``. Going back to where one was is legal:
    to drop it would be a pruning rule of our own. A path ends where the goal holds, or with its last step."""

    horizon: int = 16  # ours, the paper prints none: the longest shortest plan of PlanBench's 4 and 5 blocks

    name = "blocksworld"
    verified = True

    def __post_init__(self) -> None:
        if not isinstance(self.horizon, int) or not 1 <= self.horizon <= LONGEST_HORIZON:
            raise ValueError(f"horizon: {self.horizon!r} is no number of steps from 1 to {LONGEST_HORIZON:,}")

    def start(self, task: Task) -> Outcome:
        return self._outcome(task.data, State(task.data.init, self.horizon))

    def legal(self, state: State) -> list[Action]:
        """All legal actions, in an order that depends on the state alone; none when no step is left."""
        return [move.action for move in moves(state.atoms).values()] if state.left else []

    def execute(self, task: Task, state: State, action: Action) -> Outcome:
        """Raises ValueError if ``action`` is not legal in ``state``."""
        if not state.left:
            raise ValueError(f"{action.key!r:.80}: no step is left of {self.horizon}")
        return self._outcome(task.data, State(after(state.atoms, action), state.left - 1))

    def _outcome(self, problem: Problem, state: State) -> Outcome:
        solved = problem.goal <= state.atoms
        ended = solved or not state.left
        return Outcome(state, state.atoms, terminal=ended, solved=solved if ended else None)

    def utility(self, task: Task, actions: Sequence[Action]) -> float:
        """1 if the actions are a plan for the task of at most ``horizon`` steps, by the strict validator; else 0."""
        plan = [action.key for action in actions]
        return float(len(plan) <= self.horizon and fault(DOMAIN, task.data, plan) is None)

    def metrics(self, task: Task, actions: Sequence[Action]) -> Mapping[str, float]:
        """The number of steps, and the share of the goal's facts that hold after them."""
        problem: Problem = task.data
        atoms: Atoms = problem.init
        for action in actions:
            atoms = after(atoms, action)
        return {"steps": float(len(actions)), "goal_share": len(problem.goal & atoms) / len(problem.goal)}

    def solution(self, task: Task, actions: Sequence[Action]) -> str:
        return " ".join(action.key for action in actions)

    def propose(self, task: Task, state: State, k: int, notes: Sequence[str]) -> str:
        return prompts.propose(task.data, state, k, notes)

    def read_proposals(self, task: Task, state: State, text: str) -> Reading:
        return read_actions(state.atoms, text)

    def evaluate(
        self,
        task: Task,
        state: State,
        actions: Sequence[Action],
        channel: Channel,
        notes: Sequence[str],
        outcomes: Sequence[Outcome] | None,
    ) -> str:
        """The outcomes add nothing: what an action leads to is known without taking it."""
        return prompts.evaluate(task.data, state, actions, channel, notes)

    def read_scores(self, text: str, count: int) -> list[float | None]:
        return read_scores(text, count)

    def reflect(self, task: Task, actions: Sequence[Action]) -> str:
        return prompts.reflect(task.data, State(task.data.init, self.horizon), actions)


make = Blocksworld
