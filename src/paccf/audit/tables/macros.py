"""The tables of macros: per domain, over domains, ToolTree alone and without it, both cohorts, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from paccf.audit.audit import Audit, Cohort, Scope
from paccf.audit.cells import Macro
from paccf.audit.names import GROSS, REALIZED, VIEWS, controller_title, domain_title
from paccf.audit.resample import Interval
from paccf.audit.tables.beside import Match, beside
from paccf.audit.tables.table import Column, Printed, Source, Table, Value
from paccf.published import load

RATIO = "per cell 1 - sum PAC-CF / sum Native over the cohort, then the mean over controllers, then over domains"
NBC = "workload: pairs in which neither arm was ended by the hard budget; utility: all paired tasks"
CONDITIONED = "the cohort conditions on what pruning may have changed, so the all-task figure stands beside it"
WHERE_ALL = "All domains"

DOMAIN, BUDGET = Column("domain", "Domain"), Column("budget", "Budget")
N_EFF = Column("n_eff", "N_eff", 0)
PAIRS = Column("pairs", "Pairs", 0)
UTILITY = Column("utility", "ΔU pp", 2, signed=True)


def view_column(view: str, cohort: Cohort = "nbc", signed: bool = False) -> Column:
    """The column of a workload view's reduction."""
    tail = "" if cohort == "nbc" else " (all)"
    return Column(f"{view}{'' if cohort == 'nbc' else '_all'}", f"{VIEWS[view]}{tail}", 2, "%", signed)


def label(budget: int) -> str:
    return f"B{budget}"


def sizes(audit: Audit, domain: str | None, budget: int, scope: Scope = "every") -> tuple[int, int]:
    """Pairs in the non-budget-censored cohort, and all pairs, summed over controllers."""
    found = [
        audit.cells[d, c, budget]
        for d in (audit.domains if domain is None else (domain,))
        for c in audit.chosen(d, scope)
        if (d, c, budget) in audit.cells
    ]
    return sum(cell.n_eff for cell in found), sum(cell.tasks for cell in found)


def incomplete(macros: Iterable[tuple[str, Macro]]) -> tuple[str, ...]:
    """A note for every mean that lacks a condition."""
    found: dict[str, None] = {}
    for view, macro in macros:
        for domain, controller, budget in macro.missing:
            where = f"{domain_title(domain)} {controller_title(controller)} {label(budget)}"
            found[
                f"no {VIEWS.get(view, view)} figure for {where} (empty cohort or unknown usage): left out of the mean"
            ] = None
    return tuple(found)


def source(audit: Audit, query: str) -> Source:
    pairs = sum(cell.tasks for cell in audit.cells.values())
    kept = sum(cell.n_eff for cell in audit.cells.values())
    return Source(query, {"conditions": len(audit.cells), "pairs": pairs, "non-budget-censored pairs": kept})


def macro_main(audit: Audit) -> Table:
    """Non-budget-censored realized end-to-end efficiency, the paper's main table."""
    columns = (
        DOMAIN,
        BUDGET,
        UTILITY,
        *(view_column(view) for view in REALIZED),
        N_EFF,
        PAIRS,
        *(view_column(view, "all") for view in REALIZED),
    )
    rows: list[tuple[Value, ...]] = []
    breaks, means = set(), []
    for domain in (*audit.domains, None):
        breaks.add(len(rows))
        for budget in audit.budgets:
            figures = [("utility", audit.macro("utility", budget, domain=domain))]
            figures += [(v, audit.macro(v, budget, "nbc", domain=domain)) for v in REALIZED]
            wide = [audit.macro(v, budget, "all", domain=domain).value for v in REALIZED]
            means += figures
            values = [macro.value for _, macro in figures]
            rows.append((whose(audit, domain), label(budget), *values, *sizes(audit, domain, budget), *wide))
    printed = beside(
        "macro_main",
        columns,
        rows,
        {"domain": "domain", "budget": "budget"},
        {
            "utility": "delta_utility_pp",
            "requests": "preq_reduction_pct",
            "net_graph": "net_graph_reduction_pct",
            "tokens": "token_reduction_pct",
        },
    )
    every = [Printed(len(rows) - len(audit.budgets) + p.row, p.column, p.text) for p in _sensitivity(audit)]
    return Table(
        "macro_main",
        "Non-budget-censored realized end-to-end efficiency",
        columns,
        tuple(rows),
        source(audit, f"{RATIO}; {NBC}"),
        (CONDITIONED, *incomplete(means)),
        frozenset(breaks),
        (*printed, *every),
    )


def whose(audit: Audit, domain: str | None) -> str:
    if domain is not None:
        return domain_title(domain)
    return f"{len(audit.domains)}-domain macro" if len(audit.domains) > 1 else "macro"


def _sensitivity(audit: Audit) -> tuple[Printed, ...]:
    """The all-task figures of the paper, which it prints for the mean over domains only."""
    columns = [BUDGET]
    rows = [(label(b),) for b in audit.budgets]
    match = {"requests_all": "preq_all", "net_graph_all": "net_graph_all", "tokens_all": "token_all"}
    wide = [*columns, *(view_column(view, "all") for view in REALIZED)]
    return beside("budget_censor_sensitivity", wide, rows, {"budget": "budget"}, match)


def _interval_columns(decimals: int) -> list[Column]:
    found = [
        Column("utility", "ΔU pp", decimals, signed=True),
        Column("utility_ci", "95% CI", decimals),
    ]
    for view in REALIZED:
        found += [view_column(view, signed=True), Column(f"{view}_ci", "95% CI", 2)]
    return [*found, N_EFF, PAIRS, *(view_column(view, "all") for view in REALIZED)]


def _interval_row(
    audit: Audit, budget: int, scope: Scope, domain: str | None
) -> tuple[list[Value], list[tuple[str, Macro]]]:
    where = scope if domain is None else domain
    values: list[Value] = []
    means = []
    for quantity in ("utility", *REALIZED):
        macro = audit.macro(quantity, budget, "nbc", scope, domain)
        means.append((quantity, macro))
        values += [macro.value, audit.interval(quantity, budget, "nbc", where)]
    wide = [audit.macro(v, budget, "all", scope, domain).value for v in REALIZED]
    return [*values, *sizes(audit, domain, budget, scope), *wide], means


def _bootstrap(audit: Audit, how: str) -> str:
    return f"{audit.resamples:,} paired task resamples, {how}; ratios inside the resample; percentiles 2.5 and 97.5"


SHARED = "task identities shared by controllers, arms and quantities of a domain"
INDEPENDENT = "domains resampled independently, then averaged"

_ENDS: Match = {
    "utility": "delta_utility",
    "utility_ci": ("delta_utility_lo", "delta_utility_hi"),
    "requests": "preq",
    "requests_ci": ("preq_lo", "preq_hi"),
    "net_graph": "net_graph",
    "net_graph_ci": ("net_graph_lo", "net_graph_hi"),
    "tokens": "token",
    "tokens_ci": ("token_lo", "token_hi"),
}
_MAIN: Match = {
    **_ENDS,
    "utility": "delta_utility_pp",
    "requests": "preq_pct",
    "net_graph": "net_graph_pct",
    "tokens": "token_pct",
}


def main_ci(audit: Audit) -> Table:
    """Three-domain intervals, and ToolTree's at the smallest budget."""
    columns = [Column("row", "Budget"), *_interval_columns(3)]
    rows: list[tuple[Value, ...]] = []
    means, breaks = [], set()
    for budget in audit.budgets:
        values, found = _interval_row(audit, budget, "every", None)
        rows.append((label(budget), *values))
        means += found
    if any(audit.chosen(d, "tooltree") for d in audit.domains):
        breaks.add(len(rows))
        values, found = _interval_row(audit, audit.budgets[0], "tooltree", None)
        rows.append((f"ToolTree {label(audit.budgets[0])}", *values))
        means += found
    return Table(
        "main_ci",
        f"{whose(audit, None)}: paired bootstrap 95% intervals",
        tuple(columns),
        tuple(rows),
        source(audit, f"{RATIO}; {NBC}; {_bootstrap(audit, f'{SHARED}; {INDEPENDENT}')}"),
        (CONDITIONED, *incomplete(means), *_undefined(audit, rows)),
        frozenset(breaks),
        beside("main_ci", columns, rows, {"row": "row"}, _MAIN),
    )


def _undefined(audit: Audit, rows: Sequence[Sequence[Value]]) -> tuple[str, ...]:
    if not any(isinstance(v, Interval) for row in rows for v in row):
        return ("no intervals: this record carries no tasks to resample",)
    worst = max((v.undefined for row in rows for v in row if isinstance(v, Interval)), default=0)
    return (
        (f"up to {worst:,} of {audit.resamples:,} resamples had nothing in a denominator; no percentile holds them",)
        if worst
        else ()
    )


def domain_macro_ci(audit: Audit) -> Table:
    """Domain macros with intervals."""
    columns = [DOMAIN, BUDGET, *_interval_columns(2)]
    rows: list[tuple[Value, ...]] = []
    means, breaks = [], set()
    for domain in audit.domains:
        breaks.add(len(rows))
        for budget in audit.budgets:
            values, found = _interval_row(audit, budget, "every", domain)
            rows.append((domain_title(domain), label(budget), *values))
            means += found
    return Table(
        "domain_macro_ci",
        "Paired bootstrap domain macros",
        tuple(columns),
        tuple(rows),
        source(audit, f"{RATIO}; {NBC}; {_bootstrap(audit, SHARED)}"),
        (CONDITIONED, *incomplete(means), *_undefined(audit, rows)),
        frozenset(breaks),
        beside("domain_macro_ci", columns, rows, {"domain": "domain", "budget": "budget"}, _ENDS),
    )


def strong_backbone_ci(audit: Audit) -> Table:
    """The macro of ToolTree, whose Native rule prunes already."""
    columns = [BUDGET, *_interval_columns(2)]
    rows: list[tuple[Value, ...]] = []
    means = []
    for budget in audit.budgets:
        values, found = _interval_row(audit, budget, "tooltree", None)
        rows.append((label(budget), *values))
        means += found
    return Table(
        "strong_backbone_ci",
        f"ToolTree, {whose(audit, None)}",
        tuple(columns),
        tuple(rows),
        source(audit, f"{RATIO}, ToolTree only; {NBC}; {_bootstrap(audit, INDEPENDENT)}"),
        (CONDITIONED, *incomplete(means), *_undefined(audit, rows)),
        printed=beside("strong_backbone_ci", columns, rows, {"budget": "budget"}, _ENDS),
    )


def exclude_tooltree_macro(audit: Audit) -> Table:
    """The macro of the other controllers, both cohorts, each said."""
    columns = [BUDGET, Column("utility", "ΔU pp", 3, signed=True)]
    for view in REALIZED:
        columns += [view_column(view), view_column(view, "all")]
    columns += [N_EFF, PAIRS]
    rows: list[tuple[Value, ...]] = []
    means = []
    for budget in audit.budgets:
        figures = [("utility", audit.macro("utility", budget, scope="others"))]
        for view in REALIZED:
            figures += [(view, audit.macro(view, budget, cohort, "others")) for cohort in ("nbc", "all")]
        means += figures
        rows.append((label(budget), *(m.value for _, m in figures), *sizes(audit, None, budget, "others")))
    printed = beside(
        "exclude_tooltree_macro",
        columns,
        rows,
        {"budget": "budget"},
        {
            "utility": "delta_utility_pp",
            "requests_all": "preq_reduction_pct",
            "net_graph_all": "net_graph_reduction_pct",
        },
    )
    return Table(
        "exclude_tooltree_macro",
        f"{whose(audit, None)} without ToolTree, on both cohorts",
        tuple(columns),
        tuple(rows),
        source(
            audit,
            f"{RATIO}, all controllers but ToolTree; columns without a mark: non-budget-censored; (all): all tasks",
        ),
        (
            "the paper's table prints all-task reductions under the label of the cohort, its text those of the cohort; "
            "its figures stand beside the column that they are",
            *incomplete(means),
        ),
        printed=(*printed, *_robust_text(audit)),
    )


def _robust_text(audit: Audit) -> tuple[Printed, ...]:
    """The non-budget-censored figures that the paper's text gives for its first and last budget."""
    from paccf.published.text import WITHOUT_TOOLTREE

    names = {"preq": "requests", "net_graph": "net_graph", "token": "tokens"}
    places = {label(budget): row for row, budget in enumerate(audit.budgets)}
    return tuple(
        Printed(places[budget], names[measure], said.printed.text)
        for (measure, budget), said in WITHOUT_TOOLTREE.items()
        if measure in names and budget in places
    )


def budget_censor_sensitivity(audit: Audit) -> Table:
    """All-task accounting beside the non-budget-censored cohort."""
    columns = [BUDGET]
    for view in REALIZED:
        columns += [view_column(view, "all"), Column(view, f"{VIEWS[view]} (NBC)", 2, "%")]
    columns += [N_EFF, PAIRS, Column("share", "NBC share", 1, "%")]
    rows: list[tuple[Value, ...]] = []
    for budget in audit.budgets:
        kept, pairs = sizes(audit, None, budget)
        values = [audit.macro(v, budget, cohort).value for v in REALIZED for cohort in ("all", "nbc")]
        rows.append((label(budget), *values, kept, pairs, 100 * kept / pairs if pairs else None))
    match: dict[str, str | tuple[str, str]] = {}
    for ours, theirs in zip(REALIZED, ("preq", "net_graph", "token"), strict=True):
        match |= {f"{ours}_all": f"{theirs}_all", ours: f"{theirs}_nbc"}
    return Table(
        "budget_censor_sensitivity",
        "Sensitivity to budget censoring: all tasks and the non-budget-censored cohort",
        tuple(columns),
        tuple(rows),
        source(audit, RATIO),
        printed=beside("budget_censor_sensitivity", columns, rows, {"budget": "budget"}, match),
    )


def cohorts(audit: Audit) -> Table:
    """How many pairs the workload figures stand on."""
    columns = (DOMAIN, BUDGET, N_EFF, PAIRS, Column("share", "Share", 1, "%"))
    rows: list[tuple[Value, ...]] = []
    breaks = set()
    for domain in (*audit.domains, None):
        breaks.add(len(rows))
        for budget in audit.budgets:
            kept, pairs = sizes(audit, domain, budget)
            whose = WHERE_ALL if domain is None else domain_title(domain)
            rows.append((whose, label(budget), kept, pairs, 100 * kept / pairs if pairs else None))
    return Table(
        "cohorts",
        "The non-budget-censored cohort",
        columns,
        tuple(rows),
        source(
            audit, "controller-task pairs in which neither arm ended by the hard budget, of all complete-case pairs"
        ),
        breaks=frozenset(breaks),
        printed=_cohort_text(columns, rows),
    )


def _cohort_text(columns: Sequence[Column], rows: Sequence[Sequence[Value]]) -> tuple[Printed, ...]:
    from paccf.published.text import COHORT

    found = []
    for place, (whose, budget, *_) in enumerate(rows):
        if whose == WHERE_ALL and budget in COHORT:
            said = COHORT[str(budget)]
            found += [
                Printed(place, key, s.printed.text) for key, s in zip(("n_eff", "pairs", "share"), said, strict=True)
            ]
    gross = load().gross_all_budgets
    for place, (whose, budget, *_) in enumerate(rows):
        for row in gross:
            if (row.domain, row.budget) == (whose, budget):
                found.append(Printed(place, "n_eff", row.n_eff.text))
    return tuple(found)


def gross_all_budgets(audit: Audit) -> Table:
    """Gross macros of a domain at every budget."""
    columns = (DOMAIN, BUDGET, N_EFF, PAIRS, *(view_column(v) for v in GROSS), *(view_column(v, "all") for v in GROSS))
    rows: list[tuple[Value, ...]] = []
    breaks, means = set(), []
    for domain in audit.domains:
        breaks.add(len(rows))
        for budget in audit.budgets:
            figures = [(v, audit.macro(v, budget, "nbc", domain=domain)) for v in GROSS]
            wide = [audit.macro(v, budget, "all", domain=domain).value for v in GROSS]
            means += figures
            values = [m.value for _, m in figures]
            rows.append((domain_title(domain), label(budget), *sizes(audit, domain, budget), *values, *wide))
    match = {"n_eff": "n_eff", "physical_nodes": "gross_physical_nodes_pct", "virtual_nodes": "gross_virtual_nodes_pct"}
    return Table(
        "gross_all_budgets",
        "Gross matched-Native subtree macros",
        columns,
        tuple(rows),
        source(
            audit,
            "union of matched PAC-CF-pruned roots and their Native descendants, over all Native nodes; scored "
            "occurrences strictly below them, over all Native ones; summed per cell, mean over controllers",
        ),
        incomplete(means),
        frozenset(breaks),
        beside("gross_all_budgets", columns, rows, {"domain": "domain", "budget": "budget"}, match),
    )
