"""Laws of counts in exact rationals: binomial, beta-binomial, Fisher's test."""

from __future__ import annotations

from fractions import Fraction
from math import comb


def binomial_at_most(x: int, n: int, p: Fraction) -> Fraction:
    """P(X <= x) for X ~ Binomial(n, p)."""
    a, b = p.numerator, p.denominator
    return Fraction(sum(comb(n, j) * a**j * (b - a) ** (n - j) for j in range(x + 1)), b**n)


def covered_at_most(x: int, m: int, k: int, n: int) -> Fraction:
    """P(at most x of m new tasks are covered) by the k-th smallest of n exchangeable continuous scores.

    The count is beta-binomial(m; k, n + 1 - k): all C(n + m, m) orders of old and new scores are equally likely,
    and j new ones below the k-th old one leave C(k - 1 + j, j) orders before it and C(n - k + m - j, m - j) after.
    """
    orders = sum(comb(k - 1 + j, j) * comb(n - k + m - j, m - j) for j in range(x + 1))
    return Fraction(orders, comb(n + m, m))


def fisher(a: int, n: int, b: int, m: int) -> Fraction:
    """Two-sided p-value of a of n against b of m: all tables as likely as the observed one, or less."""
    hits, total = a + b, comb(n + m, a + b)
    ways = [comb(n, j) * comb(m, hits - j) for j in range(max(0, hits - m), min(n, hits) + 1)]
    observed = comb(n, a) * comb(m, b)
    return Fraction(sum(w for w in ways if w <= observed), total)
