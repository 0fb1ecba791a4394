"""The paired bootstrap of a binary utility, as an exact law instead of a simulation.

On n paired tasks PAC-CF rescues R (Native failed, PAC-CF solved), regresses on G (the reverse) and ties on the
other T = n - R - G. Resampling n tasks with replacement draws (#R, #G, #T) ~ Multinomial(n; R/n, G/n, T/n), and
the resampled difference is 100 (#R - #G) / n points. Its law has the generating function

    (G + T x + R x^2)^n / n^n,        power k of x  <->  #R - #G = k - n,

whose numerators are integers with a three-term recurrence: no resample is drawn and nothing is rounded.
Needs the standard library only, but for `cluster_interval`.

The interval convention. With a = (1 - level) / 2, on the lattice of possible differences,

    lo = the smallest d with P(D <= d) >= a,        hi = the largest d with P(D >= d) >= a.

This is what a percentile bootstrap with infinitely many resamples returns (a percentile of simulated values lands
on a lattice point), and swapping R and G mirrors it exactly. Only where a tail equals ``a`` exactly would linear
interpolation return a midpoint; here the end point is then the outer one.

`cluster_interval` is for ratios of totals, which have no such law: it resamples task identities (NumPy, `resample`).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import ceil, floor
from operator import index
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

__all__ = ["cluster_interval", "difference_law", "matching_counts", "paired_interval"]


def difference_law(rescues: int, regressions: int, n: int) -> list[int]:
    """The numerators, over ``n**n``, of P(#R - #G = d) for d = -n .. n. Costs O(n) big-integer steps."""
    rescues, regressions, n = _counts(rescues, regressions, n)
    ties = n - rescues - regressions
    if regressions:
        return _powers(regressions, ties, rescues, n)
    if ties:  # (T x + R x^2)^n = x^n (T + R x)^n: a binomial
        return [0] * n + _powers(ties, rescues, 0, n)[: n + 1]
    return [0] * (2 * n) + [rescues**n]


def paired_interval(
    rescues: int, regressions: int, n: int, level: float | str | Fraction = 0.95
) -> tuple[float, float]:
    """The percentile-bootstrap interval of 100 (R - G) / n, in points, from the exact law (see the module).

    ``level`` is read as the decimal it is written as (0.95 is 19/20). Raises ValueError on counts that are no
    counts, on R + G > n and on a level outside (0, 1). n = 100 takes well under a millisecond, n = 1000 some tens.
    """
    rescues, regressions, n = _counts(rescues, regressions, n)
    lo, hi = _ends(rescues, regressions, n, _tail(level))
    return 100 * lo / n, 100 * hi / n


def cluster_interval(
    native: Sequence[ArrayLike],
    paccf: Sequence[ArrayLike],
    level: float = 0.95,
    *,
    cohort: Sequence[ArrayLike] | None = None,
    resamples: int = 300_000,
    seed: int = 0,
    threads: int = 1,
) -> tuple[float, float]:
    """The percentile interval, in percent, of the macro reduction of a workload: in every resample the ratio of totals
    of each controller, their mean, and the mean over domains.

    ``native[d]`` and ``paccf[d]`` are (controllers, tasks) totals of domain d, one row of task identities shared by
    its controllers and both arms; domains are resampled independently. ``cohort[d]`` masks the pairs that count, e.g.
    the non-budget-censored ones. A controller without anything in its denominator is left out of a resample's mean.
    The result depends on ``seed`` alone. Raises ValueError on shapes that do not fit and on a macro without a figure.
    """
    import numpy as np

    from paccf.audit.resample import Cluster, macro_draws, percentiles

    if not len(native) == len(paccf) == len(native if cohort is None else cohort):
        raise ValueError("native, paccf and cohort need one array a domain")
    clusters, groups = [], []
    for place, (before, after) in enumerate(zip(native, paccf, strict=True)):
        arms = [np.asarray(x, float) for x in (before, after)]
        keep = np.ones(arms[0].shape, bool) if cohort is None else np.asarray(cohort[place], bool)
        if arms[0].ndim != 2 or not arms[0].size or arms[0].shape != arms[1].shape or keep.shape != arms[0].shape:
            raise ValueError(
                f"domain {place}: native, paccf and cohort must be (controllers, tasks) arrays of one shape"
            )
        parts = [np.where(keep, arm, 0.0) for arm in arms]
        if not all(np.isfinite(part).all() and (part >= 0).all() for part in parts):
            raise ValueError(f"domain {place}: a total is negative or not a number; mask what is unknown")
        clusters.append(
            Cluster(str(place), parts[0][:, None], parts[1][:, None], np.zeros((len(keep), 0, keep.shape[1])))
        )
        groups.append(range(len(parts[0])))
    draws = macro_draws(clusters, [groups], seed, resamples, threads)
    found = percentiles(draws[-1], level)
    if found is None:
        raise ValueError("no pair has anything in its denominator, so there is no reduction")
    return found.lo, found.hi


def matching_counts(
    delta: Fraction,
    lo: Fraction,
    hi: Fraction,
    n: int,
    half: Fraction = Fraction(1, 200),
    level: float | str | Fraction = 0.95,
) -> list[tuple[int, int]]:
    """All (R, G) whose difference and exact interval lie within ``half`` of the printed points.

    ``delta``, ``lo`` and ``hi`` are printed percentage points on n tasks; ``half`` is half of their last printed
    digit. One entry means that the printed interval identifies the counts; none means that no paired binary
    outcome on n tasks prints so.
    """
    tail = _tail(level)
    _, _, n = _counts(0, 0, n)
    nets, lows, highs = (_lattice(x, half, n) for x in (delta, lo, hi))
    found = []
    for net in nets:
        for regressions in range(max(0, -net), (n - net) // 2 + 1):
            low, high = _ends(regressions + net, regressions, n, tail)
            if low in lows and high in highs:
                found.append((regressions + net, regressions))
    return found


def _lattice(points: Fraction, half: Fraction, n: int) -> range:
    """The differences d in tasks whose 100 d / n points lie within ``half`` of ``points``, between -n and n."""
    return range(max(-n, ceil((points - half) * n / 100)), min(n, floor((points + half) * n / 100)) + 1)


def _powers(c: int, b: int, a: int, n: int) -> list[int]:
    """Coefficients of (c + b x + a x^2)^n for c > 0: k c p_k = (n-k+1) b p_{k-1} + (2n-k+2) a p_{k-2}."""
    p = [0, c**n]
    for k in range(1, 2 * n + 1):
        p.append(((n - k + 1) * b * p[k] + (2 * n - k + 2) * a * p[k - 1]) // (k * c))
    return p[1:]


@lru_cache(maxsize=4096)
def _ends(rescues: int, regressions: int, n: int, tail: Fraction) -> tuple[int, int]:
    law = difference_law(rescues, regressions, n)
    enough = -(-(n**n) * tail.numerator // tail.denominator)  # the least integer numerator of a tail >= a
    up = next(k for k, mass in enumerate(accumulate(law)) if mass >= enough)
    down = next(k for k, mass in enumerate(accumulate(reversed(law))) if mass >= enough)
    return up - n, n - down


def _counts(rescues: int, regressions: int, n: int) -> tuple[int, int, int]:
    """The three as plain integers (those of numpy overflow), or ValueError."""
    plain = []
    for name, count in (("rescues", rescues), ("regressions", regressions), ("n", n)):
        if isinstance(count, bool) or not hasattr(count, "__index__"):
            raise ValueError(f"{name} must be a whole number of tasks, got {count!r}")
        plain.append(index(count))
    r, g, tasks = plain
    if tasks < 1:
        raise ValueError(f"n must be at least one paired task, got {tasks}")
    if r < 0 or g < 0:
        raise ValueError(f"rescues and regressions must not be negative, got {r} and {g}")
    if r + g > tasks:
        raise ValueError(f"{r} rescues and {g} regressions do not fit into {tasks} tasks")
    return r, g, tasks


def _tail(level: float | str | Fraction) -> Fraction:
    try:
        exact = Fraction(str(level))
    except ValueError:
        raise ValueError(f"level must be a number between 0 and 1, got {level!r}") from None
    if not 0 < exact < 1:
        raise ValueError(f"level must lie strictly between 0 and 1, got {level!r}")
    return (1 - exact) / 2
