"""From task scores to a margin: which order statistic, what it promises, and at which n it exists.

Two ranks, both exact. The marginal rank k_Q = ceil((n+1) Q) (Eq. direct_conformal) promises coverage Q on average
over calibration samples. The PAC rank is the smallest k whose margin has coverage >= Q with confidence 1 - delta
over calibration samples: P(Bin(n, Q) <= k - 1) >= 1 - delta (training-conditional validity, Vovk 2012). The first
needs exchangeable tasks, the second independent ones.

Q, delta and confidence are read as the decimals a person writes: 0.95 is 19/20.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from paccf.method.scores import exact
from paccf.method.tails import binomial_cdf, lower_limit, smallest_rank

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from paccf.method.scores import Exact

RuleName = Literal["marginal", "pac"]


def level(value: Exact, name: str = "Q") -> Fraction:
    """A probability strictly between 0 and 1, exactly as written."""
    q = exact(value)
    if not 0 < q < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, not {value}")
    return q


def rank(n: int, q: Exact) -> int:
    """k_Q = ceil((n + 1) Q); it is infeasible when it exceeds n."""
    if n < 0:
        raise ValueError(f"the number of tasks cannot be negative: {n}")
    share = level(q)
    return -(-(n + 1) * share.numerator // share.denominator)


def required_n(q: Exact) -> int:
    """The smallest n whose marginal rank is feasible: ceil(Q / (1 - Q)), e.g. 19 at Q = 0.95."""
    share = level(q)
    return -(-share.numerator // (share.denominator - share.numerator))


def miscoverage_bound(n: int, k: int) -> Fraction:
    """1 - k/(n+1), the marginal bound of rank k; 0 for the infeasible rank n + 1, which keeps everything."""
    return Fraction(n + 1 - k, n + 1)


def pac_rank(n: int, q: Exact, delta: Exact) -> int:
    """min{k : P(Bin(n, Q) <= k - 1) >= 1 - delta}; n + 1, which is infeasible, if Q**n > delta."""
    if n < 0:
        raise ValueError(f"the number of tasks cannot be negative: {n}")
    return smallest_rank(n, level(q), level(delta, "delta"))


def required_n_pac(q: Exact, delta: Exact) -> int:
    """The smallest n with Q**n <= delta, e.g. 45 at Q = 0.95, delta = 0.1."""
    share, failure = level(q), level(delta, "delta")
    with localcontext() as digits:
        digits.prec = 120
        logs = [(Decimal(x.numerator) / Decimal(x.denominator)).ln() for x in (failure, share)]
        n = max(1, math.ceil(logs[0] / logs[1]))
    while n < 10_000 and share**n > failure:  # where the quotient is a whole number, rounding decides nothing
        n += 1
    while 1 < n < 10_000 and share ** (n - 1) <= failure:
        n -= 1
    return n


def confidence(n: int, k: int, q: Exact) -> float:
    """P(coverage of the k-th of n task scores >= Q), over calibration samples: P(Bin(n, Q) <= k - 1). Exact for
    continuous scores, a lower bound with ties; 1 for an infeasible rank."""
    return 1.0 if k > n else binomial_cdf(k - 1, n, level(q))


def coverage_held(n: int, k: int, confidence: Exact) -> float:
    """The largest coverage that the k-th of n task scores has with this confidence, rounded down."""
    return 1.0 if k > n else lower_limit(k, n, 1 - level(confidence, "confidence"))


@dataclass(frozen=True, slots=True)
class Margin:
    """A frozen rank and the margin it selects.

    ``value`` is `math.inf` when the rank is infeasible or falls on an unresolved task: keep everything. ``need_n``
    is the remedy, the number of exposed tasks from which on the rank exists.
    """

    value: Fraction | float
    n: int
    k: int
    q: Fraction
    rule: RuleName
    delta: Fraction | None
    need_n: int

    @property
    def feasible(self) -> bool:
        return self.k <= self.n

    @property
    def bound(self) -> Fraction:
        """The marginal miscoverage bound of the rank."""
        return miscoverage_bound(self.n, self.k)

    @property
    def at_maximum(self) -> bool:
        """Whether the margin is the largest task score, and so as unstable as a sample maximum."""
        return self.k == self.n


def margin(deficits: Sequence[Fraction | float], q: Exact, delta: Exact | None = None) -> Margin:
    """The margin of these exposed tasks' scores: marginal without ``delta``, PAC with it.

    ``deficits`` has one number per exposed task, `math.inf` for an unresolved one; tasks without protected exposure
    are left out, not zero. An infeasible rank is a value (infinite margin), never an exception and never a clip.
    """
    n = len(deficits)
    if any(not d >= 0 for d in deficits):
        raise ValueError("task scores are never negative or NaN; a task without exposure is left out of the list")
    if delta is None:
        k, need = rank(n, q), required_n(q)
    else:
        k, need = pac_rank(n, q, delta), required_n_pac(q, delta)
    value = sorted(deficits)[k - 1] if k <= n else math.inf
    failure = None if delta is None else level(delta, "delta")
    return Margin(value, n, k, level(q), "marginal" if delta is None else "pac", failure, need)


def quantile(scores: NDArray[np.floating], q: Exact) -> float:
    """The conformal quantile of an array of scores by selection; `math.inf` if its rank is infeasible."""
    import numpy as np

    k = rank(scores.size, q)
    if k > scores.size:
        return math.inf
    return float(np.partition(scores, k - 1, axis=None)[k - 1])


def p_values(
    calibration: NDArray[np.floating], scores: NDArray[np.floating], coins: NDArray[np.floating]
) -> NDArray[np.float64]:
    """Smoothed conformal p-values: (#{C_i > c} + U (#{C_i = c} + 1)) / (n + 1), uniform under exchangeability.

    ``coins`` are the U in [0, 1], one a score. The + 1 of the score itself belongs inside the tie term.
    """
    import numpy as np

    ordered = np.sort(calibration, axis=None)
    above = ordered.size - np.searchsorted(ordered, scores, side="right")
    ties = ordered.size - above - np.searchsorted(ordered, scores, side="left")
    result: NDArray[np.float64] = (above + coins * (ties + 1)) / (ordered.size + 1)
    return result
