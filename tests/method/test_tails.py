"""Exact laws of counts, against scipy and against enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import pytest
from scipy import stats

from paccf.method.tails import (
    beta_binomial_cdf,
    binomial_cdf,
    binomial_sf,
    clopper_pearson,
    fisher_exact,
    lower_limit,
    smallest_rank,
)


def test_binomial() -> None:
    assert float(binomial_cdf(75, 80, Fraction(19, 20))) == pytest.approx(0.371120, abs=5e-7)
    assert binomial_cdf(1, 2, Fraction(1, 2)) == 0.75
    assert float(binomial_cdf(7, 20, Fraction(1, 3))) == pytest.approx(stats.binom.cdf(7, 20, 1 / 3))


@pytest.mark.parametrize(
    ("x", "m", "k", "n", "p"), [(75, 80, 30, 30, 0.196), (97, 100, 76, 79, 0.763), (93, 97, 51, 52, 0.428)]
)
def test_covered(x: int, m: int, k: int, n: int, p: float) -> None:
    got = float(beta_binomial_cdf(x, m, k, n))
    assert got == pytest.approx(stats.betabinom.cdf(x, m, k, n + 1 - k))
    assert round(got, 3) == p


def test_covered_by_enumeration() -> None:
    """All places of 3 new scores among 4 old ones; covered are those before the third old one."""
    n, m, k = 4, 3, 3
    orders = list(combinations(range(n + m), m))
    for x in range(m + 1):
        hits = 0
        for new in orders:
            kth = [i for i in range(n + m) if i not in new][k - 1]
            hits += sum(i < kth for i in new) <= x
        assert beta_binomial_cdf(x, m, k, n) == pytest.approx(hits / len(orders), rel=1e-15)


@pytest.mark.parametrize(("a", "b"), [(52, 97), (45, 96), (30, 80), (79, 100)])
def test_fisher_exact(a: int, b: int) -> None:
    expected = stats.fisher_exact([[a, 80 - a], [b, 100 - b]]).pvalue
    assert float(fisher_exact(a, 80, b, 100)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("n", [1, 2, 5, 19, 45, 80, 300])
def test_binomial_tails_against_the_sum(n: int) -> None:
    for p in (Fraction(1, 20), Fraction(1, 2), Fraction(19, 20), Fraction(99, 100)):
        weights = [comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)]
        for k in range(-1, n + 1, max(1, n // 9)):
            assert binomial_cdf(k, n, p) == pytest.approx(float(sum(weights[: k + 1])), rel=1e-14, abs=1e-70)
            assert binomial_sf(k, n, p) == pytest.approx(float(sum(weights[k + 1 :])), rel=1e-14, abs=1e-70)


def test_binomial_tails_at_a_million() -> None:
    assert binomial_cdf(950_300, 10**6, Fraction(19, 20)) == pytest.approx(
        stats.binom.cdf(950_300, 10**6, 0.95), rel=1e-9
    )
    assert binomial_cdf(5, 5, Fraction(1)) == 1.0
    assert binomial_cdf(0, 5, Fraction(0)) == 1.0
    with pytest.raises(ValueError, match="binomial law"):
        binomial_cdf(1, 5, Fraction(3, 2))


@pytest.mark.parametrize("failure", [Fraction(1, 2), Fraction(1, 10), Fraction(1, 100)])
@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(4, 5), Fraction(19, 20)])
def test_smallest_rank_by_brute_force(p: Fraction, failure: Fraction) -> None:
    for n in range(1, 90):
        terms = [comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)]
        held = [k for k in range(1, n + 1) if sum(terms[:k]) >= 1 - failure]
        assert smallest_rank(n, p, failure) == (held[0] if held else n + 1)


def test_clopper_pearson_against_beta_quantiles() -> None:
    for x, n in [(0, 20), (1, 20), (75, 80), (97, 100), (20, 20), (500, 1000)]:
        low, high = clopper_pearson(x, n)
        assert low == pytest.approx(stats.beta.ppf(0.025, x, n - x + 1) if x else 0.0, abs=1e-12)
        assert high == pytest.approx(stats.beta.ppf(0.975, x + 1, n - x) if x < n else 1.0, abs=1e-12)
    assert 1 - lower_limit(100, 100, Fraction(1, 20)) == pytest.approx(0.0295, abs=5e-5)
    with pytest.raises(ValueError, match="0 <= x <= n"):
        lower_limit(3, 2, Fraction(1, 20))


def test_limits_that_lie_on_the_grid_are_met() -> None:
    """P(Bin(1, p) = 1) = p and P(Bin(2, p) = 2) = p^2: the limits are alpha and its root."""
    assert lower_limit(1, 1, Fraction(1, 4)) == 0.25
    assert lower_limit(2, 2, Fraction(1, 16)) == 0.25
    assert clopper_pearson(1, 1, Fraction(1, 2)) == (0.25, 1.0)
    assert clopper_pearson(0, 1, Fraction(1, 2)) == (0.0, 0.75)


def test_the_laws_refuse_impossible_counts() -> None:
    with pytest.raises(ValueError, match="1 <= k <= n"):
        beta_binomial_cdf(1, 10, 20, 19)
    with pytest.raises(ValueError, match="0 <= a"):
        fisher_exact(3, 2, 0, 1)
    assert fisher_exact(0, 0, 3, 5) == 1
