"""How good the evaluator is: its blind scores against the labels found later.

Over the candidates of Native test frontiers that are eligible, scored and labelled: how well scores rank (within a
frontier, where the pruning is decided, and over all), what share of candidates is protected at each score, what the
place in the prompt does to a score, and how much of the variance is between candidates and how much within one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from paccf.method.tails import clopper_pearson
from paccf.record.values import Frontier

BINS = 10  # ours: of the calibration curve


@dataclass(frozen=True, slots=True)
class Bin:
    """Candidates with scores from ``low`` up to ``high`` (the last bin includes it)."""

    low: float
    high: float
    candidates: int
    protected: int
    mean: float  # of their scores

    @property
    def share(self) -> float:
        return self.protected / self.candidates

    @property
    def interval(self) -> tuple[float, float]:
        """Clopper-Pearson, 95 %; candidates of one task are not independent, so it is too narrow rather than wide."""
        return clopper_pearson(self.protected, self.candidates)


@dataclass(frozen=True, slots=True)
class Position:
    """What the place in the microbatch does to an observation: the mean difference between the last place and the
    first, in points, from deviations of observations from their own candidate's mean; 95 % by tasks."""

    slope: float
    lo: float
    hi: float
    observations: int
    tasks: int


@dataclass(slots=True)
class Evaluator:
    """Feed frontiers with `add`, then ask."""

    scores: list[float] = field(default_factory=list)
    labels: list[bool] = field(default_factory=list)
    wins: float = 0.0  # protected above unprotected at one frontier, ties one half
    matches: int = 0
    frontiers: int = 0
    _means: list[float] = field(default_factory=list)
    _variances: list[float] = field(default_factory=list)
    _draws: set[int] = field(default_factory=set)
    _slopes: dict[str, list[float]] = field(default_factory=dict)  # task -> sum x*y, sum x*x, count

    def add(self, task: str, frontier: Frontier, asked: Sequence[tuple[int, Sequence[int]]] | None = None) -> None:
        """Take one frontier into account; ``asked`` are the microbatches of every draw, in the order asked."""
        self.frontiers += 1
        good: list[float] = []
        bad: list[float] = []
        for i, c in enumerate(frontier.candidates):
            if not c.eligible or c.score is None:
                continue
            if c.observations is not None and len(c.observations) > 1:
                self._spread(c.observations)
            label = None if frontier.protected is None else frontier.protected[i]
            if label is None:
                continue
            self.scores.append(c.score)
            self.labels.append(label)
            (good if label else bad).append(c.score)
        if good and bad:
            self.matches += len(good) * len(bad)
            self.wins += sum((g > b) + (g == b) / 2 for g in good for b in bad)
        if asked is not None:
            self._place(task, frontier, asked)

    def _spread(self, draws: Sequence[float]) -> None:
        mean = sum(draws) / len(draws)
        self._draws.add(len(draws))
        self._means.append(mean)
        self._variances.append(sum((y - mean) ** 2 for y in draws) / (len(draws) - 1))

    def _place(self, task: str, frontier: Frontier, asked: Sequence[tuple[int, Sequence[int]]]) -> None:
        sums = self._slopes.setdefault(task, [0.0, 0.0, 0.0])
        for draw, batch in asked:
            if len(batch) < 2:
                continue
            for place, i in enumerate(batch):
                c = frontier.candidates[i]
                if c.observations is None or c.score is None or draw >= len(c.observations):
                    continue
                x = place / (len(batch) - 1) - 0.5
                sums[0] += x * (c.observations[draw] - c.score)
                sums[1] += x * x
                sums[2] += 1

    @property
    def within_auc(self) -> float | None:
        """P(a protected candidate scores above an unprotected one of its frontier), ties one half."""
        return self.wins / self.matches if self.matches else None

    @property
    def auc(self) -> float | None:
        """The same over all candidates of the cell, whatever their frontier."""
        return area(np.array(self.scores), np.array(self.labels, bool))

    @property
    def draws(self) -> int | None:
        """Observations a candidate, where they are as many for all."""
        return next(iter(self._draws)) if len(self._draws) == 1 else None

    @property
    def between(self) -> float | None:
        """Variance of candidates' true means: that of the means less what the draws contribute."""
        if len(self._means) < 2 or self.within is None or self.draws is None:
            return None
        return max(0.0, float(np.var(self._means, ddof=1)) - self.within / self.draws)

    @property
    def within(self) -> float | None:
        """Variance of one candidate's draws around its mean."""
        return float(np.mean(self._variances)) if self._variances else None

    @property
    def position(self) -> Position | None:
        """See `Position`; `None` without the order of asking or with fewer than two tasks."""
        sums = np.array([s for s in self._slopes.values() if s[1] > 0])
        if len(sums) < 2:
            return None
        slope = float(sums[:, 0].sum() / sums[:, 1].sum())
        off = sums[:, 0] - slope * sums[:, 1]
        n = len(sums)
        half = 1.959964 * float(np.sqrt((off**2).sum() * n / (n - 1))) / float(sums[:, 1].sum())
        return Position(slope, slope - half, slope + half, int(sums[:, 2].sum()), n)

    def curve(self, bins: int = BINS) -> list[Bin]:
        """The share of protected candidates by score, in equal bins between the least and the largest score."""
        if not self.scores:
            return []
        scores, labels = np.array(self.scores), np.array(self.labels, bool)
        low, high = (0.0, 100.0) if scores.min() >= 0 and scores.max() <= 100 else (scores.min(), scores.max())
        edges = np.linspace(low, high, bins + 1)
        place = np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, bins - 1)
        found = []
        for i in range(bins):
            here = place == i
            if here.any():
                ends = float(edges[i]), float(edges[i + 1])
                found.append(Bin(*ends, int(here.sum()), int(labels[here].sum()), float(scores[here].mean())))
        return found


def area(scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> float | None:
    """The area under the ROC curve, ties one half; `None` unless both labels occur."""
    good, bad = int(labels.sum()), int((~labels).sum())
    if not good or not bad:
        return None
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    ranks = (last - (count - 1) / 2)[place]
    return float((ranks[labels].sum() - good * (good + 1) / 2) / (good * bad))
