"""The admission rules over millions of frontiers at once, with NumPy; decisions equal to `Rule.keep`."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from paccf.method.admission import KeepAll, Rule, ScoreGap, Threshold, TopK
from paccf.method.scores import BOUND, UNIT

_ROWS = 1 << 15  # frontiers a chunk: temporaries stay in cache and memory stays flat
_NONE = int(np.iinfo(np.int64).min)
_FAR = 1 << 62  # beyond any total or gap of totals

Mask = NDArray[np.bool_]


def keep_many(rule: Rule, scores: NDArray[np.generic], present: Mask | None = None) -> Mask:
    """The mask of admitted candidates; see `Rule.keep_many`. Raises ValueError naming the first bad place."""
    if scores.ndim not in (2, 3):
        raise ValueError(
            f"scores must have the axes (frontier, candidate) or (frontier, candidate, observation), not {scores.ndim}"
        )
    if present is not None and present.shape != scores.shape[:2]:
        raise ValueError(f"present has the shape {present.shape}, the frontiers have {scores.shape[:2]}")
    kept = np.empty(scores.shape[:2], dtype=np.bool_)
    for start in range(0, len(scores), _ROWS):
        rows = slice(start, start + _ROWS)
        there = np.ones(kept[rows].shape, dtype=np.bool_) if present is None else present[rows]
        totals, repeats = _totals(scores[rows], there, rule.observations, start)
        kept[rows] = _decide(rule, totals, there, repeats)
    return kept


def _totals(scores: NDArray[np.generic], present: Mask, observations: int, start: int) -> tuple[NDArray[np.int64], int]:
    """`align` for a block: totals in units, `_NONE` where unscored or absent."""
    draws = scores.astype(np.float64)
    missing: Mask = np.isnan(draws)
    bound = BOUND if draws.ndim == 3 else BOUND / observations
    beyond: Mask = np.abs(draws) > bound
    usable = np.where(missing | beyond, 0.0, draws)
    if draws.ndim == 3:
        repeats = draws.shape[2]
        some, missing, beyond = (np.any(missing, axis=2), np.all(missing, axis=2), np.any(beyond, axis=2))
        _refuse(some & ~missing & present, start, "lacks some of its observations; use NaN for all if it is unscored")
        totals = np.rint(usable * UNIT).astype(np.int64).sum(axis=2)
    else:
        repeats = observations
        totals = np.rint(usable * (UNIT * repeats)).astype(np.int64)
    _refuse(beyond & present, start, f"is infinite or beyond ±{bound:.3g}; use NaN for an unscored candidate")
    return np.where(missing | ~present, _NONE, totals), repeats


def _refuse(bad: Mask, start: int, problem: str) -> None:
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(f"scores[{start + row}, {column}] {problem}")


def _decide(rule: Rule, totals: NDArray[np.int64], present: Mask, repeats: int) -> Mask:
    if isinstance(rule, KeepAll):
        return present
    scored: Mask = totals != _NONE
    passed: Mask
    if isinstance(rule, TopK):
        order = np.argsort(np.where(scored, -totals, -_NONE - 1), axis=1, kind="stable")
        place = np.empty_like(order)
        np.put_along_axis(place, order, np.arange(totals.shape[1])[None, :], axis=1)
        passed = place < rule.k
    elif isinstance(rule, Threshold):
        top = totals.max(axis=1, initial=_NONE, keepdims=True)
        passed = totals >= np.minimum(max(min(math.ceil(rule._tau * repeats), _FAR), -_FAR), top)
    else:
        assert isinstance(rule, ScoreGap)
        limit = rule.limit(repeats)
        if limit is None:
            return present
        top = totals.max(axis=1, initial=_NONE, keepdims=True)
        passed = np.where(scored, top, 0) - np.where(scored, totals, 0) <= min(limit, _FAR)
    return present & (~scored | passed)
