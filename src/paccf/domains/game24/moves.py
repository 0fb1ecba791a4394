"""The legal moves of a state. Moves that lead to the same numbers are one move, the first of them named."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from paccf.domains.game24.numbers import Number, State, operations, replace, text_of
from paccf.search.tree import Action


@dataclass(frozen=True, slots=True)
class Move:
    """One operation on two numbers of a state, and the state ``after`` it. Its action's key is the name of that."""

    action: Action
    left: Number
    operator: str
    right: Number
    result: Number
    after: State


@dataclass(frozen=True, slots=True)
class Moves:
    """``by_key``: the distinct moves, in order. ``by_text``: every operation under its text, so that several may share
    a key."""

    by_key: dict[str, Move]
    by_text: dict[str, Move]


@lru_cache(maxsize=8192)  # ours: some 4 KB each, and one hand reaches fewer than 500 states
def moves(state: State) -> Moves:
    """All legal moves of ``state``. The order depends on the state alone."""
    by_key: dict[str, Move] = {}
    by_text: dict[str, Move] = {}
    for i, a in enumerate(state):
        for b in state[i + 1 :]:
            for left, operator, right, result in operations(a, b):
                after = replace(state, a, b, result)
                key = text_of(after)
                text = f"{left} {operator} {right} = {result} (left: {key})"
                if text not in by_text:
                    move = Move(Action(key, text), left, operator, right, result, after)
                    by_text[text] = move
                    by_key.setdefault(key, move)
    return Moves(by_key, by_text)


def move_of(state: State, action: Action) -> Move:
    """The move that ``action`` stands for: by its text, else by its key. Raises ValueError if there is none."""
    known = moves(state)
    move = known.by_text.get(action.text)
    if move is None or move.action.key != action.key:
        move = known.by_key.get(action.key)
    if move is None:
        raise ValueError(f"no move leads from {text_of(state)!r} to {action.key!r} ({action.text!r:.80})")
    return move
