"""The audit of a run: one object, of which each section is computed when it is first asked for.

A section that the record cannot support raises `Unsupported` with the reason; nothing else stands in for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from paccf.audit import cases, checks
from paccf.audit.bootstrap import paired_interval
from paccf.audit.cells import Cell, Condition, Macro, cell, macro
from paccf.audit.names import GROSS, REALIZED, TOOLTREE
from paccf.audit.pairs import ARMS, Floats, Mask, Pairs, one_seed, pairs
from paccf.audit.resample import (
    CONDITION,
    GRID,
    MACRO,
    Cluster,
    Interval,
    blocks,
    intervals,
    macro_draws,
    stream,
    weights,
)
from paccf.audit.run import Run, Unsupported
from paccf.audit.traced import Traced, traced, traced_elsewhere

if TYPE_CHECKING:
    from paccf.audit.tables.table import Table

Cohort = Literal["nbc", "all"]
# whose macro: all controllers, ToolTree alone, or all but ToolTree
Scope = Literal["every", "tooltree", "others"]
# what a table may need of a record
Need = Literal["nothing", "cells", "pairs", "trees", "certificates", "coverage", "traces"]
SCOPES: tuple[Scope, ...] = ("every", "tooltree", "others")
MANY = 4000  # ours: outcomes from which several processes read faster than one, their start included
EXACT_LIMIT = 1000  # ours: tasks up to which the exact law of a binary condition is used (some tens of ms)


@dataclass(frozen=True)
class ConditionInterval:
    """The utility interval of a condition in points. ``exact``: from the law itself, no resample drawn."""

    interval: Interval
    exact: bool


class Audit:
    """Every figure of a run from its record alone. ``seed`` is that of the bootstrap; nothing else is random."""

    def __init__(
        self, run: Run, seed: int = 0, threads: int = 1, resamples: int = MACRO, condition_resamples: int = CONDITION
    ) -> None:
        self.run, self.seed, self.threads = run, seed, threads
        self.resamples, self.condition_resamples = resamples, condition_resamples
        self.made: dict[str, Table] = {}  # by `tables.build`
        self._macro_intervals: dict[tuple[str, ...], dict[tuple[str, int, str, Cohort], Interval | None]] = {}

    # what was run

    @property
    def name(self) -> str:
        return self.run.info.name

    @property
    def simulated(self) -> bool:
        return self.run.info.simulated

    @property
    def caveats(self) -> tuple[str, ...]:
        """What has to be said beside every figure of the run."""
        return self.run.info.caveats

    @property
    def where(self) -> str:
        return self.run.where

    @cached_property
    def pairs(self) -> dict[str, Pairs]:
        """The paired outcomes of every domain that has complete cases."""
        return {domain: found for domain, found in pairs(self.run).items() if found.tasks}

    @property
    def domains(self) -> tuple[str, ...]:
        return tuple(self.pairs)

    def controllers(self, domain: str) -> tuple[str, ...]:
        return self.pairs[domain].controllers

    @property
    def budgets(self) -> tuple[int, ...]:
        return tuple(sorted({b for p in self.pairs.values() for b in p.budgets}))

    def conditions(self) -> Iterator[Condition]:
        """Every (domain, controller, budget), in the order of the paper's tables: domain, budget, controller."""
        for domain in self.domains:
            for budget in self.budgets:
                for controller in self.controllers(domain):
                    if (domain, controller, budget) in self.cells:
                        yield domain, controller, budget

    def require(self, need: Need) -> None:
        """Raise `Unsupported` if the record cannot give this; looks at no trace."""
        if need in ("cells", "pairs"):
            assert self.pairs
        elif need == "trees":
            assert self.pairs
            self._trees()
        elif need == "certificates" and not self.run.certificates:
            raise Unsupported("the record holds no certificate")
        elif need == "coverage" and not self.run.certificates:
            raise Unsupported("the record holds no certificate whose margin could be audited")

    def _trees(self) -> None:
        if not self.run.trees:
            raise Unsupported("a frontier log knows no tree, so pruned roots cannot be matched to Native nodes")

    # figures of conditions, and their means

    @cached_property
    def cells(self) -> Mapping[Condition, Cell]:
        """The figures of every condition, without the gross views."""
        return self._cells({domain: {} for domain in self.pairs})

    @cached_property
    def gross_cells(self) -> Mapping[Condition, Cell]:
        """The same with the gross views, which need the traces of both arms."""
        return self._cells(self.gross)

    def _cells(self, work: Mapping[str, Mapping[str, Floats]]) -> dict[Condition, Cell]:
        found = {}
        for domain, p in self.pairs.items():
            for budget in p.budgets:
                for controller in p.controllers:
                    found[domain, controller, budget] = cell(p, budget, controller, work[domain])
        return found

    @cached_property
    def gross(self) -> dict[str, dict[str, Floats]]:
        """domain -> gross view -> [arm, budget, controller, task]: what Native had, and what pruning left of it."""
        self._trees()
        found = {}
        for domain, p in self.pairs.items():
            shape = p.utility.shape
            nodes, occurrences = np.full(shape, np.nan), np.full(shape, np.nan)
            for c, controller in enumerate(p.controllers):
                counted = self.traced[domain, controller].gross
                for b, budget in enumerate(p.budgets):
                    for t, task in enumerate(p.tasks):
                        if one := counted.get((budget, task)):
                            nodes[:, b, c, t] = one.nodes, one.nodes - one.suppressed
                            occurrences[:, b, c, t] = one.occurrences, one.occurrences - one.avoided
            found[domain] = dict(zip(GROSS, (nodes, occurrences), strict=True))
        return found

    def matched(self, domain: str, controller: str, budget: int) -> tuple[int, int]:
        """PAC-CF-pruned roots with a Native node, and all of them, over the NBC cohort."""
        p = self.pairs[domain]
        b, c = p.at(budget, controller)
        keep = p.nbc[b, c]
        counted = self.traced[domain, controller].gross
        ours = [counted[budget, task] for t, task in enumerate(p.tasks) if keep[t] and (budget, task) in counted]
        return sum(g.matched for g in ours), sum(g.roots for g in ours)

    def chosen(self, domain: str, scope: Scope) -> tuple[str, ...]:
        """The controllers of a macro."""
        every = self.controllers(domain)
        if scope == "every":
            return every
        return tuple(c for c in every if (c == TOOLTREE) == (scope == "tooltree"))

    def macro(
        self, quantity: str, budget: int, cohort: Cohort = "nbc", scope: Scope = "every", domain: str | None = None
    ) -> Macro:
        """The macro of ``utility`` (points, always all tasks), of ``native`` or ``paccf`` utility (times 100), or of a
        workload view (percent saved)."""
        cells = self.gross_cells if quantity in GROSS else self.cells

        def figure(at: Condition) -> float | None:
            found = cells.get(at)
            if found is None:
                return None
            if quantity == "utility":
                return found.gain
            if quantity in ARMS:
                return 100 * (found.native if quantity == "native" else found.paccf)
            return (found.nbc if cohort == "nbc" else found.every)[quantity].reduction

        domains = self.domains if domain is None else (domain,)
        return macro(figure, domains, lambda d: self.chosen(d, scope), budget)

    # intervals

    def interval(self, quantity: str, budget: int, cohort: Cohort = "nbc", where: str = "every") -> Interval | None:
        """The bootstrap interval of a macro; ``where`` is a domain, or a scope for the mean over domains."""
        views = GROSS if quantity in GROSS else REALIZED
        if views not in self._macro_intervals:
            self._macro_intervals[views] = self._resampled(views)
        return self._macro_intervals[views].get((where, budget, quantity, "all" if quantity == "utility" else cohort))

    def _resampled(self, views: tuple[str, ...]) -> dict[tuple[str, int, str, Cohort], Interval | None]:
        """All macro intervals of these views; weights are shared by budgets, which is harmless and saves time."""
        cohorts: tuple[Cohort, ...] = ("nbc", "all")
        quantities = [(budget, "utility", cohorts[1]) for budget in self.budgets]
        quantities += [(budget, view, cohort) for budget in self.budgets for view in views for cohort in cohorts]
        clusters = [self._cluster(domain, views) for domain in self.domains]
        scopes = [s for s in SCOPES if any(self.chosen(d, s) for d in self.domains)]
        groups = [[[self.controllers(d).index(c) for c in self.chosen(d, s)] for d in self.domains] for s in scopes]
        draws = macro_draws(clusters, groups, self.seed, self.resamples, self.threads)
        rows = iter(intervals(draws, threads=self.threads))
        return {
            (where, budget, quantity, cohort): next(rows)
            for where in (*self.domains, *scopes)
            for budget, quantity, cohort in quantities
        }

    def _cluster(self, domain: str, views: tuple[str, ...]) -> Cluster:
        """The domain's totals by [controller, budget x view x cohort, task]; zeros leave a budget it has not without a
        figure, and so does an unknown quantity of one pair: it leaves the whole total unknown."""
        p = self.pairs[domain]
        sources = p.work if views == REALIZED else self.gross[domain]
        every, gains = [], []
        masks: list[Mask] = [p.nbc, np.ones(p.nbc.shape, bool)]
        for budget in self.budgets:
            b = p.budgets.index(budget) if budget in p.budgets else None
            gain = np.full(p.delta.shape[1:], np.nan) if b is None else np.round(p.delta[b] / GRID) * GRID
            gains.append(gain)
            for view in views:
                for keep in masks:
                    values = np.zeros((2, *gain.shape)) if b is None else np.where(keep[b], sources[view][:, b], 0.0)
                    unknown: Mask = np.asarray(np.isnan(values).any(axis=(0, 2)))
                    every.append(np.where(unknown[None, :, None], 0.0, values))
        stacked = np.stack(every, axis=2)
        return Cluster(domain, stacked[0], stacked[1], np.stack(gains, axis=1))

    @cached_property
    def condition_intervals(self) -> dict[Condition, ConditionInterval]:
        """The paired utility interval of every condition: the exact law where utilities are binary, else resampled."""
        found = {}
        sampled: dict[str, list[tuple[Condition, Floats]]] = {}
        for at in self.conditions():
            domain, controller, budget = at
            figures, p = self.cells[at], self.pairs[domain]
            if figures.binary and figures.tasks <= EXACT_LIMIT:
                lo, hi = paired_interval(figures.rescues, figures.regressions, figures.tasks)
                found[at] = ConditionInterval(Interval(lo, hi), True)
            else:
                b, c = p.at(budget, controller)
                gain = np.round(p.delta[b, c] / GRID) * GRID
                sampled.setdefault(domain, []).append((at, gain))
        for domain, rows in sampled.items():
            gains = 100 * np.stack([gain for _, gain in rows])
            width, n = gains.shape
            name = f"{domain} conditions"

            def statistic(block: int, size: int, gains: Floats = gains, n: int = n, name: str = name) -> Floats:
                drawn: Floats = weights(stream(self.seed, name, block), size, n) @ gains.T / n
                return drawn

            draws = blocks(self.condition_resamples, width, statistic, self.threads)
            for (at, _), one in zip(rows, intervals(draws, threads=self.threads), strict=True):
                assert one is not None
                found[at] = ConditionInterval(one, False)
        return {at: found[at] for at in self.conditions()}

    # traces

    @cached_property
    def traced(self) -> dict[tuple[str, str], Traced]:
        """What the traces of every (domain, controller) show, paired or not; one pass over all of them. Raises
        `Unsupported` only for test searches under several seeds."""
        one_seed(self.run)
        try:
            paired = self.pairs
        except Unsupported:  # the pairs' own tables say why
            paired = {}
        every = self.run.cells
        if self.threads > 1 and len(every) > 1 and self.run.elsewhere and len(self.run.outcomes) >= MANY:
            return traced_elsewhere(self.run, self.run.elsewhere, every, paired, self.threads)
        return {(d, c): traced(self.run, d, c, paired.get(d)) for d, c in every}

    @cached_property
    def cases(self) -> list[cases.Case]:
        """Rescued and regressed tasks, the largest first."""
        return cases.find(self.pairs)

    @cached_property
    def contradictions(self) -> checks.Findings:
        """Everything the record says twice, and where the two do not agree."""
        return checks.check(self)
