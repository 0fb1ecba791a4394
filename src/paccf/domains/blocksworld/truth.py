"""The truth about Blocksworld, for the simulated model."""

from __future__ import annotations

from collections.abc import Sequence

from paccf.domains.blocksworld.blocks import DOMAIN
from paccf.domains.blocksworld.moves import State, action_of, after, moves
from paccf.domains.blocksworld.oracle import Oracle, TooManyBlocks
from paccf.domains.blocksworld.strips import ground, written
from paccf.search.tree import Action, Task
from paccf.search.world import ModelFailure

_BACK = {"pick-up": "put-down", "put-down": "pick-up", "stack": "unstack", "unstack": "stack"}


class BlocksworldTruth:
    """A wrong proposal takes the action back before it was taken, which is never possible; a garbled one does not name
    its last block."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def key(self, state: State) -> str:
        return f"{written(state.atoms)} {state.left}"

    def legal(self, task: Task, state: State) -> Sequence[Action]:
        return [move.action for move in moves(state.atoms).values()] if state.left else []

    def value(self, task: Task, state: State, action: Action) -> float:
        """Raises `ModelFailure` for more blocks than the oracle can know."""
        try:
            return self._oracle.value(task, State(after(state.atoms, action), state.left - 1), 0)
        except TooManyBlocks as error:
            raise ModelFailure(f"the simulated model needs the truth: {error}") from None

    def wrong(self, task: Task, state: State, action: Action) -> str:
        step = moves(state.atoms)[action.key].step
        return action_of(ground(DOMAIN.operators[_BACK[step.name]], step.args)).text

    def garbled(self, task: Task, state: State, action: Action) -> str:
        return action.text.rpartition(" ")[0] + " ?"


def make(horizon: int = 16) -> BlocksworldTruth:
    return BlocksworldTruth(Oracle(horizon))
