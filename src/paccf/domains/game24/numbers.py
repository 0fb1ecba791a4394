"""Exact numbers and states of the game.

A number is an int where it is whole and a `Fraction` where it is not, never both: equal numbers have equal types,
equal texts and equal hashes. Most states hold ints alone, which is ten times as fast as fractions throughout.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

Number = int | Fraction
State = tuple[Number, ...]  # sorted, so that a multiset has one state

OPERATORS = "+-*/"
GOAL = 24


def quotient(a: Number, b: Number) -> Number:
    """``a / b``; raises ZeroDivisionError."""
    if type(a) is int and type(b) is int:
        whole, rest = divmod(a, b)
        return whole if rest == 0 else Fraction(a, b)
    return tidy(Fraction(a) / b)


def tidy(x: Number) -> Number:
    """The int that ``x`` is, if it is whole."""
    return x.numerator if x.denominator == 1 else x


def apply(a: Number, operator: str, b: Number) -> Number | None:
    """The exact result, `None` for a division by zero."""
    if operator == "+":
        return tidy(a + b)
    if operator == "-":
        return tidy(a - b)
    if operator == "*":
        return tidy(a * b)
    return quotient(a, b) if b else None


def operations(a: Number, b: Number) -> Iterator[tuple[Number, str, Number, Number]]:
    """All that two numbers, smaller first, can be turned into: ``(left, operator, right, result)``. The larger of a
    commutative pair is written first."""
    yield b, "+", a, tidy(b + a)
    yield b, "-", a, tidy(b - a)
    yield a, "-", b, tidy(a - b)
    yield b, "*", a, tidy(b * a)
    if a:
        yield b, "/", a, quotient(b, a)
    if b:
        yield a, "/", b, quotient(a, b)


def replace(state: State, a: Number, b: Number, result: Number) -> State:
    """``state`` with ``result`` in the place of one ``a`` and one ``b``. Raises ValueError if they are not there."""
    rest = list(state)
    rest.remove(a)
    rest.remove(b)
    rest.append(result)
    rest.sort()
    return tuple(rest)


def text_of(state: State) -> str:
    """The state's name: its numbers in order, like ``1/3 8``."""
    return " ".join(map(str, state))
