"""The interval rule that deletes, and the conditions under which it is sure to.

The paper writes the rule against m*, which no one knows while searching. What can be run compares with the
largest lower bound on the frontier. That is at least as powerful, since m* is one of the candidates in the
maximum, and as safe: on the event of Lemma (concentration) every lower bound is at most mu*.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paccf.theory.arguments import not_negative
from paccf.theory.radius import u_stat
from paccf.theory.regimes import effective_gap


def eliminated(
    means: ArrayLike, radii: ArrayLike, L: float, epsilon: float = 0.0, active: ArrayLike = True
) -> NDArray[np.bool_]:
    """Eq. (appendix_elim_rule) against the best lower bound: which candidates go, along the last axis.

    m goes iff b_m + u_m + L < max_j (b_j - u_j - L) - epsilon, where j runs over ``active`` candidates; ones
    already inactive stay gone. ``means`` are the b_m and ``radii`` their u_stat, broadcast together. On the
    event of Lemma (concentration) no candidate within epsilon of the best is ever returned as True. A single
    candidate is never eliminated. Refuses NaN, negative radii, L < 0 and epsilon < 0 with ValueError.
    """
    b, u = np.broadcast_arrays(np.asarray(means, float), np.asarray(radii, float))
    if not np.isfinite(b).all():
        raise ValueError("a mean is not finite; leave out candidates that have no score")
    if np.isnan(u).any() or (u < 0).any():
        raise ValueError("a radius is negative or not a number; use u_stat(n, ...) with n >= 1")
    margin = not_negative("L", L) * 2 + not_negative("epsilon", epsilon)
    alive = np.broadcast_to(np.asarray(active, bool), b.shape)
    best_lower = np.where(alive, b - u, -np.inf).max(axis=-1, keepdims=True)
    gone: NDArray[np.bool_] = ~alive | (b + u + margin < best_lower)
    return gone


def certified(
    n: float,
    n_best: float,
    gap: float,
    sigma: float,
    arms: float,
    delta: float,
    L: float,
    epsilon: float = 0.0,
) -> bool:
    """Eq. (upper_condition): 2 u_stat(n_m) + 2 u_stat(n_m*) < gap - 4L - epsilon.

    True means: on the event of Lemma (concentration) the rule deletes this candidate, whatever the draws.
    False promises nothing; the rule may still fire on lucky draws, and is then as safe.
    """
    room = effective_gap(gap, L) - not_negative("epsilon", epsilon)
    return 2 * u_stat(n, sigma, arms, delta) + 2 * u_stat(n_best, sigma, arms, delta) < room


def certified_at_least(
    n_min: float, gap: float, sigma: float, arms: float, delta: float, L: float, epsilon: float = 0.0
) -> bool:
    """Eq. (appendix_nmin_condition): 4 u_stat(n_min) < gap - 4L - epsilon, n_min the smaller count of the two.

    Stronger than Eq. (upper_condition) wherever u_stat decreases, which is everywhere for two or more arms.
    """
    return certified(n_min, n_min, gap, sigma, arms, delta, L, epsilon)
