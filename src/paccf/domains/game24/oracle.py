"""Which states can still become 24: exact, by exhaustion. For labels after a search, and for the simulated model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paccf.domains.game24.moves import move_of, moves
from paccf.domains.game24.numbers import GOAL, Number, State, operations, replace
from paccf.search.tree import Action, Task

_known: dict[State, bool] = {}  # states of three numbers or more; some 9,000 for all hands of 1 to 13
_left: dict[str, bool] = {}  # by the name of a state


def reachable(state: State) -> bool:
    """Whether 24 can be made of all the numbers of ``state``."""
    if len(state) <= 2:
        return state[0] == GOAL if len(state) == 1 else _pair(state[0], state[1])
    known = _known.get(state)
    if known is None:
        known = _known[state] = _three(state) if len(state) == 3 else _more(state)
    return known


def _pair(a: Number, b: Number) -> bool:
    return (
        a + b == GOAL
        or a - b == GOAL
        or b - a == GOAL
        or a * b == GOAL
        or (b != 0 and a == GOAL * b)
        or (a != 0 and b == GOAL * a)
    )


def _three(state: State) -> bool:
    x, y, z = state
    return any(_pair(r, c) for a, b, c in ((x, y, z), (x, z, y), (y, z, x)) for _, _, _, r in operations(a, b))


def _more(state: State) -> bool:
    return any(
        reachable(replace(state, a, b, result))
        for i, a in enumerate(state)
        for b in state[i + 1 :]
        for _, _, _, result in operations(a, b)
    )


def _leads_on(state: State, action: Action) -> bool:
    """Whether 24 can be made of what ``action`` leaves, by the action's key, which names just that."""
    known = _left.get(action.key)
    if known is None:
        known = _left[action.key] = reachable(move_of(state, action).after)
    return known


@dataclass(frozen=True, slots=True)
class Game24Oracle:
    """Implements `paccf.domains.oracles.Oracle`."""

    def protected(self, task: Task, state: State, actions: Sequence[Action]) -> list[bool]:
        """For each action, whether 24 can be made of what it leaves: P(p) of the paper."""
        return [_leads_on(state, action) for action in actions]

    def value(self, task: Task, state: State, depth: int) -> float:
        """1 if 24 can be made of ``state``, else 0. The depth says nothing here, as every game lasts as long."""
        return float(reachable(state))

    def solution(self, task: Task) -> list[Action] | None:
        """Moves that make 24 of the hand, the first of them in the order of moves; `None` if none do."""
        if not reachable(task.data):
            return None
        state, made = task.data, []
        while len(state) > 1:
            move = next(move for move in moves(state).by_key.values() if reachable(move.after))
            made.append(move.action)
            state = move.after
        return made


make = Game24Oracle
