"""Scores as exact numbers.

A score is the mean of its R observations (Section "Native-trace path calibration": the aggregated blind score).
An observation is read to six decimals, so R times a score is a whole number of millionths. All of the method
compares these integers: a candidate exactly at the margin is never lost to a rounding of floats.

Only the standard library is imported here, because `paccf.Gate` stands on this file.
"""

from __future__ import annotations

import math

TYPE_CHECKING = False  # `typing` would be half of the import time
if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal
    from fractions import Fraction
    from typing import Any

    Number = int | float
    Score = int | float | Sequence[int | float] | None
    Exact = int | float | str | Fraction | Decimal

UNIT = 10**6  # ours: millionths, the finest digit of an observation that counts
# ours: within it a float carries six decimals exactly (2**53 > 10**15); R times a mean of R draws must be within it too
BOUND = 10**9


class ScoreError(ValueError):
    """A score that no decision can be based on; ``index`` is the candidate's place in the frontier."""

    def __init__(self, index: int, problem: str) -> None:
        super().__init__(f"scores[{index}]: {problem}")
        self.index = index
        self.problem = problem


def exact(number: Exact) -> Fraction:
    """``number`` as the decimal (or fraction) a person wrote: 0.95 is 19/20, not the binary value beside it."""
    from fractions import Fraction

    text = str(number)
    try:
        # a long text or exponent would make a number of that many digits
        if len(text) <= 100 and abs(int(text.lower().partition("e")[2] or 0)) <= 99:
            return Fraction(text)
    except (ValueError, ZeroDivisionError):
        pass
    raise ValueError(f"{text:.40} is not a finite number; write it like 0.95, 30 or 79/3")


def plain(number: Fraction) -> str:
    """The shortest exact text of ``number``: a decimal where it ends, else numerator/denominator."""
    rest = number.denominator
    twos = fives = 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return str(number)
    places = max(twos, fives)
    digits = str(abs(number.numerator) * 10**places // number.denominator).rjust(places + 1, "0")
    whole, part = (digits[:-places], digits[-places:]) if places else (digits, "")
    return ("-" if number < 0 else "") + whole + ("." + part if part else "")


def align(scores: Sequence[Score], observations: int = 1) -> tuple[list[int | None], int]:
    """Comparable totals of one frontier and their common R: a score is ``total / (R * UNIT)``.

    A number counts as the mean of ``observations`` draws, a list as its own draws; ``None`` and NaN are unscored
    and come back as ``None``. Candidates with different numbers of draws are brought to a common multiple.
    Raises `ScoreError` for infinities, draws beyond 10**9, means beyond 10**9 / R and anything that is not a number.
    """
    if hasattr(scores, "tolist"):  # NumPy: its narrow types would round and overflow
        scores = scores.tolist()
    totals: list[int | None] = []
    repeats: list[int] = []
    for index, score in enumerate(scores):
        if isinstance(score, (list, tuple)):
            totals.append(_sum(index, score))
            repeats.append(len(score))
        elif score is None:
            totals.append(None)
            repeats.append(0)
        elif isinstance(score, (int, float)):
            totals.append(_mean(index, score, observations))
            repeats.append(observations)
        elif hasattr(score, "__len__") and not isinstance(score, (str, bytes)):
            draws = score.tolist() if hasattr(score, "tolist") else list(score)
            totals.append(_sum(index, draws))
            repeats.append(len(draws))
        else:  # a Decimal, a NumPy scalar, or nothing that can be a score
            totals.append(_mean(index, score, observations))  # type: ignore[arg-type]
            repeats.append(observations)
    found = set(repeats) - {0}
    common = max(found, default=observations)
    if len(found) > 1:
        common = math.lcm(*found)
        totals = [t if t is None else t * (common // r) for t, r in zip(totals, repeats, strict=True)]
    return totals, common


def sums(observations: Sequence[Sequence[Number] | None], repeats: int) -> list[int | None]:
    """The totals of `align`, quicker, where every candidate has ``repeats`` draws or `None`. The same refusals."""
    try:
        totals = [None if draws is None else sum([round(y * UNIT) for y in draws]) for draws in observations]
        scored, limit = [t for t in totals if t is not None], BOUND * UNIT * repeats
        if not scored or (-limit <= min(scored) and max(scored) <= limit):
            return totals
    except (TypeError, ValueError, OverflowError):
        pass
    return align(observations, repeats)[0]


def _sum(index: int, draws: Sequence[Any]) -> int:
    """The total of one candidate's draws in units."""
    try:
        if draws and not isinstance(draws[0], (int, float, str, bytes)):
            draws = [float(y) for y in draws]
        total = sum(draws)
        units = total * UNIT if type(total) is int else sum([round(y * UNIT) for y in draws])
        if draws and -BOUND * UNIT * len(draws) <= units <= BOUND * UNIT * len(draws):
            return units
    except (TypeError, ValueError, OverflowError):
        pass
    raise _refusal(index, draws)


def _mean(index: int, score: Number, observations: int) -> int | None:
    """The total that a mean of ``observations`` draws stands for, in units; ``None`` for NaN."""
    if score != score:
        return None
    try:
        units = round((score if isinstance(score, (int, float)) else float(score)) * (UNIT * observations))
        if -BOUND <= score * observations <= BOUND:
            return units
    except (TypeError, ValueError, OverflowError):
        pass
    raise _refusal(index, score, BOUND / observations)


def rounds(scores: Sequence[Score], observations: int = 1) -> bool:
    """Whether `align` takes a bare float for another number than it is: its draws would have more than six decimals.
    What arithmetic in floats leaves in the last places is not meant."""
    for score in scores:
        if isinstance(score, float) and math.isfinite(score):
            units = score * (UNIT * observations)
            if abs(units - round(units)) > 1e-2 + 1e-15 * abs(units):
                return True
    return False


def _refusal(index: int, score: object, bound: float = BOUND) -> ScoreError:
    if isinstance(score, (list, tuple)):
        if not score:
            return ScoreError(index, "an empty list of observations; give None for an unscored candidate")
        for place, y in enumerate(score):
            if y is None or y != y:
                return ScoreError(
                    index,
                    f"observation {place} is missing; a mean over fewer draws follows another law, "
                    "so ask again or give None for the whole candidate",
                )
            if isinstance(y, (str, bytes)) or not hasattr(y, "__float__") or abs(y) > BOUND:
                return ScoreError(index, _what(y))
    return ScoreError(index, _what(score, bound))


def _what(score: object, bound: float = BOUND) -> str:
    if isinstance(score, (int, float)):
        if isinstance(score, float) and math.isinf(score):
            return f"{score} is not a score; give None for an unscored candidate"
        return f"{score!r:.40} is beyond ±{bound:.3g}, where six decimals are no longer exact; rescale the scores"
    return f"{score!r:.60} is not a number, a list of numbers or None"
