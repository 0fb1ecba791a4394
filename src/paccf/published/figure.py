"""A printed figure, the numbers it can stand for, and when two figures agree.

A figure printed with d decimals stands for every number within half of its last digit. Recomputing one figure from
others therefore gives a middle and an interval, all in exact rationals, and one of three verdicts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

_FIGURE = re.compile(r"[+-]?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?")


class Verdict(StrEnum):
    """What recomputing a printed figure says about it."""

    AGREES = "agrees"  # the recomputed middle rounds to the print
    ROUNDING = "rounding"  # it does not, but rounding of the inputs alone explains the print
    DIFFERS = "differs"  # no unrounded inputs give the print


@dataclass(frozen=True, slots=True)
class Span:
    """A number known up to rounding: its middle, and the closed interval it lies in."""

    mid: Fraction
    lo: Fraction
    hi: Fraction

    @classmethod
    def exact(cls, value: Fraction | int) -> Span:
        return cls(Fraction(value), Fraction(value), Fraction(value))

    def __add__(self, other: Span) -> Span:
        return Span(self.mid + other.mid, self.lo + other.lo, self.hi + other.hi)

    def __sub__(self, other: Span) -> Span:
        return Span(self.mid - other.mid, self.lo - other.hi, self.hi - other.lo)

    def times(self, factor: Fraction | int) -> Span:
        ends = self.lo * factor, self.hi * factor
        return Span(self.mid * factor, min(ends), max(ends))

    def over(self, other: Span) -> Span:
        """The quotient of two positive quantities."""
        if self.lo < 0 or other.lo <= 0:
            raise ValueError(f"cannot divide {self} by {other}: both must be positive")
        return Span(self.mid / other.mid, self.lo / other.hi, self.hi / other.lo)

    def decimal(self, places: int = 4) -> str:
        """``3.8817 (3.8767 .. 3.8867)``, or only the middle if it is exact."""
        if self.lo == self.hi:
            return decimal(self.mid, places)
        return f"{decimal(self.mid, places)} ({decimal(self.lo, places)} .. {decimal(self.hi, places)})"


@dataclass(frozen=True, slots=True)
class Printed:
    """A figure as it stands in the paper, sign and digits kept; ValueError if the text is no figure."""

    text: str
    value: Fraction = field(init=False, compare=False, repr=False)
    decimals: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not _FIGURE.fullmatch(self.text):
            raise ValueError(f"{self.text!r} is not a printed figure such as 12.30, -4 or 1,058")
        whole, _, part = self.text.replace(",", "").partition(".")
        object.__setattr__(self, "value", Fraction(int(whole + part), 10 ** len(part)))
        object.__setattr__(self, "decimals", len(part))

    @property
    def half(self) -> Fraction:
        """Half of the last printed digit."""
        return Fraction(1, 2 * 10**self.decimals)

    @property
    def span(self) -> Span:
        """Every number that prints so: value plus or minus ``half``."""
        return Span(self.value, self.value - self.half, self.value + self.half)

    @property
    def count(self) -> int:
        """The figure as an exact count; ValueError if it carries decimals."""
        if self.decimals:
            raise ValueError(f"{self.text} is not a count")
        return int(self.value)

    def like(self, value: Fraction | float | int) -> str:
        """``value`` written as this figure is written: as many decimals, and a plus sign where it has a sign."""
        text = decimal(Fraction(value), self.decimals)
        return "+" + text if self.text[0] in "+-" and text[0] != "-" else text

    def __str__(self) -> str:
        return self.text


def decimal(value: Fraction, places: int) -> str:
    """``value`` to ``places`` decimals, exactly, halves away from zero; never ``-0``."""
    scaled = abs(value) * 10**places
    digits = int(scaled + Fraction(1, 2))
    sign = "-" if value < 0 and digits else ""
    whole, part = divmod(digits, 10**places)
    return f"{sign}{whole}.{part:0{places}d}" if places else f"{sign}{whole}"


def mean(spans: Iterable[Span]) -> Span:
    """The equal-weight mean, ends included."""
    items = list(spans)
    total = sum(items[1:], items[0])
    return total.times(Fraction(1, len(items)))


def judge(printed: Printed, recomputed: Span) -> Verdict:
    """Compare a printed figure with what other printed figures make of it."""
    if abs(recomputed.mid - printed.value) <= printed.half:
        return Verdict.AGREES
    stands_for = printed.span
    meet = recomputed.lo <= stands_for.hi and stands_for.lo <= recomputed.hi
    return Verdict.ROUNDING if meet else Verdict.DIFFERS


def same(one: Printed, other: Printed) -> bool:
    """Whether two prints of one quantity agree: equal, or the finer one rounds to the coarser one."""
    coarse, fine = sorted((one, other), key=lambda p: p.decimals)
    slack = Fraction(0) if coarse.decimals == fine.decimals else coarse.half
    return abs(coarse.value - fine.value) <= slack
