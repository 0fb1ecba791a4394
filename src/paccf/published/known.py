"""The twelve printed figures that other printed figures contradict, and why. Any other one is a mistake of ours."""

from __future__ import annotations

from dataclasses import dataclass

_ALL_TASKS = (
    "The rows of the raw tables give the figure that the main text quotes, for the non-budget-censored cohort. The "
    "print in the appendix is the all-task figure: (5 x All - ToolTree) / 4, from the All column of the "
    "sensitivity table, reproduces it. One quantity on two cohorts under one label; the utility column is right."
)
_HEADER = (
    "The head promises rescues, regressions and ties (R/G/T), but the rows carry no such cell, so that N stands "
    "under R/G/T. The exact bootstrap law recovers the counts of all 40 binary conditions from their intervals."
)
_EXPOSURE = (
    "Far fewer calibration tasks than test tasks expose a protected frontier. Either the two sets of tasks differ, "
    "or the two labellings do (a verified completion in the subtree for calibration, exact reachability for the "
    "test). The coverage guarantee needs exchangeable tasks under one labelling."
)


@dataclass(frozen=True, slots=True)
class Known:
    """What is printed there, and why the other figures contradict it."""

    printed: str
    explanation: str


# budget -> (physical requests, net graph nodes) of the table without ToolTree
_WITHOUT_TOOLTREE = {
    "B100": ("2.94", "8.26"),
    "B200": ("5.26", "11.07"),
    "B300": ("6.16", "11.74"),
    "B500": ("7.10", "12.45"),
}
_EXPOSED = {
    "ToolChain*": "52/80 and 97/100",
    "LATS": "45/80 and 96/100",
    "LevinTS": "30/80 and 80/100",
}

# (kind, table, row, column) of the check
KNOWN: dict[tuple[str, str, str, str], Known] = {
    **{
        ("without ToolTree", "exclude_tooltree_macro", budget, column): Known(printed, _ALL_TASKS)
        for budget, prints in _WITHOUT_TOOLTREE.items()
        for column, printed in zip(("preq_reduction_pct", "net_graph_reduction_pct"), prints, strict=True)
    },
    ("columns", "per_condition_ci", "column heads", "R/G/T"): Known("7 heads", _HEADER),
    **{
        ("exposure", "calibration_rank_audit", f"Game24 {controller}", "n"): Known(printed, _EXPOSURE)
        for controller, printed in _EXPOSED.items()
    },
}
