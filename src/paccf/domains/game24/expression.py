"""Answers as expressions: writing them, and checking them without `eval`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from paccf.domains.game24.moves import Move
from paccf.domains.game24.numbers import GOAL, Number, apply

LONGEST = 200  # ours: characters; the longest sensible answer has about 40
_SIGNS = str.maketrans(dict(zip("×·⋅∗✕÷⁄∕−–—‐‑＋", "*****///-----+", strict=True)))
_TOKEN = re.compile(r"\s*(?:([0-9]{1,6})|([-+*/()]))")
_RANK = {"+": 1, "-": 1, "*": 2, "/": 2}
_ATOM = 3


def plain_signs(text: str) -> str:
    """``text`` with typographic operators as ASCII ones."""
    return text.translate(_SIGNS)


def verify(numbers: Sequence[int], expression: str) -> bool:
    """Whether ``expression`` uses each of ``numbers`` exactly once, with + - * / and brackets, and is exactly 24.
    A final ``= 24`` may be there. Anything else, however odd, is `False`. Takes no longer for hostile texts."""
    if len(expression) > LONGEST:
        return False
    sides = plain_signs(expression).split("=")
    if len(sides) > 2 or (len(sides) == 2 and sides[1].strip() != str(GOAL)):
        return False
    tokens = _tokens(sides[0])
    if tokens is None or sorted(t for t in tokens if isinstance(t, int)) != sorted(numbers):
        return False
    return _value(tokens) == GOAL


def _tokens(text: str) -> list[int | str] | None:
    found: list[int | str] = []
    text = text.rstrip()
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            return None
        found.append(int(match[1]) if match[1] else match[2])
        place = match.end()
    return found


def _value(tokens: Iterable[int | str]) -> Number | None:
    """The exact value, or `None` if the tokens are no expression. Two stacks, hence no depth to run out of."""
    values: list[Number] = []
    waiting: list[str] = []

    def reduce(rank: int) -> bool:
        while waiting and waiting[-1] != "(" and _RANK[waiting[-1]] >= rank:
            b, a = values.pop(), values.pop()
            result = apply(a, waiting.pop(), b)
            if result is None:
                return False
            values.append(result)
        return True

    operand_next = True
    for token in tokens:
        if operand_next != (isinstance(token, int) or token == "("):
            return None
        if isinstance(token, int):
            values.append(token)
            operand_next = False
        elif token == "(":
            waiting.append(token)
        elif token == ")":
            if not reduce(1) or not waiting:
                return None
            waiting.pop()
        else:
            if not reduce(_RANK[token]):
                return None
            waiting.append(token)
            operand_next = True
    if operand_next or not reduce(1) or waiting:
        return None
    return values[0]


def written(numbers: Sequence[int], moves: Sequence[Move]) -> str:
    """The moves as one expression with its value, like ``(7 - 8 / 8) * 4 = 24``; what an unfinished game has so far,
    like ``4, 7, 8 / 8 (unfinished)``."""
    terms: list[tuple[Number, str, int]] = [(n, str(n), _ATOM) for n in numbers]
    for move in moves:
        left = _take(terms, move.left)
        right = _take(terms, move.right)
        rank = _RANK[move.operator]
        a = f"({left[1]})" if left[2] < rank else left[1]
        bound = right[2] < rank or (right[2] == rank and move.operator in "-/")
        b = f"({right[1]})" if bound else right[1]
        terms.append((move.result, f"{a} {move.operator} {b}", rank))
    if len(terms) == 1:
        return f"{terms[0][1]} = {terms[0][0]}"
    return ", ".join(text for _, text, _ in terms) + " (unfinished)"


def _take(terms: list[tuple[Number, str, int]], number: Number) -> tuple[Number, str, int]:
    place = next(i for i, term in enumerate(terms) if term[0] == number)
    return terms.pop(place)
