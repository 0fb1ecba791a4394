"""Exact tails of the binomial, beta-binomial and hypergeometric laws, by integers; standard library only.

Where a decision hangs on a tail (a rank), the comparison is rational. Where a figure is only printed, terms are
whole multiples of 2**-256 of the largest one, so a returned float is right to its last digits at any n.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

_ONE = 1 << 256  # weight of the mode; n steps lose at most n**2 units of it
_GRID = 1 << 44  # ours: limits are found on multiples of 2**-44 and rounded outward

Ratio = Callable[[int], tuple[int, int]]


def _weights(ratio: Ratio, low: int, high: int, guess: int) -> Iterator[tuple[int, int]]:
    """(i, weight) of a unimodal law on low..high, in units of 2**-256 of the mode's, where that is not nothing.

    ``ratio(i)`` is weight(i + 1) / weight(i) as a numerator and a denominator; ``guess`` is near the mode.
    """
    mode = min(max(guess, low), high)
    while mode < high and (up := ratio(mode))[0] > up[1]:
        mode += 1
    while mode > low and (up := ratio(mode - 1))[0] < up[1]:
        mode -= 1
    weight = _ONE
    for i in range(mode, high + 1):
        if not weight:
            break
        yield i, weight
        if i < high:
            over, under = ratio(i)
            weight = weight * over // under
    weight = _ONE
    for i in range(mode - 1, low - 1, -1):
        over, under = ratio(i)
        weight = weight * under // over
        if not weight:
            break
        yield i, weight


def binomial_cdf(k: int, n: int, p: Fraction) -> float:
    """P(Bin(n, p) <= k)."""
    below, above = _binomial_parts(k, n, p)
    return below / (below + above)


def binomial_sf(k: int, n: int, p: Fraction) -> float:
    """P(Bin(n, p) > k), accurate also when it is tiny."""
    below, above = _binomial_parts(k, n, p)
    return above / (below + above)


def _binomial_parts(k: int, n: int, p: Fraction) -> tuple[int, int]:
    """Weights of {0..k} and of {k+1..n}."""
    if not 0 <= p <= 1 or n < 0:
        raise ValueError(f"a binomial law needs n >= 0 and 0 <= p <= 1, got n = {n}, p = {p}")
    hit, miss = p.numerator, p.denominator - p.numerator
    if not hit or not miss:
        certain = n if hit else 0
        return (1, 0) if certain <= k else (0, 1)
    below = above = 0
    for i, weight in _weights(lambda i: ((n - i) * hit, (i + 1) * miss), 0, n, (n + 1) * hit // p.denominator):
        if i <= k:
            below += weight
        else:
            above += weight
    return below, above


def smallest_rank(n: int, p: Fraction, failure: Fraction) -> int:
    """min{k : P(Bin(n, p) <= k - 1) >= 1 - failure}, exactly; n + 1 if no k <= n does.

    Walks down from P(Bin = n), so the cost is the number of ranks above the answer.
    """
    hit, miss = p.numerator, p.denominator - p.numerator
    budget = failure * p.denominator**n  # sum of the upper terms must stay at or below it
    term, spent, k = hit**n, 0, n + 1
    while k > 0 and (spent + term) * budget.denominator <= budget.numerator:
        spent += term
        k -= 1
        term = term * k * miss // ((n - k + 1) * hit)
    return max(k, 1)


def lower_limit(x: int, n: int, alpha: Fraction) -> float:
    """The one-sided Clopper-Pearson limit: the largest p with P(Bin(n, p) >= x) <= alpha, rounded down."""
    if not 0 <= x <= n or not 0 < alpha < 1:
        raise ValueError(f"need 0 <= x <= n and 0 < alpha < 1, got x = {x}, n = {n}, alpha = {alpha}")
    if x == 0:
        return 0.0
    low, high = 0, _GRID
    while high - low > 1:
        middle = (low + high) // 2
        below, above = _binomial_parts(x - 1, n, Fraction(middle, _GRID))
        if above * alpha.denominator <= alpha.numerator * (below + above):
            low = middle
        else:
            high = middle
    return low / _GRID


def clopper_pearson(x: int, n: int, level: Fraction = Fraction(19, 20)) -> tuple[float, float]:
    """The two-sided interval for a share of x in n that holds with at least ``level``, whatever the truth."""
    alpha = (1 - level) / 2
    return lower_limit(x, n, alpha), 1 - lower_limit(n - x, n, alpha)


def beta_binomial_cdf(x: int, m: int, k: int, n: int) -> float:
    """P(at most x of m future tasks are covered) when the margin is the k-th of n continuous scores.

    The law of that count is beta-binomial(m; k, n + 1 - k), wider than Binomial(m, Q): the calibration sample is
    itself random. Ties between scores only move it up.
    """
    if not 1 <= k <= n or m < 0:
        raise ValueError(f"need 1 <= k <= n and m >= 0, got k = {k}, n = {n}, m = {m}")
    # P(X = j) is proportional to C(k+j-1, j) C(n-k+m-j, m-j)
    weights = list(_weights(lambda j: ((k + j) * (m - j), (j + 1) * (n - k + m - j)), 0, m, m * k // (n + 1)))
    return sum(w for j, w in weights if j <= x) / sum(w for _, w in weights)


def fisher_exact(a: int, n_a: int, b: int, n_b: int) -> float:
    """Two-sided p-value of Fisher's test that a of n_a and b of n_b come from one rate: the weight of all tables that
    are no likelier than this one."""
    if not 0 <= a <= n_a or not 0 <= b <= n_b:
        raise ValueError(f"need 0 <= a <= n_a and 0 <= b <= n_b, got {a} of {n_a} and {b} of {n_b}")
    hits = a + b
    low, high = max(0, hits - n_b), min(n_a, hits)
    guess = hits * n_a // max(1, n_a + n_b)
    weights = dict(_weights(lambda i: ((n_a - i) * (hits - i), (i + 1) * (n_b - hits + i + 1)), low, high, guess))
    seen = weights.get(a, 0)
    seen += seen >> 200  # a table as likely as this one may differ in its last bits
    return sum(w for w in weights.values() if w <= seen) / sum(weights.values())
