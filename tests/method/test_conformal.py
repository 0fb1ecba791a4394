"""Ranks against brute force, promises against simulation."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from paccf.method.conformal import (
    confidence,
    coverage_held,
    margin,
    miscoverage_bound,
    p_values,
    pac_rank,
    quantile,
    rank,
    required_n,
    required_n_pac,
)

STEPS = range(1, 100)  # Q in steps of .01


def test_rank_by_brute_force_for_all_n_up_to_2000() -> None:
    """The smallest k with k/(n+1) >= Q, counted up in integers."""
    for step in STEPS:
        k = 0
        for n in range(2001):
            while 100 * k < step * (n + 1):
                k += 1
            assert rank(n, step / 100) == k, (n, step)
            assert rank(n, f"0.{step:02d}") == k


def test_the_float_recipes_are_wrong_where_ours_is_not() -> None:
    assert math.ceil((99 + 1) * 0.55) == 56
    assert rank(99, 0.55) == 55
    wrong = sum(math.ceil((n + 1) * Fraction(0.9)) != rank(n, 0.9) for n in range(2000))
    assert wrong == 200


@pytest.mark.parametrize(("q", "n"), [("0.8", 4), ("0.9", 9), ("0.95", 19), ("0.98", 49), ("0.99", 99)])
def test_required_n(q: str, n: int) -> None:
    assert required_n(q) == n
    assert rank(n, q) <= n
    assert rank(n - 1, q) > n - 1


@given(st.integers(1, 999).map(lambda i: Fraction(i, 1000)))
def test_required_n_is_the_first_feasible(q: Fraction) -> None:
    n = required_n(q)
    assert rank(n, q) <= n
    assert n == 1 or rank(n - 1, q) > n - 1


# statistics of the PAC rank: n that leaves j = n - k tasks above the margin at Q = .95
@pytest.mark.parametrize(
    ("delta", "sizes"),
    [
        ("0.1", [45, 77, 105, 132, 158, 184, 209, 234]),
        ("0.05", [59, 93, 124, 153, 181, 208, 234, 260]),
        ("0.01", [90, 130, 165, 198, 229, 259, 288, 316]),
    ],
)
def test_pac_sizes(delta: str, sizes: list[int]) -> None:
    for above, n in enumerate(sizes):
        assert n - pac_rank(n, "0.95", delta) == above
        assert n - 1 - pac_rank(n - 1, "0.95", delta) == above - 1


@pytest.mark.parametrize(
    ("q", "delta", "n"),
    [
        ("0.95", "0.2", 32),
        ("0.95", "0.1", 45),
        ("0.9", "0.05", 29),
        ("0.99", "0.01", 459),
        ("0.8", "0.01", 21),
        # powers of Q: the quotient of the logarithms is whole, and its rounding must not decide
        ("0.975", "0.903687890625", 4),
        ("0.5", "0.25", 2),
        ("0.9", "0.729", 3),
    ],
)
def test_required_n_pac(q: str, delta: str, n: int) -> None:
    assert required_n_pac(q, delta) == n
    assert pac_rank(n, q, delta) <= n
    assert pac_rank(n - 1, q, delta) == n


@pytest.mark.parametrize(
    ("n", "k", "gives"),
    [(79, 76, 0.56), (52, 51, 0.74), (45, 44, 0.67), (30, 30, 0.79), (50, 49, 0.72), (43, 42, 0.64)],
)
def test_the_confidence_that_marginal_ranks_give(n: int, k: int, gives: float) -> None:
    assert rank(n, "0.95") == k
    assert round(confidence(n, k, "0.95"), 2) == pytest.approx(gives)
    held = coverage_held(n, k, "0.9")
    assert 0.907 < held < 0.929
    assert confidence(n, k, str(held)) >= 0.9 - 1e-9
    assert confidence(n, k, str(held + 1e-6)) < 0.9


def test_infeasible_ranks_are_values() -> None:
    found = margin([Fraction(i) for i in range(18)], "0.95")
    assert (found.value, found.feasible, found.need_n, found.k) == (math.inf, False, 19, 19)
    assert found.bound == 0
    assert margin([], "0.5").value == math.inf
    assert confidence(18, 19, "0.95") == 1.0
    assert coverage_held(18, 19, "0.9") == 1.0
    assert quantile(np.arange(18.0), "0.95") == math.inf
    pac = margin([Fraction(i) for i in range(44)], "0.95", "0.1")
    assert (pac.value, pac.feasible, pac.need_n, pac.rule) == (math.inf, False, 45, "pac")


@given(st.lists(st.integers(0, 40).map(lambda i: Fraction(i, 4)), min_size=19, max_size=60), st.integers(0, 3))
def test_the_margin_is_the_kth_smallest_score(scores: list[Fraction], unresolved: int) -> None:
    deficits: list[Fraction | float] = [*scores, *[math.inf] * unresolved]
    found = margin(deficits, "0.95")
    k = rank(len(deficits), "0.95")
    assert found.value == sorted(deficits)[k - 1]
    assert found.at_maximum == (k == len(deficits))
    assert found.bound == miscoverage_bound(found.n, k) == 1 - Fraction(k, found.n + 1)
    if not unresolved:
        assert quantile(np.array([float(s) for s in scores]), "0.95") == found.value


@pytest.mark.parametrize("bad", ["0", "1", "1.2", "-0.1", "nan", "x"])
def test_levels_are_between_zero_and_one(bad: str) -> None:
    with pytest.raises(ValueError, match="between 0 and 1|not a finite number"):
        rank(20, bad)


def test_bad_scores_are_refused() -> None:
    for bad in (-1.0, math.nan):
        with pytest.raises(ValueError, match="never negative"):
            margin([bad], "0.5")
    with pytest.raises(ValueError, match="negative"):
        rank(-1, "0.5")
    with pytest.raises(ValueError, match="negative"):
        pac_rank(-1, "0.5", "0.5")


def coverages(n: int, k: int, draws: int, seed: int) -> NDArray[np.float64]:
    """Realized coverage of the k-th of n exponential scores, in each of many calibration samples."""
    scores = np.random.default_rng(seed).exponential(size=(draws, n))
    return np.asarray(1 - np.exp(-np.partition(scores, k - 1, axis=1)[:, k - 1]))


def within(hits: int, of: int, share: float) -> bool:
    """Whether a simulated share is within five binomial standard errors of the law."""
    return abs(hits / of - share) < 5 * math.sqrt(share * (1 - share) / of) + 1e-12


@pytest.mark.parametrize(("n", "delta"), [(50, None), (79, None), (50, "0.1"), (105, "0.1"), (93, "0.05")])
def test_what_the_ranks_promise_by_simulation(n: int, delta: str | None) -> None:
    draws = 40_000
    k = rank(n, "0.95") if delta is None else pac_rank(n, "0.95", delta)
    found = coverages(n, k, draws, seed=n)
    assert np.mean(found) >= 0.95 - 5 * np.std(found) / math.sqrt(draws), "marginal coverage"
    assert within(int(np.sum(found >= 0.95)), draws, confidence(n, k, "0.95"))
    if delta is not None:
        assert confidence(n, k, "0.95") >= 1 - float(delta)
        assert confidence(n, k - 1, "0.95") < 1 - float(delta)
    held = coverage_held(n, k, "0.9")
    assert within(int(np.sum(found >= held)), draws, 0.9)


def test_lattice_scores_cover_more_never_less() -> None:
    rng = np.random.default_rng(5)
    n, k, draws = 50, 49, 20_000
    for step in (2.5, 10.0):
        scores = np.ceil(rng.exponential(10, size=(draws, n + 1)) / step) * step
        covered = scores[:, n] <= np.partition(scores[:, :n], k - 1, axis=1)[:, k - 1]
        assert covered.mean() > k / (n + 1) - 3 * math.sqrt(0.04 * 0.96 / draws)


def test_p_values_are_uniform_with_ties() -> None:
    rng = np.random.default_rng(11)
    draws = 4000
    found = np.array(
        [p_values(rng.integers(0, 6, 19) * 2.5, rng.integers(0, 6, 1) * 2.5, rng.random(1))[0] for _ in range(draws)]
    )
    for share in (0.05, 0.25, 0.5, 0.9):
        assert within(int(np.sum(found <= share)), draws, share)
    one = p_values(np.array([1.0, 2.0, 2.0, 3.0]), np.array([2.0]), np.array([0.5]))
    assert one.tolist() == [(1 + 0.5 * 3) / 5]
