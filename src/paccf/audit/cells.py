"""The figures of a condition (domain, controller, budget), and their macros.

A reduction is a ratio of totals within a condition; macros are equal-weight means over controllers, then over domains.
Conditions without a figure (an empty cohort, nothing in the denominator, unknown tokens) are left out of a mean, and
`Macro.missing` names them: a mean of four is never shown as one of five.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from paccf.audit.pairs import TIE, Pairs

Condition = tuple[str, str, int]  # domain, controller, budget


@dataclass(frozen=True)
class Totals:
    """One view summed over a cohort, and what PAC-CF saved of it, in percent; `None` where that is not known."""

    native: float | None
    paccf: float | None

    @property
    def reduction(self) -> float | None:
        if self.native is None or self.paccf is None or self.native <= 0:
            return None
        return 100 * (1 - self.paccf / self.native)


@dataclass(frozen=True)
class Cell:
    """One condition. ``nbc`` and ``every`` are the five views over the two cohorts (gross views hold what is left)."""

    tasks: int
    n_eff: int  # pairs in the non-budget-censored cohort
    native: float  # mean utility
    paccf: float
    gain: float  # PAC-CF minus Native, in points
    rescues: int
    regressions: int
    nbc: Mapping[str, Totals]
    every: Mapping[str, Totals]
    binary: bool = False  # all utilities are 0 or 1
    roots: int | None = None  # PAC-CF-pruned roots over the NBC cohort
    matched: int | None = None

    @property
    def ties(self) -> int:
        return self.tasks - self.rescues - self.regressions


@dataclass(frozen=True)
class Macro:
    """A mean, of how many conditions, and those that have no figure."""

    value: float | None
    of: int
    missing: tuple[Condition, ...] = field(default=())


def cell(pairs: Pairs, budget: int, controller: str, work: Mapping[str, NDArray[np.float64]]) -> Cell:
    """The figures of one condition; ``work`` adds the gross views to the realized ones of ``pairs``."""
    b, c = pairs.at(budget, controller)
    keep = pairs.nbc[b, c]
    before, after = pairs.utility[:, b, c]
    delta = after - before
    n = len(pairs.tasks)
    views = {view: values[:, b, c] for view, values in {**pairs.work, **work}.items()}
    return Cell(
        tasks=n,
        n_eff=int(keep.sum()),
        native=float(before.mean()) if n else 0.0,
        paccf=float(after.mean()) if n else 0.0,
        gain=float(100 * delta.mean()) if n else 0.0,
        rescues=int((delta > TIE).sum()),
        regressions=int((delta < -TIE).sum()),
        nbc={view: _totals(values[:, keep]) for view, values in views.items()},
        every={view: _totals(values) for view, values in views.items()},
        binary=bool(np.isin(pairs.utility[:, b, c], (0.0, 1.0)).all()),
    )


def _totals(values: NDArray[np.float64]) -> Totals:
    """Sums of (arm, task) values; unknown if one of them is."""
    native, paccf = (float(row.sum()) for row in values)
    return Totals(None if native != native else native, None if paccf != paccf else paccf)


def macro(
    figure: Callable[[Condition], float | None],
    domains: Iterable[str],
    controllers: Callable[[str], Iterable[str]],
    budget: int,
) -> Macro:
    """The mean over controllers, then over domains, of a figure of the conditions at one budget."""
    means: list[float] = []
    missing: list[Condition] = []
    of = 0
    for domain in domains:
        found = []
        for controller in controllers(domain):
            of += 1
            value = figure((domain, controller, budget))
            if value is None:
                missing.append((domain, controller, budget))
            else:
                found.append(value)
        if found:
            means.append(sum(found) / len(found))
    return Macro(sum(means) / len(means) if means else None, of, tuple(missing))
