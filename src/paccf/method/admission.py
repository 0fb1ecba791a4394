"""Admission rules: the scores of one frontier in, the indices of the kept candidates out.

Rules that hold here, for every rule and every frontier:
- the indices come back in input order, and a rule never changes a score;
- an unscored candidate (``None`` or NaN) is kept and never sets the maximum; if none is scored, all are kept;
- a frontier with candidates never comes back empty;
- comparisons are exact (see `scores`), infinite scores are refused with `ScoreError`.

The values are written out instead of generated, because importing this file must cost next to nothing.
"""

from __future__ import annotations

import math

from paccf.method.scores import BOUND, UNIT, align, exact

TYPE_CHECKING = False  # `typing` would be half of the import time
if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from paccf.method.scores import Exact, Score

# A gap of two floats within BOUND and the exact gap of their millionths differ by less than this.
_HAZE = 4 / UNIT


class Rule:
    """What every admission rule can do. A rule is an immutable value; ``observations`` says how many draws a
    bare number is the mean of."""

    __slots__ = ("observations",)
    observations: int

    def keep(self, scores: Sequence[Score], eligible: Sequence[bool] | None = None) -> list[int]:
        """The indices of the admitted candidates, in input order. Candidates that are not ``eligible`` take no
        part: they are never kept and never set the maximum."""
        if not hasattr(scores, "__len__"):
            scores = list(scores)
        if eligible is not None:
            places = places_of(scores, eligible)
            return [places[i] for i in self.keep([scores[i] for i in places])]
        return self.decide(*self.totals(scores))

    def totals(self, scores: Sequence[Score]) -> tuple[list[int | None], int]:
        """What `decide` compares: see `align`."""
        return align(scores, self.observations)

    def keep_many(self, scores: NDArray[np.generic], present: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        """The same decision for many frontiers at once: a (frontiers, candidates) or (frontiers, candidates, R)
        array in, a mask (frontiers, candidates) out. NaN is unscored; ``present`` masks padding."""
        from paccf.method.batch import keep_many

        return keep_many(self, scores, present)

    def decide(self, totals: list[int | None], repeats: int) -> list[int]:
        raise TypeError(f"{type(self).__name__} decides nothing; use KeepAll, TopK, Threshold or ScoreGap")

    def _set(self, **fields: object) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; make a new one")

    def _key(self) -> tuple[object, ...]:
        return (type(self), self.observations)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rule) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[object, ...]:
        kind, *rest = self._key()
        return (type(self), tuple(rest[:-1] if kind in (KeepAll, TopK) else rest))

    def __repr__(self) -> str:
        kind, *rest = self._key()
        shown = ", ".join(str(r) for r in rest[:-1])
        return f"{kind.__name__}({shown})" if isinstance(kind, type) else shown


class KeepAll(Rule):
    """Admit every candidate."""

    __slots__ = ()

    def __init__(self) -> None:
        self._set(observations=1)

    def decide(self, totals: list[int | None], repeats: int) -> list[int]:
        return list(range(len(totals)))


class TopK(Rule):
    """Admit the ``k`` best-scored candidates, ties in input order: the fixed-cardinality rule of native search.

    It keeps exactly k, so with more than k candidates at the maximum it drops some of them: that is what a fixed
    cardinality means, and what `ScoreGap` does not do.
    """

    __slots__ = ("k",)
    k: int

    def __init__(self, k: int) -> None:
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise ValueError(f"TopK keeps at least one candidate, so k must be 1 or more, not {k!r}")
        self._set(k=k, observations=1)

    def _key(self) -> tuple[object, ...]:
        return (TopK, self.k, self.observations)

    def decide(self, totals: list[int | None], repeats: int) -> list[int]:
        scored = sorted((-t, i) for i, t in enumerate(totals) if t is not None)
        dropped = {i for _, i in scored[self.k :]}
        return [i for i in range(len(totals)) if i not in dropped]


class Threshold(Rule):
    """Admit the candidates that score at least ``tau``; if none does, those at the maximum."""

    __slots__ = ("_tau", "tau")
    tau: Exact
    _tau: Fraction

    def __init__(self, tau: Exact, observations: int = 1) -> None:
        self._set(tau=tau, _tau=exact(tau) * UNIT, observations=count(observations))

    def _key(self) -> tuple[object, ...]:
        return (Threshold, self._tau / UNIT, self.observations)

    def decide(self, totals: list[int | None], repeats: int) -> list[int]:
        low = min(math.ceil(self._tau * repeats), _top(totals))
        return [i for i, t in enumerate(totals) if t is None or t >= low]


class ScoreGap(Rule):
    """Admit every candidate within ``margin + epsilon`` of the frontier's best score (Eq. direct_deployment).

    ``s* - s(a) <= margin + epsilon``, inclusive and exact: on R observations ``R * gap <= R * (margin + epsilon)``
    is decided in integers. ``margin=inf`` keeps everything. Use it with a margin you calibrated (`Certificate`);
    a margin picked by hand carries no promise.
    """

    __slots__ = ("_bound", "_limits", "_reach", "epsilon", "margin", "reach")
    margin: Fraction | float
    epsilon: Fraction
    reach: float  # margin + epsilon, for printing and for what is clearly on one side
    _reach: Fraction | None
    _bound: float  # of a bare score
    _limits: dict[int, int]

    def __init__(self, margin: Exact, epsilon: Exact = 0, observations: int = 1) -> None:
        infinite = isinstance(margin, float) and math.isinf(margin)
        if infinite and margin == -math.inf:
            raise ValueError("a margin cannot be -inf; an infinite margin keeps everything, 0 keeps ties with the best")
        slack = exact(epsilon)
        reach = None if infinite else exact(margin) + slack
        if slack < 0 or (reach is not None and reach - slack < 0):
            raise ValueError(f"margin and epsilon must not be negative, got {margin!r} and {epsilon!r}")
        self._set(
            margin=math.inf if reach is None else reach - slack,
            epsilon=slack,
            reach=math.inf if reach is None else float(reach),
            _reach=None if reach is None else reach * UNIT,
            _limits={},
            _bound=BOUND / count(observations),
            observations=observations,
        )

    def _key(self) -> tuple[object, ...]:
        return (ScoreGap, self.margin, self.epsilon, self.observations)

    def limit(self, repeats: int) -> int | None:
        """The largest admitted gap of totals over ``repeats`` observations; ``None`` where there is no limit."""
        if self._reach is None:
            return None
        if repeats not in self._limits:
            if len(self._limits) > 100:
                self._limits.clear()
            self._limits[repeats] = math.floor(self._reach * repeats)
        return self._limits[repeats]

    def keep(self, scores: Sequence[Score], eligible: Sequence[bool] | None = None) -> list[int]:
        """See `Rule.keep`. Plain numbers that are clearly on one side are decided in floats; whatever lies within
        a few millionths of the margin, and everything that is not a plain number, goes the exact way."""
        numbers: Any = scores
        if not hasattr(scores, "__len__"):
            numbers = scores = list(scores)
        if eligible is None:
            try:
                top, low, total = max(numbers), min(numbers), sum(numbers)
                # a NaN makes the sum a NaN; an infinity or a huge number is beyond the bound
                if low >= -self._bound and top <= self._bound and total == total and isinstance(total, (int, float)):
                    sure = top - self.reach + _HAZE
                    if low >= sure:
                        return list(range(len(numbers)))
                    kept = [i for i, s in enumerate(numbers) if s >= sure]
                    maybe = sure - 2 * _HAZE
                    if len(kept) == len([s for s in numbers if s >= maybe]):
                        return kept
            except (TypeError, ValueError, OverflowError):
                pass
        return Rule.keep(self, scores, eligible)

    def decide(self, totals: list[int | None], repeats: int) -> list[int]:
        limit = self.limit(repeats)
        if limit is None:
            return list(range(len(totals)))
        low = _top(totals) - limit
        return [i for i, t in enumerate(totals) if t is None or t >= low]


def places_of(scores: Sequence[object], eligible: Sequence[bool]) -> list[int]:
    """The indices of the eligible candidates; refuses a mask of another length."""
    if len(eligible) != len(scores):
        raise ValueError(f"{len(scores)} scores but {len(eligible)} eligibility flags; give one flag a candidate")
    return [i for i, e in enumerate(eligible) if e]


def _top(totals: list[int | None]) -> int:
    """s* of the frontier, over the scored candidates; 0 if there are none (then nothing is compared with it)."""
    return max((t for t in totals if t is not None), default=0)


def count(observations: int) -> int:
    """``observations``, if a mean can be one of that many draws."""
    if isinstance(observations, bool) or not isinstance(observations, int) or observations < 1:
        raise ValueError(f"observations is the number of draws behind a mean, 1 or more, not {observations!r}")
    return observations
