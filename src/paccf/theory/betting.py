"""A confidence sequence for bounded scores that learns their spread: hedged capital, by betting.

The paper's radius must be told sigma, and for scores known only to lie in [0, 100] the safe sigma is 50. A
gambler who bets against "the mean is m" needs no sigma: the capital is a martingale if m is right, so growth
beyond 2 / alpha on either side rules m out at any time (Ville). Waudby-Smith & Ramdas (2024), hedged capital
with predictable plug-in bets. NumPy only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paccf.theory.arguments import count, finite, probability

_HALVINGS = 60  # of the unit interval: to the last bit of a double
_LARGEST_STAKE = 0.5  # Waudby-Smith & Ramdas (2024): c = 1/2 or 3/4; a share of what would ruin the gambler


@dataclass(frozen=True)
class Betting:
    """For scores in [low, high]: no sub-Gaussian constant, width follows the draws' own spread.

    Over ``arms`` candidates and all counts together wrong with probability at most delta. Under persistent
    bias that drifts within L the ends still hold after widening by L: the lower end then bounds the largest
    conditional mean from below, the upper end the smallest from above.
    """

    low: float
    high: float
    arms: int
    delta: float

    def __post_init__(self) -> None:
        count("arms", self.arms), probability("delta", self.delta)
        if not finite("low", self.low) < finite("high", self.high):
            raise ValueError(f"low is {self.low} and high is {self.high}; give low below high")

    def interval(self, observations: Sequence[float]) -> tuple[float, float]:
        """Every mean not yet ruled out at any prefix of the draws, found to double precision.

        Order matters, as in any betting. Lower above upper can happen, with probability at most delta / arms,
        and says that the assumption or the luck failed. Costs 120 passes over the draws. Refuses no draws,
        and draws outside [low, high].
        """
        x = self._unit(observations)
        if x.ndim != 1 or not x.size:
            raise ValueError(f"observations have shape {x.shape}; give one candidate's draws, at least one")
        bets = self._bets(x)
        ends = [self._end(x, bets), 1 - self._end(1 - x, bets)]
        width = self.high - self.low
        return self.low + width * ends[0], self.low + width * ends[1]

    def log_capital(self, observations: ArrayLike, mean: float) -> NDArray[np.float64]:
        """Log of twice the hedged capital against ``mean`` after each draw, along the last axis.

        The larger of the two sides, each started with one unit: ``mean`` is ruled out when this has ever
        reached ln(2 arms / delta).
        """
        x, m = self._unit(observations), float(self._unit(mean))
        bets = self._bets(x)
        return np.maximum(_wealth(x, bets, m), _wealth(1 - x, bets, 1 - m))

    @property
    def threshold(self) -> float:
        """ln(2 arms / delta): one side's log capital that rules a mean out."""
        return math.log(2 * self.arms / self.delta)

    def _unit(self, values: ArrayLike) -> NDArray[np.float64]:
        x = np.asarray(values, float)
        if not ((x >= self.low) & (x <= self.high)).all():  # false for NaN too
            raise ValueError(f"a score lies outside [{self.low:g}, {self.high:g}]; give the scale it is on")
        return (x - self.low) / (self.high - self.low)

    def _bets(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The stake for each draw from the draws before it: sqrt(2 ln(2/alpha) / (var t ln(1+t)))."""
        t = np.arange(1, x.shape[-1] + 1)
        mean = (0.5 + np.cumsum(x, -1)) / (t + 1)
        var = (0.25 + np.cumsum((x - mean) ** 2, -1)) / (t + 1)
        before = np.concatenate([np.full((*x.shape[:-1], 1), 0.25), var[..., :-1]], -1)
        return np.asarray(np.sqrt(2 * self.threshold / (before * t * np.log1p(t))))

    def _end(self, x: NDArray[np.float64], bets: NDArray[np.float64]) -> float:
        """The largest m that the upward side rules out; its wealth falls in m, so halving finds it."""
        out, kept = 0.0, 1.0
        for _ in range(_HALVINGS):
            m = (out + kept) / 2
            ruled_out = bool(_wealth(x, bets, m).max() >= self.threshold)
            out, kept = (m, kept) if ruled_out else (out, m)
        return out


def _wealth(x: NDArray[np.float64], bets: NDArray[np.float64], m: float) -> NDArray[np.float64]:
    """Log capital of the side that bets on draws above m."""
    stakes = np.minimum(bets, _LARGEST_STAKE / m) if m > 0 else bets
    return np.cumsum(np.log1p(stakes * (x - m)), -1)
