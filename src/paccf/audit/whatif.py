"""What a margin would have saved and lost on recorded searches, before anything is turned on.

The recorded traces are held fixed. A frontier is *cut off* at a threshold if the path to its node goes through a
candidate that the threshold drops, at the last frontier before it where that candidate stood: then nothing that was
spent on it, or below it, would have been. Of a frontier with candidates of several parents, such as a beam's level,
every candidate has a path of its own, and what was spent is shared out evenly among them. What a pruned search would
have done instead with that budget no log can say: these are gross figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from paccf.method.conformal import Margin, margin
from paccf.method.deficit import Label, TaskDeficits, shared_labels
from paccf.method.scores import UNIT, align

if TYPE_CHECKING:
    from paccf.method.scores import Exact, Score

_COMMON = 720_720  # lcm(1, ..., 16): gaps over up to 16 observations stay integers in one unit
_Gap = int | Fraction  # in units of 1 / (UNIT * _COMMON)


@dataclass(frozen=True, slots=True)
class Seen:
    """One recorded frontier: ``cut`` is the smallest threshold that still reaches it, `None` if its path is not known
    or leads through candidates that were never logged."""

    gaps: tuple[_Gap, ...]  # of the scored, eligible candidates
    cut: _Gap | None
    requests: int | None
    own: int | None  # how many of the eligible candidates the search's own rule dropped
    lost: bool  # its own rule dropped every protected candidate
    cuts: tuple[_Gap, ...] = ()  # of several parents: the same for every scored candidate; `cut` is the smallest

    def below(self, limit: Fraction) -> tuple[bool, int, int]:
        """What stands below candidates that the limit drops: whether it is all of this frontier, how many of its
        candidates, what part of its requests."""
        if self.cut is None:
            return False, 0, 0
        if not self.cuts:
            gone = self.cut > limit
            return gone, len(self.gaps) * gone, (self.requests or 0) * gone
        count = sum(c > limit for c in self.cuts)
        return count == len(self.cuts), count, (self.requests or 0) * count // len(self.cuts)


@dataclass(frozen=True, slots=True)
class Line:
    """One margin, weighed on the log. Shares have their denominators in `WhatIf`."""

    margin: Margin
    at_risk: int  # exposed tasks where some frontier would lose all of its protected candidates
    dropped: int  # candidates beyond the margin, on the fixed traces
    cut_frontiers: int
    cut_candidates: int
    cut_requests: int


@dataclass(slots=True)
class WhatIf:
    """Feed recorded frontiers in the order they were logged; then ask for a `line` at any Q."""

    deficits: TaskDeficits = field(default_factory=TaskDeficits)
    seen: list[Seen] = field(default_factory=list)
    candidates: int = 0  # scored, eligible occurrences
    placed: int = 0  # frontiers whose path is known back to the root
    requests: int = 0  # where they were logged
    unpriced: int = 0  # frontiers without
    own_lost: set[str] = field(default_factory=set)  # tasks whose own rule dropped all protected candidates somewhere
    _gaps: dict[tuple[str, tuple[str, ...]], dict[str, _Gap]] = field(default_factory=dict)
    _cuts: dict[tuple[str, tuple[str, ...]], _Gap] = field(default_factory=dict)
    _pooled: dict[tuple[str, tuple[str, ...]], _Gap] = field(default_factory=dict)  # what keeps it and all above it

    def add(
        self,
        task: str,
        scores: Sequence[Score],
        protected: Sequence[Label],
        eligible: Sequence[bool] | None = None,
        candidates: Sequence[str] | None = None,
        *,
        path: Sequence[str] | None = None,
        paths: Sequence[Sequence[str]] | None = None,
        requests: int | None = None,
        kept: Iterable[int] | None = None,
    ) -> None:
        """Take one frontier into account. ``path`` holds the candidates that lead to its node; ``paths``, where the
        candidates have several parents, the whole path of each."""
        self.deficits.add(task, scores, protected, eligible, candidates)
        places = [i for i in range(len(scores)) if eligible is None or eligible[i]]
        totals, repeats = align([scores[i] for i in places], self.deficits.observations)
        top = max((t for t in totals if t is not None), default=0)
        gaps = {i: _gap(top - t, repeats) for i, t in zip(places, totals, strict=True) if t is not None}
        where = None if path is None else tuple(path)
        cut = None if where is None else self._reach(task, where)
        if where is not None and cut is not None:
            self._cuts[task, where] = cut
            if candidates is not None:
                self._gaps[task, where] = {candidates[i]: gaps.get(i, 0) for i in places}
        cuts: tuple[_Gap, ...] = ()
        if where is None and paths is not None:
            cuts = self._pool(task, {i: tuple(paths[i]) for i in places}, gaps)
            cut = min(cuts, default=None)
        chosen = None if kept is None else set(kept)
        labels = protected if candidates is None else shared_labels(protected, candidates)
        saved = {i for i in places if labels[i]}
        lost = chosen is not None and bool(saved) and not saved & chosen
        if lost:
            self.own_lost.add(task)
        own = None if chosen is None else len(set(places) - chosen)
        self.seen.append(Seen(tuple(gaps.values()), cut, requests, own, lost, cuts))
        self.candidates += len(gaps)
        self.placed += cut is not None
        self.requests += requests or 0
        self.unpriced += requests is None

    def _reach(self, task: str, path: tuple[str, ...]) -> _Gap | None:
        """The largest gap that a candidate on the way to ``path`` had to survive."""
        if not path:
            return 0
        above = self._cuts.get((task, path[:-1]))
        gap = self._gaps.get((task, path[:-1]), {}).get(path[-1])
        return None if above is None or gap is None else max(above, gap)

    def _pool(self, task: str, paths: dict[int, tuple[str, ...]], gaps: dict[int, _Gap]) -> tuple[_Gap, ...]:
        """The largest gap on the way to each of the candidates of several parents; none if one of them has no way."""
        cuts = {i: self._pooled.get((task, p[:-1])) if len(p) > 1 else 0 for i, p in paths.items()}
        for i, cut in cuts.items():
            if cut is not None:
                self._pooled[task, paths[i]] = max(cut, gaps.get(i, 0))
        known = [cut for i, cut in cuts.items() if i in gaps and cut is not None]
        return tuple(known) if len(known) == len(gaps) else ()

    @property
    def own_dropped(self) -> int | None:
        """Candidates that the search's own rule dropped; `None` unless every frontier says so."""
        own = [s.own for s in self.seen]
        return None if None in own else sum(n for n in own if n is not None)

    def line(self, q: Exact, delta: Exact | None = None, epsilon: Exact = 0) -> Line:
        """What the margin at Q, calibrated on this very log, does to it."""
        found = margin(list(self.deficits.exposed.values()), q, delta)
        if math.isinf(found.value):
            return Line(found, 0, 0, 0, 0, 0)
        reach = Fraction(found.value) + Fraction(epsilon)
        limit = reach * UNIT * _COMMON
        below = [s.below(limit) for s in self.seen]
        return Line(
            found,
            sum(c > reach for c in self.deficits.exposed.values()),
            sum(sum(g > limit for g in s.gaps) for s in self.seen),
            sum(whole for whole, _, _ in below),
            sum(count for _, count, _ in below),
            sum(spent for _, _, spent in below),
        )


def _gap(total: int, repeats: int) -> _Gap:
    whole, rest = divmod(total * _COMMON, repeats)
    return whole if rest == 0 else Fraction(total * _COMMON, repeats)
