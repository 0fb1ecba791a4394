"""What the paper's efficiency figure shows: both arms' utility and three reductions at every budget, with intervals."""

from __future__ import annotations

from paccf.audit.audit import Audit
from paccf.audit.names import REALIZED
from paccf.audit.tables.macros import (
    BUDGET,
    CONDITIONED,
    DOMAIN,
    N_EFF,
    NBC,
    PAIRS,
    RATIO,
    UTILITY,
    incomplete,
    label,
    sizes,
    source,
    view_column,
    whose,
)
from paccf.audit.tables.table import Column, Table, Value


def main_budget_efficiency(audit: Audit) -> Table:
    """Macro utility of both arms and the reductions, per domain and over domains."""
    columns = [DOMAIN, BUDGET, Column("native", "Native U", 2), Column("paccf", "PAC-CF U", 2), UTILITY]
    columns.append(Column("utility_ci", "95% CI", 2))
    for view in REALIZED:
        columns += [view_column(view, signed=True), Column(f"{view}_ci", "95% CI", 2)]
    columns += [N_EFF, PAIRS]
    rows: list[tuple[Value, ...]] = []
    breaks, means = set(), []
    for domain in (*audit.domains, *((None,) if len(audit.domains) > 1 else ())):
        breaks.add(len(rows))
        for budget in audit.budgets:
            arms = [audit.macro(arm, budget, domain=domain).value for arm in ("native", "paccf")]
            values: list[Value] = []
            for quantity in ("utility", *REALIZED):
                macro = audit.macro(quantity, budget, domain=domain)
                means.append((quantity, macro))
                values += [macro.value, audit.interval(quantity, budget, where=domain or "every")]
            rows.append((whose(audit, domain), label(budget), *arms, *values, *sizes(audit, domain, budget)))
    return Table(
        "main_budget_efficiency",
        "Utility and workload reduction against the budget",
        tuple(columns),
        tuple(rows),
        source(audit, f"{RATIO}; {NBC}; U: mean utility of an arm, times 100"),
        (CONDITIONED.replace("stands beside it", "stands in macro_main"), *incomplete(means)),
        frozenset(breaks),
    )
