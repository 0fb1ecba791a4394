"""Scores as exact numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paccf.method.admission import ScoreGap
from paccf.method.scores import BOUND, UNIT, ScoreError, align, exact, plain, rounds, sums


@given(st.integers(-BOUND * UNIT, BOUND * UNIT))
def test_a_float_with_six_decimals_is_read_exactly(units: int) -> None:
    assert align([units / UNIT]) == ([units], 1)


@given(st.integers(-BOUND * UNIT, BOUND * UNIT), st.integers(1, 7))
def test_a_mean_stands_for_its_sum(total: int, repeats: int) -> None:
    """The float nearest to total/R is read back as the total."""
    mean = total / (repeats * UNIT)
    assert align([mean], repeats) == ([total], repeats)


def test_a_mean_that_does_not_carry_its_sum_is_refused_everywhere() -> None:
    """Six draws up to 10**9 have means whose floats are too coarse to tell the sums apart."""
    rule = ScoreGap(1, observations=6)
    assert rule.keep([BOUND / 6, 0.0]) == [0]
    for refused in (
        lambda: align([0.0, BOUND / 5], 6),
        lambda: rule.keep([0.0, BOUND / 5]),
        lambda: rule.keep_many(np.array([[0.0, BOUND / 5]])),
    ):
        with pytest.raises(ValueError, match=r"beyond ±1.67e\+08"):
            refused()


@given(st.fractions(max_denominator=10**7))
def test_plain_is_exact(value: Fraction) -> None:
    text = plain(value)
    assert exact(text) == value
    if 10**12 % value.denominator == 0:
        assert "/" not in text


@pytest.mark.parametrize(
    ("given", "read"),
    [(0.1, Fraction(1, 10)), ("79/3", Fraction(79, 3)), (Decimal("0.55"), Fraction(11, 20)), (7, Fraction(7))],
)
def test_exact_reads_what_a_person_wrote(given: float | str | Decimal, read: Fraction) -> None:
    assert exact(given) == read
    assert exact(np.float64(0.95)) == Fraction(19, 20)


@pytest.mark.parametrize("bad", ["", "inf", "nan", "1/0", "abc", math.inf])
def test_exact_refuses(bad: str | float) -> None:
    with pytest.raises(ValueError, match="not a finite number"):
        exact(bad)


def test_draws_of_different_number_are_brought_together() -> None:
    assert align([[1, 2], [1, 1, 1], None, 2.0], 1) == ([9 * UNIT, 6 * UNIT, None, 12 * UNIT], 6)


DRAW = st.integers(-BOUND, BOUND) | st.floats(allow_nan=True, allow_infinity=True) | st.none() | st.just("7")


@given(st.integers(1, 4).flatmap(lambda r: st.lists(st.none() | st.lists(DRAW, min_size=r, max_size=r))))
def test_sums_are_what_align_finds_with_the_same_refusals(observations: list[list[float] | None]) -> None:
    repeats = max((len(draws) for draws in observations if draws), default=1)

    def found(totals: Callable[[], object]) -> object:
        try:
            return totals()
        except ScoreError as error:
            return str(error)

    assert found(lambda: sums(observations, repeats)) == found(lambda: align(observations)[0])


def test_numpy_and_decimal_scores() -> None:
    assert align(np.array([0.1, np.nan])) == ([100_000, None], 1)
    assert align(np.array([[1.0, 2.0], [3.0, 4.0]])) == ([3 * UNIT, 7 * UNIT], 2)
    assert align([Decimal("0.1"), np.int64(3), np.float32(0.5)]) == ([100_000, 3 * UNIT, 500_000], 1)
    assert align([]) == ([], 1)


@pytest.mark.parametrize(
    ("score", "said"),
    [
        (math.inf, "not a score"),
        (-math.inf, "not a score"),
        (1e308, "beyond"),
        (10**12, "beyond"),
        ("81", "not a number"),
        ([], "empty list"),
        ([1, None], "observation 1 is missing"),
        ([math.nan, 2], "observation 0 is missing"),
        ([1, math.inf], "not a score"),
        ([1, "2"], "not a number"),
        ([1e300, 1e308], "beyond"),
        ({"a": 1}, "not a number"),
        (object(), "not a number"),
    ],
)
def test_refusals_name_the_candidate(score: object, said: str) -> None:
    with pytest.raises(ScoreError, match=said) as caught:
        align([1, score])  # type: ignore[list-item]
    assert caught.value.index == 1


def test_decimals_that_do_not_count_are_seen_and_those_of_floating_point_are_not() -> None:
    assert rounds([0.1234567])
    assert rounds([None, [1, 2], 80 + 1 / 3])
    assert not rounds([80 + 1 / 3], 3)
    assert rounds([80 + 1 / 3], 4)
    assert not rounds([0.1 + 0.2, 1.1 * 3, 123456789.123456, 70, None, math.nan, [1 / 3]])


@given(st.lists(st.integers(-(10**10), 10**10), min_size=1, max_size=8))
def test_means_of_draws_with_six_decimals_are_not_rounded(draws: list[int]) -> None:
    assert not rounds([sum(d / UNIT for d in draws) / len(draws)], len(draws))
