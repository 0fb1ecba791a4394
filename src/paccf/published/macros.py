"""Checks of every mean over controllers and domains, from the rows of the raw tables."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from paccf.published.cells import conditions, macro
from paccf.published.figure import Printed, Span, mean
from paccf.published.finding import Check, Where, counted, determined, repeated
from paccf.published.tables import Paper
from paccf.published.text import (
    BUDGETS,
    COHORT,
    CONTROLLERS,
    DOMAINS,
    MEASURES,
    RANGES,
    TEST_TASKS,
    TOOLTREE_B100,
    WITHOUT_TOOLTREE,
    Said,
)

MACRO_COLUMNS = {
    "utility": "delta_utility_pp",
    "preq": "preq_reduction_pct",
    "net_graph": "net_graph_reduction_pct",
    "token": "token_reduction_pct",
}
POINT_COLUMNS = {"utility": "delta_utility_pp", "preq": "preq_pct", "net_graph": "net_graph_pct", "token": "token_pct"}
OTHERS = tuple(c for c in CONTROLLERS if c != "ToolTree")


def domains(paper: Paper) -> Iterator[Check]:
    """Domain macros are means of five controllers; the table with intervals repeats them."""
    cells = conditions(paper)
    for row in paper.macro_main:
        if row.domain not in DOMAINS:
            continue
        repeat = paper.domain_macro_ci.find(domain=row.domain, budget=row.budget)
        for measure, column in MACRO_COLUMNS.items():
            at = Where("macro_main", f"{row.domain} {row.budget}", column)
            printed: Printed = getattr(row, column)
            got = macro(cells, row.budget, measure, domains=(row.domain,))
            yield determined("domain macro", "mean of the five controllers", at, printed, got)
            column = "delta_utility" if measure == "utility" else measure
            at = Where("domain_macro_ci", f"{row.domain} {row.budget}", column)
            yield repeated("macro reprint", "as in the main table", at, getattr(repeat, column), printed)


def three_domains(paper: Paper) -> Iterator[Check]:
    """Three-domain macros, as printed in the main table, with intervals, and beside the all-task figures."""
    cells = conditions(paper)
    for budget in BUDGETS:
        main = paper.macro_main.find(domain="3-domain macro", budget=budget)
        interval = paper.main_ci.find(row=budget)
        sensitivity = paper.budget_censor_sensitivity.find(budget=budget)
        for measure in MEASURES:
            got = macro(cells, budget, measure)
            what = "mean of three domains"
            column = MACRO_COLUMNS[measure]
            at = Where("macro_main", f"3-domain macro {budget}", column)
            yield determined("three-domain macro", what, at, getattr(main, column), got)
            column = POINT_COLUMNS[measure]
            at = Where("main_ci", budget, column)
            yield determined("three-domain macro", what, at, getattr(interval, column), got)
            if measure != "utility":
                at = Where("budget_censor_sensitivity", budget, f"{measure}_nbc")
                yield determined("sensitivity", what, at, getattr(sensitivity, f"{measure}_nbc"), got)


def tooltree(paper: Paper) -> Iterator[Check]:
    """ToolTree alone over three domains; its B100 row also stands in the main table of intervals."""
    cells = conditions(paper)
    main = paper.main_ci.find(row="ToolTree B100")
    for row in paper.strong_backbone_ci:
        for measure in MEASURES:
            got = macro(cells, row.budget, measure, controllers=("ToolTree",))
            column = "delta_utility" if measure == "utility" else measure
            at = Where("strong_backbone_ci", row.budget, column)
            yield determined("ToolTree macro", "mean of three domains", at, getattr(row, column), got)
            if row.budget != "B100":
                continue
            at = Where("main_ci", main.row, POINT_COLUMNS[measure])
            point: Printed = getattr(main, POINT_COLUMNS[measure])
            yield determined("ToolTree macro", "mean of three domains", at, point, got)
            for end in ("lo", "hi"):
                at = Where("main_ci", main.row, f"{column}_{end}")
                print_: Printed = getattr(main, f"{column}_{end}")
                other: Printed = getattr(row, f"{column}_{end}")
                yield repeated("ToolTree interval", "as in the ToolTree table", at, print_, other)


def without_tooltree(paper: Paper) -> Iterator[Check]:
    """The macro over the four other controllers, in the appendix table and in the running text."""
    cells = conditions(paper)
    for row in paper.exclude_tooltree_macro:
        for measure in ("utility", "preq", "net_graph"):
            got = macro(cells, row.budget, measure, controllers=OTHERS)
            column = MACRO_COLUMNS[measure]
            at = Where("exclude_tooltree_macro", row.budget, column)
            what = "mean of the other four controllers"
            yield determined("without ToolTree", what, at, getattr(row, column), got)
    for (measure, budget), said in WITHOUT_TOOLTREE.items():
        got = macro(cells, budget, measure, controllers=OTHERS)
        yield _said("without ToolTree", said, budget, got)


def all_task_reading(paper: Paper) -> Iterator[Check]:
    """The workload of that appendix table read as all-task figures: (5 All - ToolTree) / 4.

    ToolTree's all-task figures are those of the budgets from B200 on, where its cohort is the whole test set.
    """
    cells = conditions(paper)
    for row in paper.exclude_tooltree_macro:
        every = paper.budget_censor_sensitivity.find(budget=row.budget)
        whole = "B200" if row.budget == "B100" else row.budget
        for measure in ("preq", "net_graph"):
            total: Printed = getattr(every, f"{measure}_all")
            got = all_task(total, macro(cells, whole, measure, controllers=("ToolTree",)))
            column = MACRO_COLUMNS[measure]
            at = Where("exclude_tooltree_macro", row.budget, column)
            what = "(5 x all tasks - ToolTree) / 4"
            yield determined("all-task reading", what, at, getattr(row, column), got)


def all_task(total: Printed, tooltree: Span) -> Span:
    """The macro over four controllers from the macro over five and ToolTree's own."""
    return (total.span.times(5) - tooltree).times(Fraction(1, 4))


def cohort(paper: Paper) -> Iterator[Check]:
    """How many of all pairs are not censored by the budget, as the running text says."""
    cells = conditions(paper)
    for budget, (count, pairs, share) in COHORT.items():
        kept = sum(cell.n_eff for (_, b, _), cell in cells.items() if b == budget)
        total = len(CONTROLLERS) * sum(TEST_TASKS.values())
        at = Where("text", share.place, f"{budget} pairs")
        yield counted("cohort", "five controllers on all test tasks", at, pairs.printed, total)
        at = Where("text", share.place, f"{budget} cohort")
        yield counted("cohort", "sum of N_eff", at, count.printed, kept)
        at = Where("text", share.place, f"{budget} share")
        got = Span.exact(Fraction(100 * kept, total))
        yield determined("cohort", "share of all pairs in percent", at, share.printed, got)


def running_text(paper: Paper) -> Iterator[Check]:
    """Macro and ToolTree figures quoted in the running text."""
    cells = conditions(paper)
    for (measure, budget), said in RANGES.items():
        yield _said("quoted", said, budget, macro(cells, budget, measure))
    for (domain, measure), said in TOOLTREE_B100.items():
        spans = [cells[d, "B100", "ToolTree"].measure(measure) for d in DOMAINS if domain in (d, None)]
        yield _said("quoted", said, "B100", mean(spans))


def _said(kind: str, said: Said, budget: str, got: Span) -> Check:
    at = Where("text", said.place, f"{said.what}, {budget}")
    return determined(kind, "from the rows of the raw tables", at, said.printed, got)
