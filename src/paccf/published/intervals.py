"""Checks of the printed 95 % intervals."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import isqrt
from typing import Any

from paccf.audit.bootstrap import matching_counts
from paccf.published.cells import Key, conditions
from paccf.published.figure import Printed, Span
from paccf.published.finding import Check, Where, near, stated
from paccf.published.macros import POINT_COLUMNS
from paccf.published.tables import Paper
from paccf.published.text import BUDGETS, DOMAINS, MEASURES, TEST_TASKS

# Ours. Independent domains give sqrt(sum of squared half-widths) / 3 only for symmetric intervals, so the printed
# half-widths are held to within this share of it; the largest deviation in the paper is 3.3 %.
HALF_WIDTH = Fraction(35, 1000)


def points(paper: Paper) -> Iterator[Check]:
    """Every point estimate lies inside its own interval."""
    for condition in paper.per_condition_ci:
        name = f"{condition.domain} {condition.budget} {condition.controller}"
        figures = condition.lo, condition.delta_utility_pp, condition.hi
        yield _inside(Where("per_condition_ci", name, "delta_utility_pp"), *figures)
    for domain in paper.domain_macro_ci:
        yield from _insides("domain_macro_ci", f"{domain.domain} {domain.budget}", domain)
    for tooltree in paper.strong_backbone_ci:
        yield from _insides("strong_backbone_ci", tooltree.budget, tooltree)
    for main in paper.main_ci:
        yield from _insides("main_ci", main.row, main)


def recovered_counts(paper: Paper) -> dict[Key, list[tuple[int, int]]]:
    """(domain, budget, controller) -> every (rescues, regressions) that prints the interval of the condition.

    For the 40 conditions of solved tasks; the difference is taken from the exact success counts.
    """
    cells = conditions(paper)
    found = {}
    for row in paper.per_condition_ci:
        if row.domain == "GTA":
            continue
        key = row.domain, row.budget, row.controller
        half = max(row.lo.half, row.hi.half)
        exact = cells[key].utility.mid
        found[key] = matching_counts(exact, row.lo.value, row.hi.value, TEST_TASKS[row.domain], half)
    return found


def binary(paper: Paper) -> Iterator[Check]:
    """The 40 intervals of solved-task differences follow from one pair (rescues, regressions) each."""
    for (domain, budget, controller), pairs in recovered_counts(paper).items():
        row = paper.per_condition_ci.find(domain=domain, budget=budget, controller=controller)
        n = TEST_TASKS[domain]
        found = ", ".join(f"R/G/T = {r}/{g}/{n - r - g}" for r, g in pairs) or "no rescues and regressions fit"
        at = Where("per_condition_ci", f"{domain} {budget} {controller}", "95 % CI")
        what = "exact paired bootstrap interval of exactly one (R, G)"
        yield stated("exact bootstrap", what, at, f"[{row.lo}, {row.hi}]", found, len(pairs) == 1)


def half_widths(paper: Paper) -> Iterator[Check]:
    """Three-domain half-widths are those of independently resampled domains."""
    for budget in BUDGETS:
        main = paper.main_ci.find(row=budget)
        parts = [paper.domain_macro_ci.find(domain=d, budget=budget) for d in DOMAINS]
        for measure in MEASURES:
            column = _stem(measure)
            printed = _half(getattr(main, f"{column}_lo"), getattr(main, f"{column}_hi"))
            halves = [_half(getattr(p, f"{column}_lo"), getattr(p, f"{column}_hi")).mid for p in parts]
            at = Where("main_ci", budget, f"{column} half-width")
            yield _independent(at, printed, halves)
        toolrow = paper.strong_backbone_ci.find(budget=budget)
        keys = [{"domain": d, "budget": budget, "controller": "ToolTree"} for d in DOMAINS]
        cells = [paper.per_condition_ci.find(**key) for key in keys]
        printed = _half(toolrow.delta_utility_lo, toolrow.delta_utility_hi)
        at = Where("strong_backbone_ci", budget, "delta_utility half-width")
        yield _independent(at, printed, [_half(c.lo, c.hi).mid for c in cells])


def resolved(paper: Paper) -> Iterator[Check]:
    """What the paper says of these intervals: workload above zero, utility resolved at B100 and B200 only."""
    for budget in BUDGETS:
        row = paper.main_ci.find(row=budget)
        for measure in MEASURES[1:]:
            lo: Printed = getattr(row, f"{measure}_lo")
            at = Where("main_ci", budget, f"{measure}_lo")
            yield stated("resolved", "workload interval above zero", at, lo.text, "above 0", lo.value > 0)
        lo, hi = row.delta_utility_lo, row.delta_utility_hi
        at = Where("main_ci", budget, "delta_utility_lo")
        if budget in ("B100", "B200"):
            yield stated("resolved", "utility resolved positive", at, lo.text, "above 0", lo.value > 0)
        else:
            holds = lo.value < 0 < hi.value
            yield stated("resolved", "utility unresolved", at, f"[{lo}, {hi}]", "around 0", holds)


def _stem(measure: str) -> str:
    return "delta_utility" if measure == "utility" else measure


def _insides(table: str, name: str, row: Any) -> Iterator[Check]:
    for measure in MEASURES:
        stem = _stem(measure)
        column = POINT_COLUMNS[measure] if table == "main_ci" else stem
        ends = getattr(row, f"{stem}_lo"), getattr(row, column), getattr(row, f"{stem}_hi")
        yield _inside(Where(table, name, column), *ends)


def _inside(at: Where, lo: Printed, point: Printed, hi: Printed) -> Check:
    holds = lo.value <= point.value <= hi.value
    return stated("inside", "point estimate inside its interval", at, point.text, f"[{lo}, {hi}]", holds)


def _half(lo: Printed, hi: Printed) -> Span:
    return (hi.span - lo.span).times(Fraction(1, 2))


def _independent(at: Where, printed: Span, halves: list[Fraction]) -> Check:
    squares = sum(h * h for h in halves)
    scale = 10**9  # the square root to nine decimals
    root = Fraction(isqrt(int(squares * scale * scale)), scale) / 3
    return near("half-width", "sqrt(sum of squared domain half-widths) / 3", at, printed, root, HALF_WIDTH)
