"""What a model is asked, in words. A prompt depends on its arguments alone."""

from __future__ import annotations

from collections.abc import Sequence

from paccf.domains.game24.numbers import State, text_of
from paccf.search.effects import Channel
from paccf.search.tree import Action

_GAME = "Game of 24: make 24 out of {hand}, using each number exactly once, with + - * / and exact arithmetic."
_MOVE = "A move takes two of the numbers left and puts the result of one operation in their place."

_ASK: dict[Channel, str] = {
    "child": "For each of these moves: how likely can 24 still be made from what it leaves?",
    "pre": "None of these moves has been made yet. For each: how promising is it as the next one?",
    "post": "Each of these moves was made from the numbers above. For each: how likely can 24 be made now?",
}
_SCALE = "0 means that 24 is out of reach from there, 100 that it is certainly in reach."


def propose(numbers: Sequence[int], state: State, k: int, notes: Sequence[str]) -> str:
    return "\n".join(
        [
            _GAME.format(hand=_plain(numbers)),
            *_lessons(notes),
            f"Numbers left: {text_of(state)}",
            "",
            f"{_MOVE} Name up to {k} different moves, the most promising first.",
            "One move a line and nothing else, in this form, with fractions like 5/2 instead of decimals:",
            "10 - 4 = 6 (left: 2 6 9)",
        ]
    )


def evaluate(
    numbers: Sequence[int], state: State, actions: Sequence[Action], channel: Channel, notes: Sequence[str]
) -> str:
    count = len(actions)
    return "\n".join(
        [
            _GAME.format(hand=_plain(numbers)),
            *_lessons(notes),
            f"Numbers left: {text_of(state)}",
            "",
            f"{_MOVE} {_ASK[channel]} {_SCALE}",
            *[f"{i}. {action.text}" for i, action in enumerate(actions, 1)],
            "",
            f"Answer with a JSON list of {count} whole number{'s' * (count != 1)} from 0 to 100, "
            "in the order of the moves, and nothing else.",
        ]
    )


def reflect(numbers: Sequence[int], actions: Sequence[Action]) -> str:
    return "\n".join(
        [
            _GAME.format(hand=_plain(numbers)),
            "These moves were made and did not end in 24:",
            *[f"{i}. {action.text}" for i, action in enumerate(actions, 1)],
            "",
            "In one or two sentences: where did this go wrong, and what should the next attempt do differently?",
        ]
    )


def _plain(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers))


def _lessons(notes: Sequence[str]) -> list[str]:
    return ["Lessons from earlier attempts:", *[f"- {' '.join(note.split())}" for note in notes]] if notes else []
