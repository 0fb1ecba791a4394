"""Nonconformity of frontiers and tasks (Eq. c_path_compact), over a stream of scored, labelled frontiers.

What a label means: true, the subtree of the candidate holds a verifier-valid completion; false, it holds none;
None, nobody could tell. What follows:
- protected candidates are the eligible ones labelled true; a frontier is exposed if it has one;
- a frontier with no true label and an eligible None is unresolved: it may be exposed with any deficit, so its task
  counts with an infinite one (a None beside a true label only makes the deficit an upper bound);
- copies of one canonical action at a frontier share the label: true before None before false;
- an unscored protected candidate is always kept, so the deficit is 0;
- a task without an exposed frontier is missing. Missing is not zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from paccf.method.admission import count, places_of
from paccf.method.scores import UNIT, align

if TYPE_CHECKING:
    from paccf.method.scores import Score

Label = bool | None


def shared_labels(labels: Sequence[Label], candidates: Sequence[str]) -> Sequence[Label]:
    """The labels after copies of one candidate share theirs; the very same object if there are no copies."""
    if len(set(candidates)) == len(candidates):
        return labels
    best: dict[str, Label] = {}
    for name, label in zip(candidates, labels, strict=True):
        best[name] = True if label or best.get(name) else (None if label is None else best.get(name, label))
    return [best[name] for name in candidates]


def frontier_deficit(
    scores: Sequence[Score],
    protected: Sequence[Label],
    eligible: Sequence[bool] | None = None,
    candidates: Sequence[str] | None = None,
    observations: int = 1,
) -> Fraction | float | None:
    """C_path of one frontier: `None` if it is not exposed, `math.inf` if it is unresolved, else the exact gap
    between the best score and the best protected score. ``protected`` has one label a score."""
    gap = _gap(scores, protected, eligible, candidates, count(observations))
    return _value(gap) if isinstance(gap, tuple) else gap


Gap = tuple[int, int]  # a difference of totals, and the observations behind them


def _value(gap: Gap) -> Fraction:
    return Fraction(gap[0], gap[1] * UNIT)


def _gap(
    scores: Sequence[Score],
    protected: Sequence[Label],
    eligible: Sequence[bool] | None,
    candidates: Sequence[str] | None,
    observations: int,
) -> Gap | float | None:
    """`frontier_deficit`, before the division."""
    if len(protected) != len(scores):
        raise ValueError(f"{len(scores)} scores but {len(protected)} labels; give one label a score")
    if candidates is not None:
        if len(candidates) != len(scores):
            raise ValueError(f"{len(scores)} scores but {len(candidates)} candidates; give one id a score")
        protected = shared_labels(protected, candidates)
    if eligible is not None:
        places = places_of(scores, eligible)
        scores, protected = [scores[i] for i in places], [protected[i] for i in places]
    if True not in protected:
        return math.inf if None in protected else None
    totals, repeats = align(scores, observations)
    top = best = None
    for total, label in zip(totals, protected, strict=True):
        if total is None:
            if label:
                return 0, repeats
        else:
            if top is None or total > top:
                top = total
            if label and (best is None or total > best):
                best = total
    assert top is not None
    assert best is not None
    return top - best, repeats


# Below a million and 64 draws, a float gap and the exact one differ by less than this.
_HAZE = 4 / UNIT


def _surely_below(scores: Sequence[Any], protected: Sequence[Label], worst: float) -> int | None:
    """R (0 for bare means) if the gap of this frontier is surely at most an exact one that ``worst`` is `_HAZE` below;
    `None` if only the exact way can tell. Most frontiers are far below the worst of their task and pass at this cost.
    """
    try:
        repeats, scale, sums = 0, 1, scores
        if type(scores[0]) is list:
            repeats = scale = len(scores[0])
            if repeats == 4:  # the paper's R: one pass adds the draws and refuses other lengths
                sums = [a + b + c + d for a, b, c, d in scores]
            else:
                sums = list(map(sum, scores))
                if repeats > 64 or len(set(map(len, scores))) > 1:
                    return None
        top = max(sums)
        gap = top - sums[protected.index(True)]
        if (
            (gap <= worst * scale or (gap == 0 and (repeats == 0 or type(top) is int)))
            and -1e6 * scale <= sum(sums)  # false for a NaN or an infinity anywhere
            and top <= 1e6 * scale
            and isinstance(top, (int, float))  # NumPy's narrow types round, and texts have a maximum too
        ):
            return repeats
    except (TypeError, ValueError, OverflowError, IndexError, AttributeError):
        pass
    return None


@dataclass(slots=True)
class TaskDeficits:
    """C_task of every task in a stream of frontiers, in one pass and with memory per task, not per frontier.

    Feed `add`; then `exposed` has one score a protected-exposed task. ``observations`` as in `Rule`. Scores of
    frontiers that are not exposed are not looked at.
    """

    observations: int = 1
    frontiers: int = 0
    exposed_frontiers: int = 0
    unresolved_frontiers: int = 0
    draws: set[int] = field(default_factory=set)  # lengths of observation lists in exposed frontiers, 0: a bare mean
    lost_at_eligibility: int = 0  # frontiers whose every protected candidate was ineligible: lost before admission
    _worst: dict[str, Gap | None] = field(default_factory=dict)
    _unresolved: set[str] = field(default_factory=set)
    _rough: dict[str, float] = field(default_factory=dict)  # a float safely below the worst exact gap

    def __post_init__(self) -> None:
        count(self.observations)

    def add(
        self,
        task: str,
        scores: Sequence[Score],
        protected: Sequence[Label],
        eligible: Sequence[bool] | None = None,
        candidates: Sequence[str] | None = None,
    ) -> None:
        """Take one frontier of ``task`` into account; the tasks' frontiers may come in any order."""
        self.frontiers += 1
        size = len(scores)
        if eligible is None and len(protected) == size and (candidates is None or len(candidates) == size):
            if True not in protected:
                if None not in protected:
                    self._worst.setdefault(task, None)
                    return
            elif task in self._rough:  # copies that share a label can only make the gap smaller
                repeats = _surely_below(scores, protected, self._rough[task])
                if repeats is not None:
                    self.draws.add(repeats)
                    self.exposed_frontiers += 1
                    return
        gap = _gap(scores, protected, eligible, candidates, self.observations)
        worst = self._worst.get(task)
        self._worst.setdefault(task, worst)
        if isinstance(gap, tuple):
            self.exposed_frontiers += 1
            self.draws.update(len(s) if hasattr(s, "__len__") else 0 for s in scores if s is not None)
            if worst is None or gap[0] * worst[1] > worst[0] * gap[1]:
                self._worst[task] = gap
                self._rough[task] = gap[0] / (gap[1] * UNIT) - _HAZE
        elif gap is None:
            self.lost_at_eligibility += eligible is not None and True in protected
        else:
            self.unresolved_frontiers += 1
            self._unresolved.add(task)

    @property
    def resolved(self) -> dict[str, Fraction | None]:
        """C_task over the resolved frontiers alone, by task in order of appearance; `None` if none was exposed.
        For an unresolved task this is what is certain: a lower bound."""
        return {task: None if gap is None else _value(gap) for task, gap in self._worst.items()}

    @property
    def scores(self) -> dict[str, Fraction | float | None]:
        """C_task by task in order of appearance: `None` missing, `math.inf` unresolved."""
        return {task: math.inf if task in self._unresolved else c for task, c in self.resolved.items()}

    @property
    def exposed(self) -> dict[str, Fraction | float]:
        """The scores of the tasks that calibrate: exposed or unresolved, never missing."""
        return {task: c for task, c in self.scores.items() if c is not None}

    @property
    def tasks(self) -> int:
        return len(self._worst)

    @property
    def missing(self) -> int:
        return sum(gap is None and task not in self._unresolved for task, gap in self._worst.items())

    @property
    def unresolved(self) -> int:
        return len(self._unresolved)

    def repeats(self, stated: int | None = None) -> int | None:
        """R behind a score: of the lists of observations; of bare means ``observations`` or as ``stated``; `None` if it
        varied or no score was looked at. Raises ValueError for bare means beside lists if nobody said: a gate would
        read them otherwise than this did."""
        if stated is None and self.observations > 1:
            stated = self.observations
        if not self.draws:
            return stated
        drawn = self.draws - {0}
        if 0 in self.draws and drawn and stated is None:
            raise ValueError(
                "bare means stand beside lists of observations: say with --observations (observations=) how many draws "
                "a bare mean is of, or log the draws"
            )
        behind = drawn | {stated or 1} if 0 in self.draws else drawn
        return next(iter(behind)) if len(behind) == 1 else None
