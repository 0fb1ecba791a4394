"""Every table of an audit by its name. The paper's tables have the names that `paccf published list` gives them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from paccf.audit.audit import Audit
from paccf.audit.names import domain_title
from paccf.audit.run import Unsupported
from paccf.audit.tables import accounting, conditions, evidence, macros, theory
from paccf.audit.tables.table import Column, Printed, Source, Table, Value, written

__all__ = ["TABLES", "Column", "Printed", "Source", "Table", "Value", "build", "names", "titles", "written"]

Builder = Callable[[Audit], Table]

# name -> (what it shows, how it is built); `raw_<domain>` comes on top, one a domain of the record
TABLES: dict[str, tuple[str, Builder]] = {
    "macro_main": ("Utility and workload, per domain and over domains", macros.macro_main),
    "main_ci": ("Macros over domains with 95 % intervals", macros.main_ci),
    "domain_macro_ci": ("Domain macros with 95 % intervals", macros.domain_macro_ci),
    "strong_backbone_ci": ("ToolTree over the domains, with intervals", macros.strong_backbone_ci),
    "exclude_tooltree_macro": ("The macro without ToolTree, both cohorts", macros.exclude_tooltree_macro),
    "budget_censor_sensitivity": ("All tasks beside non-budget-censored tasks", macros.budget_censor_sensitivity),
    "cohorts": ("How many pairs the workload figures stand on", macros.cohorts),
    "per_backbone_main": ("Every controller at the smallest and largest budget", conditions.per_backbone_main),
    "workload": ("All five workload views of every condition", conditions.workload),
    "gross_subtree_main": ("Gross subtree pruning at the largest budget", conditions.gross_subtree_main),
    "gross_all_budgets": ("Gross subtree macros at every budget", macros.gross_all_budgets),
    "per_condition_ci": ("Utility of every condition: interval, R/G/T, Clopper-Pearson", conditions.per_condition_ci),
    "per_condition_header": ("The column heads of the paper's per-condition table", conditions.per_condition_header),
    "q95_l_main": ("The frozen margins", evidence.q95_l_main),
    "calibration_rank_audit": ("Calibration tasks, ranks, margins and bounds", evidence.calibration_rank_audit),
    "margin_by_q": ("The margin at other levels of Q", evidence.margin_by_q),
    "deficits": ("The score deficit of every task", evidence.deficits),
    "exposure": ("Exposure of calibration and test tasks compared", evidence.exposure),
    "zero_api_native_coverage": ("Coverage of the margins on Native traces", evidence.zero_api_native_coverage),
    "zero_api_threshold_point": ("The frozen operating points offline", evidence.zero_api_threshold_point),
    "coverage_sweep": ("Coverage and pruning at every threshold", evidence.coverage_sweep),
    "adaptive_oracle_audit": ("Survival on the adaptive trajectories", evidence.adaptive_oracle_audit),
    "evaluator": ("Evaluator quality: ranking, variance, position", evidence.evaluator),
    "evaluator_curve": ("Share of protected candidates by score", evidence.evaluator_curve),
    "qual_case_main": ("The most telling rescue, both arms", conditions.qual_case_main),
    "cases": ("The largest rescues and regressions", conditions.cases),
    "bill": ("Where the requests and tokens went", accounting.bill),
    "ends": ("How the searches ended", accounting.ends),
    "metrics": ("Further utilities of the domains", accounting.metrics),
    "exclusions": ("Tasks in no pair, and why", accounting.exclusions),
    "frozen_config": ("What was run", accounting.frozen_config),
    "checks": ("What was checked, and what contradicts itself", accounting.checks),
    "safety_ablation_main": ("The controlled check at the theoretical boundary", theory.safety_ablation_main),
    "theory_regimes": ("What the gap allows", theory.theory_regimes),
}
RAW = "raw_"


def titles(audit: Audit) -> dict[str, str]:
    """The tables of a run: name -> what it shows. One `raw_` table a domain stands after the per-backbone table."""
    try:
        domains = audit.domains
    except Unsupported:
        domains = ()
    found: dict[str, str] = {}
    for name, (title, _) in TABLES.items():
        found[name] = title
        if name == "per_backbone_main":
            found |= {f"{RAW}{d}": f"{domain_title(d)}: every controller and budget, with totals" for d in domains}
    return found


def names(audit: Audit) -> list[str]:
    """The names of the tables of a run."""
    return list(titles(audit))


def build(audit: Audit, name: str) -> Table:
    """The table ``name``. Raises LookupError if there is none such, `Unsupported` if the record cannot carry it."""
    maker = TABLES[name][1] if name in TABLES else None
    if maker is None and name.startswith(RAW):
        maker = partial(conditions.raw, domain=name.removeprefix(RAW))
    if maker is None:
        raise LookupError(f"there is no table {name!r}; the tables are {', '.join(names(audit))}")
    return replace(maker(audit), simulated=audit.simulated, of=f"{audit.name} ({audit.where})")
