"""How far an evaluator's mean may be from the truth: Eq. (ustat_main), and what selection loses by it.

Everything here rests on Assumption (persistent_bias): each draw of a candidate has a conditional mean within
L of the candidate's value, and a conditionally sigma^2-sub-Gaussian residual. Then, with probability at least
1 - delta, |b_m(n) - mu_m| <= u_dist(n) for all candidates and all n >= 1 at once (Lemma concentration).
"""

from __future__ import annotations

import math

from paccf.theory.arguments import count, not_negative, positive, probability


def u_stat(n: float, sigma: float, arms: float, delta: float) -> float:
    """Eq. (ustat_main), the part that sampling shrinks: sqrt(2 sigma^2 ln(pi^2 n^2 K / (3 delta)) / n).

    ``arms`` is K = |A_t|, the size of the frontier. Decreasing in n for K >= 2 and any delta < .89; for K = 1
    and delta above .82 it rises once, from n = 1 to n = 2. Refuses sigma <= 0, n < 1, arms < 1 and a delta
    outside (0, 1) with ValueError.
    """
    positive("sigma", sigma), count("n", n), count("arms", arms), probability("delta", delta)
    log = math.log(math.pi**2 * arms / (3 * delta)) + 2 * math.log(n)  # n^2 would overflow at n > 1e154
    return sigma * math.sqrt(2 * log / n)


def u_dist(n: float, sigma: float, arms: float, delta: float, L: float) -> float:
    """Eq. (ustat_main), the whole radius: u_stat(n) + L. Draws shrink the first part and never the second."""
    return u_stat(n, sigma, arms, delta) + not_negative("L", L)


def selection_loss(u_best: float, u_chosen: float, L: float) -> float:
    """Eq. (graceful_general): what taking the highest empirical mean can cost, u + u + 2L.

    Holds on the event of Lemma (concentration), for the u_stat of the true best and of the chosen candidate.
    """
    return not_negative("u_best", u_best) + not_negative("u_chosen", u_chosen) + 2 * not_negative("L", L)


def degraded_loss(u_best: float, u_chosen: float, L: float, epsilon: float = 0.0) -> float | None:
    """Corollary (degradation): 4L + epsilon, or None while a radius still exceeds L + epsilon / 2.

    None is the point of the corollary: bounded bias alone does not earn the statement, small radii do.
    """
    selection_loss(u_best, u_chosen, L)  # refuses what it refuses
    enough = L + not_negative("epsilon", epsilon) / 2
    return 4 * L + epsilon if max(u_best, u_chosen) <= enough else None
