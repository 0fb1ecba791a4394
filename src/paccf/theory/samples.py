"""How many draws a certified deletion needs: Theorem (complexity), inverted exactly and in its leading order.

Needs SciPy (the ``lab`` extra) for the Lambert function.
"""

from __future__ import annotations

import math

from scipy.special import lambertw

from paccf.theory.arguments import count, finite, not_negative, positive, probability
from paccf.theory.elimination import certified_at_least
from paccf.theory.regimes import effective_gap

_EXACT = 2.0**50  # above this, one draw more or less is below double precision


def _room(gap: float, sigma: float, arms: float, delta: float, L: float, epsilon: float) -> float:
    positive("sigma", sigma), count("arms", arms), probability("delta", delta), finite("gap", gap)
    return effective_gap(gap, L) - not_negative("epsilon", epsilon)


def exact_samples(gap: float, sigma: float, arms: float, delta: float, L: float = 0.0, epsilon: float = 0.0) -> float:
    """The real n above which Eq. (appendix_nmin_condition) holds for good, by the branch W_-1 of Lambert's W.

    n = -2 C2 W_-1(-1 / (2 C2 sqrt(C1))), with C1 = pi^2 K / (3 delta) and C2 = 32 sigma^2 / (gap-4L-eps)^2.
    The inversion has a root only if 2 C2 sqrt(C1) >= e; otherwise, and if the root lies below one draw, the
    answer is 1. Infinite when gap <= 4L + epsilon: that is an answer, not an error.
    """
    room = _room(gap, sigma, arms, delta, L, epsilon)
    if room <= 0:
        return math.inf
    root_c1 = math.sqrt(math.pi**2 * arms / (3 * delta))
    ratio = sigma / room
    c2 = 32 * ratio * ratio  # a product overflows to infinity, a power would raise
    if 2 * c2 * root_c1 < math.e:
        return 1.0
    return max(1.0, -2 * c2 * float(lambertw(-1 / (2 * c2 * root_c1), -1).real))


def least_samples(gap: float, sigma: float, arms: float, delta: float, L: float = 0.0, epsilon: float = 0.0) -> float:
    """The smallest whole n with 4 u_stat(n) < gap - 4L - epsilon; infinity when gap <= 4L + epsilon.

    Exact up to 2^50 draws, correct to double precision above.
    """
    n = exact_samples(gap, sigma, arms, delta, L, epsilon)
    if n > _EXACT:
        return n if math.isinf(n) else math.floor(n) + 1

    def enough(k: int) -> bool:
        return certified_at_least(k, gap, sigma, arms, delta, L, epsilon)

    if enough(1):
        return 1
    k = math.ceil(n)
    while not enough(k):  # strict inequality, and rounding of the root
        k += 1
    while enough(k - 1):
        k -= 1
    return k


def leading_samples(gap: float, sigma: float, arms: float, delta: float, L: float = 0.0, epsilon: float = 0.0) -> float:
    """Eq. (sample_complexity_main) without its constant: sigma^2 [ln(K/delta) + ln(g^-2)] / (g - epsilon)^2.

    g = gap - 4L. A shape for comparing settings, not a number of draws: the paper claims it up to constants,
    and its ln(g^-2) depends on the unit of the scores, so that it can even be negative for g > 1. Infinite
    when g <= epsilon.
    """
    room = _room(gap, sigma, arms, delta, L, epsilon)
    if room <= 0:
        return math.inf
    ratio = sigma / room
    return ratio * ratio * (math.log(arms / delta) - 2 * math.log(effective_gap(gap, L)))
