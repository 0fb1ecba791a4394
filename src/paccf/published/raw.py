"""Checks within the raw tables, and of the tables that reprint their rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from paccf.published.cells import RAW, conditions
from paccf.published.figure import Printed, Span
from paccf.published.finding import Check, Where, counted, determined, repeated, stated
from paccf.published.tables import Paper
from paccf.published.text import BUDGETS, CONTROLLERS, DOMAINS, TEST_TASKS


def utilities(paper: Paper) -> Iterator[Check]:
    """Every difference is PAC-CF minus Native: solved tasks, or points of Avg3."""
    for table in (paper.raw_game24, paper.raw_blocksworld):
        for row in table:
            at = Where(table.name, f"{row.budget} {row.controller}", "delta_succ")
            gain = row.pac_cf_succ.count - row.native_succ.count
            yield counted("utility delta", "solved by PAC-CF minus solved by Native", at, row.delta_succ, gain)
    for gta in paper.raw_gta:
        at = Where("raw_gta", f"{gta.budget} {gta.controller}", "delta_pp")
        points = (gta.pac_cf_avg3.span - gta.native_avg3.span).times(100)
        yield determined("utility delta", "difference of Avg3 in points", at, gta.delta_pp, points)


def cohorts(paper: Paper) -> Iterator[Check]:
    """No cohort exceeds the test set, and none shrinks as the budget grows."""
    cells = conditions(paper)
    for (domain, budget, controller), cell in cells.items():
        at = Where(RAW[domain], f"{budget} {controller}", "n_eff")
        tasks = TEST_TASKS[domain]
        yield stated("cohort size", "N_eff <= N", at, str(cell.n_eff), f"N = {tasks}", cell.n_eff <= tasks)
    for domain in DOMAINS:
        for controller in CONTROLLERS:
            for before, after in pairwise(BUDGETS):
                low, high = (cells[domain, b, controller].n_eff for b in (before, after))
                at = Where(RAW[domain], f"{after} {controller}", "n_eff")
                what = "N_eff does not shrink with the budget"
                yield stated("cohort growth", what, at, str(high), f"{low} at {before}", high >= low)


def tokens(paper: Paper) -> Iterator[Check]:
    """Every token reduction from the two totals, which are printed in millions with two decimals."""
    for (domain, budget, controller), cell in conditions(paper).items():
        at = Where(RAW[domain], f"{budget} {controller}", "token_pct")
        share = cell.tok_pac_cf.span.over(cell.tok_native.span)
        saved = (Span.exact(1) - share).times(100)
        yield determined("token share", "1 - PAC-CF tokens / Native tokens", at, cell.token, saved)


def per_backbone(paper: Paper) -> Iterator[Check]:
    """The per-backbone table reprints B100 and B500 of the raw tables."""
    cells = conditions(paper)
    for row in paper.per_backbone_main:
        for budget in ("b100", "b500"):
            cell = cells[row.domain, budget.upper(), row.controller]

            def at(column: str, name: str = f"{row.domain} {row.controller}", budget: str = budget) -> Where:
                return Where("per_backbone_main", name, f"{budget}_{column}")

            utility: Printed = getattr(row, f"{budget}_delta_utility_pp")
            n_eff: Printed = getattr(row, f"{budget}_n_eff")
            what = "as in the raw table"
            yield _points("per backbone", what, at("delta_utility_pp"), utility, cell.delta, cell.utility)
            yield counted("per backbone", what, at("n_eff"), n_eff, cell.n_eff)
            for measure in ("preq", "net_graph", "token"):
                column = f"{measure}_pct"
                reprint: Printed = getattr(row, f"{budget}_{column}")
                yield repeated("per backbone", what, at(column), reprint, getattr(cell, measure))


def per_condition(paper: Paper) -> Iterator[Check]:
    """The per-condition table reprints every difference, on the full test set."""
    cells = conditions(paper)
    for row in paper.per_condition_ci:
        cell = cells[row.domain, row.budget, row.controller]
        name = f"{row.domain} {row.budget} {row.controller}"
        at = Where("per_condition_ci", name, "delta_utility_pp")
        what = "difference as in the raw table"
        yield _points("per condition", what, at, row.delta_utility_pp, cell.delta, cell.utility)
        at = Where("per_condition_ci", name, "n")
        yield counted("test set", "all test tasks of the domain", at, row.n, TEST_TASKS[row.domain])


def _points(kind: str, what: str, at: Where, printed: Printed, delta: Printed, utility: Span) -> Check:
    """Points against GTA's own print of them, or against the exact counts of the binary domains."""
    if delta.decimals:
        return repeated(kind, what, at, printed, delta)
    return determined(kind, what, at, printed, utility)
