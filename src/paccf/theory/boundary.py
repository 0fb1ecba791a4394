"""The controlled check at the sufficient boundary, Table (safety_ablation_main): SIMULATED.

The paper prints four rows and no settings. These are ours, chosen after seeing its rows, for round numbers and
its shape; nothing here reproduces its run.

One repetition is one frontier. The best child is worth 80 points; the others fall short by gaps drawn around
Delta = 20 points, log-normal with median Delta. The evaluator adds a persistent bias and fresh Gaussian noise
to every draw. The bias is *saturated* by default, the worst that |bias| <= L allows: -L on the best, +L on the
others, so that every observed gap is short by 2L (at L = .4 Delta, 16 of 20 points). ``uniform`` draws it from
[-L, L] per candidate instead.

- pruning: the share of suboptimal children that interval elimination deletes by the last of a doubling series
  of inspections, against the best lower bound, with the paper's own radius and the true L.
- UCT PCS: how often UCB1 at this frontier, with as many draws in total, gives its most visits to the best
  child. It knows nothing of L.
- PAC-CF PCS: how often the best child is never deleted. The paper does not define correct selection; survival
  is the reading under which .98 beside UCT's .42 is possible, since a rule that must return the top mean of
  biased scores fails as UCT does. ``chosen`` is that figure: the top mean among the survivors is the best child.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from paccf.theory.arguments import count, not_negative, positive, probability
from paccf.theory.elimination import eliminated
from paccf.theory.radius import u_stat

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

BEST_VALUE = 80.0  # ours; only differences matter, apart from UCT's scale
UCT_C = math.sqrt(2)  # UCB1's constant for rewards on a unit scale (Auer, Cesa-Bianchi & Fischer 2002)
SCALE = 100.0  # the paper's scores run from 0 to 100


@dataclass(frozen=True)
class Printed:
    """A row of the paper's Table (safety_ablation_main)."""

    level: float  # L / Delta
    pruning: float
    uct: float
    paccf: float


PRINTED = (  # paper, Table (safety_ablation_main)
    Printed(0.05, 0.991, 1.00, 0.97),
    Printed(0.15, 0.913, 1.00, 0.96),
    Printed(0.25, 0.444, 0.98, 0.98),
    Printed(0.40, 0.089, 0.42, 0.98),
)

LEVELS = tuple(row.level for row in PRINTED)

DIFFERENCES = (  # at the default settings
    "The paper prints no settings for this check: ours were chosen with its rows in view. Compare shapes.",
    "PAC-CF PCS is 1.00 here and .96-.98 there: the union radius is far wider than the noise it must cover (it is "
    "crossed at about a tenth of delta in simulation), so our best child is never lost. The promise is 1 - delta.",
    "UCT at L = .25 Delta is lower here (.95 against .98): our gaps are random, and in some frontiers one is below "
    "2L, where the biased means are in the wrong order and no number of draws helps.",
    "Pruning at L = .05 Delta is complete here (99.1 % there): hardly a gap drawn is below 4L plus the noise.",
    "Pruning does not stop at 4L = Delta in either: Delta is the typical gap, and children further off still go.",
)


@dataclass(frozen=True)
class Setting:
    """What a check holds fixed while L varies. Refuses impossible values with ValueError."""

    children: int = 4
    gap: float = 20.0  # Delta, in points
    spread: float = 1 / 3  # standard deviation of ln(gap)
    sigma: float = 2.0  # of one draw, in points
    draws: int = 400  # per child; UCT gets children * draws in all
    delta: float = 0.05
    epsilon: float = 0.0
    bias: str = "saturated"
    repetitions: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("gap", "sigma"):
            positive(name, getattr(self, name))
        for name in ("spread", "epsilon", "seed"):
            not_negative(name, getattr(self, name))
        count("draws", self.draws), count("repetitions", self.repetitions), probability("delta", self.delta)
        if self.children < 2:
            raise ValueError(f"children is {self.children}; a frontier to prune needs 2 or more")
        if self.bias not in ("saturated", "uniform"):
            raise ValueError(f"bias is {self.bias!r}; give 'saturated' or 'uniform'")


@dataclass(frozen=True)
class Share:
    """A share of cases with a 95 % interval; ``of`` is the denominator it was counted over."""

    value: float
    of: int
    low: float
    high: float


@dataclass(frozen=True)
class Row:
    """One imposed bias level, SIMULATED. ``level`` is L / Delta."""

    level: float
    L: float
    sufficient: bool  # Delta - 4L > epsilon
    pruning: Share
    uct: Share
    survived: Share
    chosen: Share


def check(setting: Setting, levels: Sequence[float] = LEVELS) -> list[Row]:
    """The table, a row per level. All levels see the same frontiers, bias directions and noise. A second each."""
    return [_row(setting, not_negative("level", level)) for level in levels]


def _row(setting: Setting, level: float) -> Row:
    L = level * setting.gap
    means = _observed_means(setting, L)
    active, chosen = _eliminate(setting, means, L)
    gone = ~active[:, 1:]
    return Row(
        level,
        L,
        setting.gap - 4 * L > setting.epsilon,
        _clustered(gone.mean(axis=1), gone.size),
        _share(_uct(setting, means) == 0),
        _share(active[:, 0]),
        _share(chosen == 0),
    )


def _stream(setting: Setting, purpose: int) -> Generator:
    return np.random.default_rng(np.random.SeedSequence((setting.seed, purpose)))


def _observed_means(setting: Setting, L: float) -> Floats:
    """Values plus persistent bias, (repetitions, children); the best child is column 0."""
    shape = (setting.repetitions, setting.children)
    gaps = setting.gap * np.exp(setting.spread * _stream(setting, 0).standard_normal(shape))
    gaps[:, 0] = 0
    if setting.bias == "uniform":
        direction = _stream(setting, 1).uniform(-1, 1, shape)
    else:
        direction = np.ones(shape)
        direction[:, 0] = -1
    return BEST_VALUE - gaps + L * direction


def _inspections(draws: int) -> list[int]:
    """draws, draws/2, draws/4, ... in ascending order; the radius holds at all of them together."""
    counts = [draws]
    while counts[-1] >= 32:
        counts.append(counts[-1] // 2)
    return counts[::-1]


def _eliminate(setting: Setting, means: Floats, L: float) -> tuple[Mask, NDArray[np.intp]]:
    """Interval elimination on real draws: who is left at the end, and the survivor with the top mean."""
    noise = _stream(setting, 2)
    active = np.ones(means.shape, bool)
    total, done, average = np.zeros(means.shape), 0, means
    for n in _inspections(setting.draws):
        for _ in range(n - done):
            total += means + setting.sigma * noise.standard_normal(means.shape)
        done, average = n, total / n
        radius = u_stat(n, setting.sigma, setting.children, setting.delta)
        active &= ~eliminated(average, radius, L, setting.epsilon, active)
    return active, np.where(active, average, -np.inf).argmax(axis=1)


def _uct(setting: Setting, means: Floats) -> NDArray[np.intp]:
    """UCB1 over the children, all repetitions at once: the most visited child (the first of equals)."""
    noise, rows = _stream(setting, 3), np.arange(len(means))
    visits = np.ones(means.shape)
    total = means + setting.sigma * noise.standard_normal(means.shape)
    for t in range(setting.children, setting.children * setting.draws):
        bonus = UCT_C * SCALE * np.sqrt(math.log(t) / visits)
        child = (total / visits + bonus).argmax(axis=1)
        total[rows, child] += means[rows, child] + setting.sigma * noise.standard_normal(len(rows))
        visits[rows, child] += 1
    return np.asarray(visits.argmax(axis=1))


_Z = 1.959963984540054  # the .975 normal quantile


def _share(hits: Mask) -> Share:
    return _wilson(float(hits.mean()), len(hits), len(hits))


def _wilson(p: float, n: int, of: int) -> Share:
    """Wilson's score interval for a share ``p`` of ``n`` independent cases."""
    centre = (p + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * math.sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2))
    return Share(p, of, max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half)))


def _clustered(shares: Floats, of: int) -> Share:
    """A mean over repetitions, whose children share a best child: the error counts repetitions, not children."""
    n, p = len(shares), float(shares.mean())
    if not np.ptp(shares):
        return _wilson(p, n, of)
    half = _Z * float(shares.std(ddof=1)) / math.sqrt(n)
    return Share(p, of, max(0.0, p - half), min(1.0, p + half))
