"""The truth about the Game of 24, for the simulated model."""

from __future__ import annotations

from collections.abc import Sequence

from paccf.domains.game24.moves import move_of, moves
from paccf.domains.game24.numbers import State, text_of
from paccf.domains.game24.oracle import reachable
from paccf.search.tree import Action, Task


class Game24Truth:
    """A wrong proposal miscalculates, the commonest slip of real models; a garbled one lacks its second number."""

    def key(self, state: State) -> str:
        return text_of(state)

    def legal(self, task: Task, state: State) -> Sequence[Action]:
        return [move.action for move in moves(state).by_key.values()]

    def value(self, task: Task, state: State, action: Action) -> float:
        return float(reachable(move_of(state, action).after))

    def wrong(self, task: Task, state: State, action: Action) -> str:
        move = move_of(state, action)
        return f"{move.left} {move.operator} {move.right} = {move.result + 1}"

    def garbled(self, task: Task, state: State, action: Action) -> str:
        move = move_of(state, action)
        return f"{move.left} {move.operator} ? = {move.result}"


make = Game24Truth
