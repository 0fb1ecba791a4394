"""Native-trace coverage of a frozen margin on held-out frontiers, and the offline threshold diagnostic.

Everything here holds the logged traces fixed. Task coverage is the object of Proposition native_trace_coverage; the
candidate-prune proxy is the share of scored candidate occurrences beyond the threshold on those fixed traces. It is
not a realized saving: a search that prunes visits other frontiers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from paccf.method.admission import places_of
from paccf.method.certificate import Certificate
from paccf.method.deficit import Label, TaskDeficits, shared_labels
from paccf.method.scores import UNIT, align
from paccf.method.tails import beta_binomial_cdf, clopper_pearson, fisher_exact

if TYPE_CHECKING:
    from paccf.method.scores import Score

_DISTINCT = 1 << 16  # ours: distinct gaps held before the sweep's resolution is halved


@dataclass(slots=True)
class Gaps:
    """A histogram of candidate gaps s* - s in bounded memory: exact until there are too many distinct ones, then
    on a grid twice as coarse, each gap rounded up to it."""

    counts: Counter[int] = field(default_factory=Counter)
    grid: int = 1  # in units of 1 / (R * UNIT)

    def add(self, gaps: list[int]) -> None:
        self.counts.update(gaps if self.grid == 1 else [-(-g // self.grid) * self.grid for g in gaps])
        while len(self.counts) > _DISTINCT:
            self.grid *= 2
            finer, self.counts = self.counts, Counter()
            for gap, count in finer.items():
                self.counts[-(-gap // self.grid) * self.grid] += count


@dataclass(frozen=True, slots=True)
class Point:
    """One threshold of the sweep."""

    theta: Fraction
    covered: int  # of the exposed tasks, unresolved ones counted as lost
    pruned: int  # of the scored candidates
    protected_pruned: int  # of the protected candidates


@dataclass(slots=True)
class Coverage:
    """Feed held-out frontiers with `add`, then ask. Shares have their denominators beside them."""

    certificate: Certificate
    promised: bool = field(default=True, kw_only=True)  # False for traces of a budget over the certificate's
    deficits: TaskDeficits = field(init=False)
    candidates: int = 0  # scored, eligible occurrences
    protected: int = 0  # eligible occurrences labelled true, scored or not
    pruned: int = 0  # beyond the frozen margin, exact
    protected_pruned: int = 0
    _gaps: dict[int, Gaps] = field(default_factory=dict)  # by R
    _protected_gaps: dict[int, Gaps] = field(default_factory=dict)
    _limits: dict[int, int] = field(default_factory=dict)  # the margin in units, by R
    theta: Fraction | float = field(init=False)  # the frozen operating point: margin + epsilon

    def __post_init__(self) -> None:
        self.deficits = TaskDeficits(self.certificate.observations or 1)
        self.theta = self.certificate.limit + Fraction(self.certificate.epsilon)

    def add(
        self,
        task: str,
        scores: Sequence[Score],
        protected: Sequence[Label],
        eligible: Sequence[bool] | None = None,
        candidates: Sequence[str] | None = None,
    ) -> None:
        """Take one frontier into account."""
        self.deficits.add(task, scores, protected, eligible, candidates)
        if candidates is not None:
            protected = shared_labels(protected, candidates)
        if eligible is not None:
            places = places_of(scores, eligible)
            scores, protected = [scores[i] for i in places], [protected[i] for i in places]
        totals, repeats = align(scores, self.deficits.observations)
        top = max([t for t in totals if t is not None], default=0)
        gaps = [top - t for t in totals if t is not None]
        saved = [top - t for t, label in zip(totals, protected, strict=True) if label and t is not None]
        self.candidates += len(gaps)
        self.protected += sum(label is True for label in protected)
        if not math.isinf(self.theta):
            limit = self._limits.get(repeats)
            if limit is None:
                limit = self._limits[repeats] = math.floor(self.theta * repeats * UNIT)
            self.pruned += sum(g > limit for g in gaps)
            self.protected_pruned += sum(g > limit for g in saved)
        self._gaps.setdefault(repeats, Gaps()).add(gaps)
        self._protected_gaps.setdefault(repeats, Gaps()).add(saved)

    @property
    def tasks(self) -> int:
        """The denominator of coverage: exposed tasks, or all of them if the certificate's target is all."""
        return self.deficits.tasks - (0 if self.certificate.target == "all" else self.deficits.missing)

    def covered(self, theta: Fraction | float) -> tuple[int, int]:
        """Tasks certainly covered at ``theta``, and tasks that unresolved labels leave open."""
        known, open_ = self.deficits.resolved, 0
        sure = self.deficits.missing if self.certificate.target == "all" else 0
        for task, score in self.deficits.exposed.items():
            if score <= theta:
                sure += 1
            elif score == math.inf:
                least = known[task]
                open_ += least is None or least <= theta
        return sure, open_

    @property
    def interval(self) -> tuple[float, float]:
        """Clopper-Pearson, 95 %, with unresolved tasks counted as lost."""
        return clopper_pearson(self.covered(self.theta)[0], self.tasks)

    @property
    def reference(self) -> float | None:
        """P(a count this low or lower) if calibration and these tasks are exchangeable: beta-binomial. `None` where
        they are not, at a budget that the margin is not for."""
        found = self.certificate
        if not found.feasible or not self.tasks or not self.promised:
            return None
        return beta_binomial_cdf(self.covered(self.theta)[0], self.tasks, found.k, found.n)

    @property
    def exposure_p(self) -> float | None:
        """Fisher's two-sided p-value that calibration and these tasks expose protected candidates at one rate."""
        found = self.certificate.counts
        if not found.tasks or not self.deficits.tasks:
            return None
        return fisher_exact(found.exposed, found.tasks, len(self.deficits.exposed), self.deficits.tasks)

    @property
    def reused(self) -> list[str]:
        """Tasks that the certificate was calibrated on: coverage on them is no evidence."""
        calibrated = {task for task, _ in self.certificate.deficits}
        return [task for task in self.deficits.exposed if task in calibrated]

    @property
    def resolution(self) -> Fraction:
        """The finest gap the sweep tells apart; the frozen point itself is always exact."""
        return max((Fraction(g.grid, r * UNIT) for r, g in self._gaps.items()), default=Fraction(1, UNIT))

    @property
    def widest(self) -> Fraction:
        """The largest gap of a scored candidate to the best of its frontier, to within the resolution."""
        return max((Fraction(max(g.counts), r * UNIT) for r, g in self._gaps.items() if g.counts), default=Fraction(0))

    def sweep(self) -> list[Point]:
        """Every threshold at which coverage or pruning changes, from 0 upward, and the frozen one."""
        scores = sorted(c for c in self.deficits.exposed.values() if c != math.inf)
        free = self.deficits.missing if self.certificate.target == "all" else 0
        all_gaps, protected_gaps = _merge(self._gaps), _merge(self._protected_gaps)
        frozen = [] if math.isinf(self.theta) else [Fraction(self.theta)]
        thetas = sorted({Fraction(0), *frozen, *all_gaps, *(Fraction(c) for c in scores)})
        pruned, protected_pruned = self.candidates, sum(protected_gaps.values())
        points, done = [], 0
        for theta in thetas:
            while done < len(scores) and scores[done] <= theta:
                done += 1
            pruned -= all_gaps.get(theta, 0)
            protected_pruned -= protected_gaps.get(theta, 0)
            if theta < self.theta:
                points.append(Point(theta, free + done, pruned, protected_pruned))
            else:  # from the frozen point on, which is exact also on a coarse grid, no more than there
                least = min(pruned, self.pruned), min(protected_pruned, self.protected_pruned)
                points.append(Point(theta, free + done, *least))
        return points


def _merge(by_repeats: dict[int, Gaps]) -> dict[Fraction, int]:
    merged: Counter[Fraction] = Counter()
    for repeats, gaps in by_repeats.items():
        for gap, count in gaps.counts.items():
            merged[Fraction(gap, repeats * UNIT)] += count
    return merged
