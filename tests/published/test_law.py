"""Exact laws of counts, against scipy and against enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from scipy import stats

from paccf.published.law import binomial_at_most, covered_at_most, fisher


def test_binomial() -> None:
    assert float(binomial_at_most(75, 80, Fraction(19, 20))) == pytest.approx(0.371120, abs=5e-7)
    assert binomial_at_most(1, 2, Fraction(1, 2)) == Fraction(3, 4)
    assert float(binomial_at_most(7, 20, Fraction(1, 3))) == pytest.approx(stats.binom.cdf(7, 20, 1 / 3))


@pytest.mark.parametrize(
    ("x", "m", "k", "n", "p"), [(75, 80, 30, 30, 0.196), (97, 100, 76, 79, 0.763), (93, 97, 51, 52, 0.428)]
)
def test_covered(x: int, m: int, k: int, n: int, p: float) -> None:
    got = float(covered_at_most(x, m, k, n))
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
        assert covered_at_most(x, m, k, n) == Fraction(hits, len(orders))


@pytest.mark.parametrize(("a", "b"), [(52, 97), (45, 96), (30, 80), (79, 100)])
def test_fisher(a: int, b: int) -> None:
    expected = stats.fisher_exact([[a, 80 - a], [b, 100 - b]]).pvalue
    assert float(fisher(a, 80, b, 100)) == pytest.approx(expected, rel=1e-6)
