"""Every figure of an audit by its name. A figure pictures tables of the audit and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from paccf.audit import tables
from paccf.audit.audit import Audit
from paccf.report.figures import cells, efficiency, margins, traces
from paccf.report.figures.figure import FORMS, Figure, Form, ThemeName
from paccf.report.figures.style import Drawing
from paccf.report.figures.threshold import coverage_sweep

__all__ = ["FIGURES", "FORMS", "Figure", "Form", "ThemeName", "build", "coverage_sweep", "lacks", "names"]


@dataclass(frozen=True)
class Kind:
    """What a figure shows, how to read it, which tables it pictures, and how it is drawn."""

    title: str
    caption: str
    pictures: tuple[str, ...]
    drawing: Drawing


FIGURES: dict[str, Kind] = {
    "main_budget_efficiency": Kind(
        "Utility and workload saved against the budget",
        "Top: macro utility of both arms on all paired tasks, with PAC-CF minus Native in points. Below: what PAC-CF "
        "saved of the workload, as ratios of totals on the non-budget-censored pairs; the dashed line is Native, "
        "bars are 95 % bootstrap intervals.",
        ("main_budget_efficiency",),
        efficiency.draw,
    ),
    "workload": Kind(
        "Every condition: utility and workload",
        "A row a controller, a column a budget. Utility is PAC-CF minus Native in points on all paired tasks; views "
        "are what PAC-CF saved in per cent on the non-budget-censored pairs, blue for less work, orange for more. n/a: "
        "the cohort is empty or usage is unknown.",
        ("workload", "per_condition_ci"),
        cells.heat_map,
    ),
    "per_condition_ci": Kind(
        "Utility of every condition, with 95 % intervals",
        "PAC-CF minus Native on all paired tasks. Lines are paired bootstrap intervals of a condition, diamonds those "
        "of the means. An interval that is a point says that no task differed, not that none could: the table has the "
        "Clopper-Pearson limits.",
        ("per_condition_ci", "domain_macro_ci", "main_ci"),
        cells.forest,
    ),
    "deficits": Kind(
        "Score deficits of tasks, and the frozen margin",
        "For every deficit, the share of exposed tasks that a margin of that size keeps covered on Native traces: of "
        "the calibration tasks the margin is a rank of, and of the test tasks. Tasks with an unresolved label are in "
        "the denominator and never covered.",
        ("deficits", "calibration_rank_audit"),
        margins.deficits,
    ),
    "margin_by_q": Kind(
        "What a margin costs: margin against Q",
        "The k-th smallest deficit of n exposed calibration tasks serves every Q up to k / (n + 1); marks are frozen "
        "margins. Beyond the last step no finite margin can be promised.",
        ("margin_steps",),
        margins.margin_by_q,
    ),
    "coverage_sweep": Kind(
        "Coverage against aggressiveness, offline",
        "Every threshold on fixed Native test traces: how many exposed tasks keep a protected candidate everywhere, "
        "against the share of candidates pruned. Marks are the frozen margins. A proxy, not a saving, and no test "
        "value may choose the threshold.",
        ("coverage_sweep",),
        traces.coverage_sweep,
    ),
    "bill": Kind(
        "Where the requests went",
        "Physical-equivalent requests of both arms by kind, over all paired tasks, at the largest budget.",
        ("bill",),
        traces.bill,
    ),
    "evaluator_curve": Kind(
        "What a score is worth",
        "The share of protected candidates among those with a score, in ten bins, on Native test frontiers; bars are "
        "95 % Clopper-Pearson limits, too narrow rather than too wide: candidates of one task are not independent.",
        ("evaluator_curve",),
        traces.evaluator_curve,
    ),
}


def names() -> list[str]:
    """The names of all figures."""
    return list(FIGURES)


def lacks(audit: Audit, name: str) -> str:
    """Why this record cannot carry the figure, as far as one can tell without making it; empty if nothing is known."""
    return next((why for table in FIGURES[name].pictures if (why := tables.lacks(audit, table))), "")


def build(audit: Audit, name: str) -> Figure:
    """The figure ``name``. Raises LookupError if there is none such, `Unsupported` if the record cannot carry it."""
    if name not in FIGURES:
        raise LookupError(f"there is no figure {name!r}; the figures are {', '.join(FIGURES)}")
    kind = FIGURES[name]
    data = tuple(tables.build(audit, table) for table in kind.pictures)
    return Figure(name, kind.title, kind.caption, data, kind.drawing)
