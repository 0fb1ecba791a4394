"""Every table of an audit by its name. The paper's tables have the names that `paccf published list` gives them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from paccf.audit.audit import Audit, Need
from paccf.audit.names import domain_title
from paccf.audit.run import Unsupported
from paccf.audit.tables import accounting, budgets, calibration, conditions, coverage, judging, macros, theory
from paccf.audit.tables.table import Column, Printed, Source, Table, Value, written

__all__ = ["TABLES", "Column", "Printed", "Source", "Table", "Value", "build", "lacks", "names", "titles", "written"]

Builder = Callable[[Audit], Table]

# name -> (what it shows, how it is built, what it needs); `raw_<domain>` comes on top, one a domain of the record
TABLES: dict[str, tuple[str, Builder, Need]] = {
    "macro_main": ("Utility and workload, per domain and over domains", macros.macro_main, "cells"),
    "main_budget_efficiency": (
        "Utility of both arms and workload against the budget",
        budgets.main_budget_efficiency,
        "cells",
    ),
    "main_ci": ("Macros over domains with 95 % intervals", macros.main_ci, "cells"),
    "domain_macro_ci": ("Domain macros with 95 % intervals", macros.domain_macro_ci, "cells"),
    "strong_backbone_ci": ("ToolTree over the domains, with intervals", macros.strong_backbone_ci, "cells"),
    "exclude_tooltree_macro": ("The macro without ToolTree, both cohorts", macros.exclude_tooltree_macro, "cells"),
    "budget_censor_sensitivity": (
        "All tasks beside non-budget-censored tasks",
        macros.budget_censor_sensitivity,
        "cells",
    ),
    "cohorts": ("How many pairs the workload figures stand on", macros.cohorts, "cells"),
    "per_backbone_main": ("Every controller at the smallest and largest budget", conditions.per_backbone_main, "cells"),
    "workload": ("All five workload views of every condition", conditions.workload, "cells"),
    "gross_subtree_main": ("Gross subtree pruning at the largest budget", conditions.gross_subtree_main, "trees"),
    "gross_all_budgets": ("Gross subtree macros at every budget", macros.gross_all_budgets, "trees"),
    "per_condition_ci": (
        "Utility of every condition: interval, R/G/T, Clopper-Pearson",
        conditions.per_condition_ci,
        "cells",
    ),
    "per_condition_header": (
        "The column heads of the paper's per-condition table",
        conditions.per_condition_header,
        "cells",
    ),
    "q95_l_main": ("The frozen margins", calibration.q95_l_main, "certificates"),
    "calibration_rank_audit": (
        "Calibration tasks, ranks, margins and bounds",
        calibration.calibration_rank_audit,
        "certificates",
    ),
    "margin_by_q": ("The margin at other levels of Q", calibration.margin_by_q, "certificates"),
    "margin_steps": ("Every margin that could have been frozen", calibration.margin_steps, "certificates"),
    "deficits": ("The score deficit of every task", calibration.deficits, "traces"),
    "exposure": ("Exposure of calibration and test tasks compared", calibration.exposure, "coverage"),
    "zero_api_native_coverage": (
        "Coverage of the margins on Native traces",
        coverage.zero_api_native_coverage,
        "coverage",
    ),
    "zero_api_threshold_point": ("The frozen operating points offline", coverage.zero_api_threshold_point, "coverage"),
    "coverage_sweep": ("Coverage and pruning at every threshold", coverage.coverage_sweep, "coverage"),
    "adaptive_oracle_audit": ("Survival on the adaptive trajectories", coverage.adaptive_oracle_audit, "pairs"),
    "evaluator": ("Evaluator quality: ranking, variance, position", judging.evaluator, "traces"),
    "evaluator_curve": ("Share of protected candidates by score", judging.evaluator_curve, "traces"),
    "qual_case_main": ("The most telling rescue, both arms", conditions.qual_case_main, "pairs"),
    "cases": ("The largest rescues and regressions", conditions.cases, "pairs"),
    "bill_main": ("Both arms' bills at the largest budget", accounting.bill_main, "pairs"),
    "bill": ("Where the requests and tokens went", accounting.bill, "pairs"),
    "ends": ("How the searches ended", accounting.ends, "pairs"),
    "metrics": ("Further utilities of the domains", accounting.metrics, "pairs"),
    "exclusions": ("Tasks in no pair, and why", accounting.exclusions, "pairs"),
    "frozen_config": ("What was run", accounting.frozen_config, "nothing"),
    "checks": ("What was checked, and what contradicts itself", accounting.checks, "nothing"),
    "safety_ablation_main": (
        "The controlled check at the theoretical boundary",
        theory.safety_ablation_main,
        "nothing",
    ),
    "theory_regimes": ("What the gap allows", theory.theory_regimes, "nothing"),
}
RAW = "raw_"
NO_RECORD = ("safety_ablation_main", "theory_regimes")  # from the theory, whatever the run


def titles(audit: Audit) -> dict[str, str]:
    """The tables of a run: name -> what it shows. One `raw_` table a domain stands after the per-backbone table."""
    try:
        domains = audit.domains
    except Unsupported:
        domains = ()
    found: dict[str, str] = {}
    for name, (title, *_) in TABLES.items():
        found[name] = title
        if name == "per_backbone_main":
            found |= {f"{RAW}{d}": f"{domain_title(d)}: every controller and budget, with totals" for d in domains}
    return found


def names(audit: Audit) -> list[str]:
    """The names of the tables of a run."""
    return list(titles(audit))


def lacks(audit: Audit, name: str) -> str:
    """Why this record cannot carry the table, as far as one can tell without making it; empty if nothing is known."""
    try:
        audit.require(TABLES[name][2] if name in TABLES else "cells")
    except Unsupported as why:
        return str(why)
    return ""


def build(audit: Audit, name: str) -> Table:
    """The table ``name``, made once. Raises LookupError if there is none such, `Unsupported` if the record cannot carry
    it."""
    made = audit.made
    if name not in made:
        made[name] = _built(audit, name)
    return made[name]


def _built(audit: Audit, name: str) -> Table:
    maker = TABLES[name][1] if name in TABLES else None
    if maker is None and name.startswith(RAW):
        maker = partial(conditions.raw, domain=name.removeprefix(RAW))
    if maker is None:
        raise LookupError(f"there is no table {name!r}; the tables are {', '.join(names(audit))}")
    of = f"{audit.name} ({audit.where})"
    return replace(maker(audit), simulated=audit.simulated, caveats=audit.caveats, of=of)
