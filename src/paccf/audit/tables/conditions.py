"""The tables of single conditions: every controller at every budget, intervals, gross subtrees, single tasks."""

from __future__ import annotations

from fractions import Fraction

from paccf.audit.audit import Audit
from paccf.audit.cases import Case
from paccf.audit.cells import Totals
from paccf.audit.names import DOMAINS, GROSS, REALIZED, VIEWS, controller_title, domain_title
from paccf.audit.resample import Interval
from paccf.audit.run import Unsupported
from paccf.audit.tables.beside import Match, beside
from paccf.audit.tables.macros import (
    BUDGET,
    CONDITIONED,
    DOMAIN,
    N_EFF,
    NBC,
    PAIRS,
    UTILITY,
    label,
    source,
    view_column,
)
from paccf.audit.tables.table import Column, Printed, Source, Table, Value
from paccf.method.tails import clopper_pearson

CONTROLLER = Column("controller", "Controller")
PER_CELL = "per cell 1 - sum PAC-CF / sum Native over the cohort"
CASES = 10  # ours: rescues and regressions listed


def per_backbone_main(audit: Audit) -> Table:
    """Every controller at the smallest and the largest budget."""
    ends = sorted({audit.budgets[0], audit.budgets[-1]})
    columns = [DOMAIN, CONTROLLER]
    match: dict[str, str | tuple[str, str]] = {}
    for budget in ends:
        at = f"b{budget}"
        columns += [
            Column(f"{at}_utility", f"{label(budget)} ΔU", 2, signed=True),
            Column(f"{at}_n_eff", "N_eff", 0),
            *(Column(f"{at}_{view}", VIEWS[view], 2, "%", True) for view in REALIZED),
            *(Column(f"{at}_{view}_all", f"{VIEWS[view]} (all)", 2, "%", True) for view in REALIZED),
        ]
        if budget in (100, 500):
            match |= {f"{at}_utility": f"{at}_delta_utility_pp", f"{at}_n_eff": f"{at}_n_eff"}
            match |= {
                f"{at}_{v}": f"{at}_{w}_pct" for v, w in zip(REALIZED, ("preq", "net_graph", "token"), strict=True)
            }
    rows: list[tuple[Value, ...]] = []
    breaks = set()
    for domain in audit.domains:
        breaks.add(len(rows))
        for controller in audit.controllers(domain):
            values: list[Value] = []
            for budget in ends:
                cell = audit.cells.get((domain, controller, budget))
                if cell is None:
                    values += [None] * (2 + 2 * len(REALIZED))
                    continue
                values += [cell.gain, cell.n_eff]
                values += [cell.nbc[view].reduction for view in REALIZED]
                values += [cell.every[view].reduction for view in REALIZED]
            rows.append((domain_title(domain), controller_title(controller), *values))
    keys = {"domain": "domain", "controller": "controller"}
    return Table(
        "per_backbone_main",
        "Every controller, at the smallest and the largest budget",
        tuple(columns),
        tuple(rows),
        source(audit, f"{PER_CELL}; {NBC}"),
        (CONDITIONED,),
        frozenset(breaks),
        beside("per_backbone_main", columns, rows, keys, match),
    )


def raw(audit: Audit, domain: str) -> Table:
    """One domain: every controller and budget, with the totals."""
    if domain not in audit.domains:
        raise Unsupported(f"the record has no paired tasks of {domain_title(domain)}")
    cells = {at: cell for at, cell in audit.cells.items() if at[0] == domain}
    binary = all(cell.binary for cell in cells.values())
    utility = ("solved", 0) if binary else ("utility", 6)
    columns = (
        BUDGET,
        CONTROLLER,
        N_EFF,
        PAIRS,
        Column("native", f"Native {utility[0]}", utility[1]),
        Column("paccf", f"PAC-CF {utility[0]}", utility[1]),
        Column("delta", "Δ" if binary else "Δ pp", 0 if binary else 3, signed=True),
        *(view_column(view, signed=True) for view in REALIZED),
        Column("tokens_native", "Native tokens", 0),
        Column("tokens_paccf", "PAC-CF tokens", 0),
        *(view_column(view, "all", True) for view in REALIZED),
    )
    rows: list[tuple[Value, ...]] = []
    breaks = set()
    for budget in audit.budgets:
        breaks.add(len(rows))
        for controller in audit.controllers(domain):
            if (cell := cells.get((domain, controller, budget))) is None:
                continue
            n = cell.tasks
            native, paccf, delta = (
                (round(n * cell.native), round(n * cell.paccf), round(n * cell.gain / 100))
                if binary
                else (cell.native, cell.paccf, cell.gain)
            )
            tokens = cell.nbc["tokens"]
            rows.append(
                (
                    label(budget),
                    controller_title(controller),
                    cell.n_eff,
                    n,
                    native,
                    paccf,
                    delta,
                    *(cell.nbc[view].reduction for view in REALIZED),
                    *_whole(tokens),
                    *(cell.every[view].reduction for view in REALIZED),
                )
            )
    match: Match = {"n_eff": "n_eff", "requests": "preq_pct", "net_graph": "net_graph_pct", "tokens": "token_pct"}
    match = {**match, "tokens_native": "tok_native_m", "tokens_paccf": "tok_pac_cf_m"}
    names = (
        ("native_succ", "pac_cf_succ", "delta_succ") if domain != "gta" else ("native_avg3", "pac_cf_avg3", "delta_pp")
    )
    match = {**match, **dict(zip(("native", "paccf", "delta"), names, strict=True))}
    printed: tuple[Printed, ...] = ()
    if domain in DOMAINS:
        keys = {"budget": "budget", "controller": "controller"}
        printed = tuple(
            Printed(p.row, p.column, f"{p.text} M") if p.column.startswith("tokens_") else p
            for p in beside(f"raw_{domain}", columns, rows, keys, match)
        )
    return Table(
        f"raw_{domain}",
        f"{domain_title(domain)}: every controller and budget",
        columns,
        tuple(rows),
        source(audit, f"{PER_CELL}; {NBC}; token totals over the non-budget-censored cohort"),
        (CONDITIONED,),
        frozenset(breaks),
        printed,
    )


def _whole(totals: Totals) -> tuple[Value, Value]:
    return tuple(None if x is None else round(x) for x in (totals.native, totals.paccf))  # type: ignore[return-value]


def workload(audit: Audit) -> Table:
    """The five views of every condition, on both cohorts."""
    columns = (
        DOMAIN,
        BUDGET,
        CONTROLLER,
        N_EFF,
        PAIRS,
        *(view_column(view) for view in VIEWS),
        Column("matched", "Matched roots", 2, "%"),
        Column("roots", "Roots", 0),
        *(view_column(view, "all") for view in VIEWS),
    )
    notes = [CONDITIONED]
    try:
        cells, gross = audit.gross_cells, True
    except Unsupported as why:
        cells, gross = audit.cells, False
        notes.append(f"no gross views: {why}")
    rows: list[tuple[Value, ...]] = []
    breaks: set[int] = set()
    for domain, controller, budget in audit.conditions():
        if rows and rows[-1][:2] != (domain_title(domain), label(budget)):
            breaks.add(len(rows))
        cell = cells[domain, controller, budget]
        matched, roots = audit.matched(domain, controller, budget) if gross else (0, 0)
        nbc, every = ([m[v].reduction if v in m else None for v in VIEWS] for m in (cell.nbc, cell.every))
        share = 100 * matched / roots if roots else None
        names = domain_title(domain), label(budget), controller_title(controller)
        rows.append((*names, cell.n_eff, cell.tasks, *nbc, share, roots if gross else None, *every))
    return Table(
        "workload",
        "The five workload views of every condition",
        columns,
        tuple(rows),
        source(audit, f"{PER_CELL}; gross views: the share of Native below matched pruned roots; {NBC}"),
        tuple(notes),
        frozenset(breaks),
    )


def gross_subtree_main(audit: Audit) -> Table:
    """Matched pruning and realized graph reduction at the largest budget."""
    budget = audit.budgets[-1]
    columns = (
        DOMAIN,
        CONTROLLER,
        N_EFF,
        *(view_column(view) for view in (*GROSS, "net_graph")),
        Column("matched", "Matched roots", 2, "%"),
        Column("roots", "Roots", 0),
        *(view_column(view, "all") for view in (*GROSS, "net_graph")),
    )
    rows: list[tuple[Value, ...]] = []
    breaks = set()
    for domain in audit.domains:
        breaks.add(len(rows))
        shares = []
        for controller in audit.controllers(domain):
            if (cell := audit.gross_cells.get((domain, controller, budget))) is None:
                continue
            matched, roots = audit.matched(domain, controller, budget)
            if roots:
                shares.append(100 * matched / roots)
            nbc, every = ([m[v].reduction for v in (*GROSS, "net_graph")] for m in (cell.nbc, cell.every))
            share = 100 * matched / roots if roots else None
            rows.append((domain_title(domain), controller_title(controller), cell.n_eff, *nbc, share, roots, *every))
        means = [audit.macro(v, budget, domain=domain).value for v in (*GROSS, "net_graph")]
        wide = [audit.macro(v, budget, "all", domain=domain).value for v in (*GROSS, "net_graph")]
        rows.append(
            (domain_title(domain), "Macro", None, *means, sum(shares) / len(shares) if shares else None, None, *wide)
        )
    match = {"n_eff": "n_eff", "physical_nodes": "physical_nodes_pct", "net_graph": "net_graph_pct"}
    keys = {"domain": "domain", "controller": "controller"}
    printed: tuple[Printed, ...] = ()
    if budget == 500:
        printed = beside("gross_subtree_main", columns, rows, keys, {**match, "matched": "matched_roots_pct"})
    return Table(
        "gross_subtree_main",
        f"{label(budget)}: gross pruning of matched Native subtrees, and realized graph reduction",
        columns,
        tuple(rows),
        source(
            audit,
            "union of matched PAC-CF-pruned roots and their Native descendants, over all Native nodes; matched: the "
            "share of pruned roots that Native has a node for",
        ),
        (CONDITIONED, "unmatched roots contribute nothing"),
        frozenset(breaks),
        printed,
    )


def per_condition_ci(audit: Audit) -> Table:
    """The paired utility interval of every condition, with rescues, regressions and ties."""
    columns = (
        DOMAIN,
        BUDGET,
        CONTROLLER,
        UTILITY,
        Column("ci", "95% CI", 2),
        Column("rgt", "R/G/T"),
        Column("n", "N", 0),
        Column("law", "Law"),
        Column("rescue_ci", "R, 95% CP", 2, "%"),
        Column("regression_ci", "G, 95% CP", 2, "%"),
    )
    rows: list[tuple[Value, ...]] = []
    breaks: set[int] = set()
    for at, found in audit.condition_intervals.items():
        domain, controller, budget = at
        cell = audit.cells[at]
        names = domain_title(domain), label(budget), controller_title(controller)
        if rows and rows[-1][:2] != names[:2]:
            breaks.add(len(rows))
        counts = f"{cell.rescues}/{cell.regressions}/{cell.ties}"
        limits = [_percent(clopper_pearson(x, cell.tasks)) for x in (cell.rescues, cell.regressions)]
        law = "exact" if found.exact else "sampled"
        rows.append((*names, cell.gain, found.interval, counts, cell.tasks, law, *limits))
    match: Match = {"utility": "delta_utility_pp", "ci": ("lo", "hi"), "n": "n"}
    keys = {"domain": "domain", "budget": "budget", "controller": "controller"}
    return Table(
        "per_condition_ci",
        "Paired utility of every condition, 95% intervals, rescues, regressions and ties",
        columns,
        tuple(rows),
        source(
            audit,
            f"all paired tasks; exact: the law of (#R - #G) / n; sampled: {audit.condition_resamples:,} resamples; "
            "R, G, T: PAC-CF utility above, below, equal within 1e-12",
        ),
        ("a bootstrap interval of [0, 0] is no certainty: the Clopper-Pearson limits of R and G stand beside it",),
        frozenset(breaks),
        beside("per_condition_ci", columns, rows, keys, match),
    )


def _percent(ends: tuple[float, float]) -> Interval:
    return Interval(100 * ends[0], 100 * ends[1])


def per_condition_header(audit: Audit) -> Table:
    """The heads of the paper's per-condition table; there the R/G/T column is empty, here it is not."""
    from paccf.published import load

    columns = (Column("position", "Position", 0), Column("head", "Head"), Column("ours", "Column of per_condition_ci"))
    ours = dict(
        zip(
            ("Domain", "Budget", "Backbone", "Delta", "95 CI", "R/G/T", "N"),
            per_condition_ci(audit).columns[:7],
            strict=True,
        )
    )
    rows: list[tuple[Value, ...]] = []
    for row in load().per_condition_header:
        mine = next((c.key for head, c in ours.items() if row.header.startswith(head)), "--")
        rows.append((row.position.count, row.header, mine))
    return Table(
        "per_condition_header",
        "The columns of the per-condition table",
        columns,
        tuple(rows),
        Source("the heads as printed, and the columns of per_condition_ci that carry them"),
    )


def qual_case_main(audit: Audit) -> Table:
    """The most telling rescue: the task the margin saved with the most requests to spare."""
    case = next((c for c in audit.cases if c.gain > 0), None)
    if case is None:
        raise Unsupported("no task was rescued: PAC-CF's utility is nowhere above Native's")
    native, paccf = case.native.costs, case.paccf.costs
    counts = {
        "Physical requests": (native.total, paccf.total),
        "Expanded nodes": (native.expansions, paccf.expansions),
        "Graph nodes": (native.nodes, paccf.nodes),
        "E2E tokens": (native.tokens, paccf.tokens),
    }
    rows: list[tuple[Value, ...]] = [("Outcome", _outcome(case, "native"), _outcome(case, "paccf"), None)]
    rows.append(("Utility", f"{case.native.utility:g}", f"{case.paccf.utility:g}", None))
    for what, (before, after) in counts.items():
        saved = None if before is None or after is None or not before else float(100 * (1 - Fraction(after, before)))
        rows.append((what, before, after, saved))
    where = f"{domain_title(case.domain)} task {case.task} ({controller_title(case.controller)}, {label(case.budget)})"
    columns = (
        Column("quantity", "Quantity"),
        Column("native", "Native", 0),
        Column("paccf", "PAC-CF", 0),
        Column("reduction", "Reduction", 2, "%"),
    )
    return Table(
        "qual_case_main",
        where,
        columns,
        tuple(rows),
        source(audit, "the first of the rescued tasks by gain in utility, then by requests saved"),
    )


def _outcome(case: Case, arm: str) -> str:
    found = case.native if arm == "native" else case.paccf
    return f"{'Success' if found.solved else 'Fail'} ({found.end})"


def cases(audit: Audit) -> Table:
    """The largest rescues and regressions."""
    columns = (
        Column("kind", "Kind"),
        DOMAIN,
        CONTROLLER,
        BUDGET,
        Column("task", "Task"),
        UTILITY,
        Column("native_requests", "Native requests", 0),
        Column("paccf_requests", "PAC-CF requests", 0),
        Column("native_end", "Native end"),
        Column("paccf_end", "PAC-CF end"),
    )
    found = audit.cases
    rescues, losses = [c for c in found if c.gain > 0], [c for c in found if c.gain < 0]
    rows: list[tuple[Value, ...]] = []
    for kind, chosen in (("rescue", rescues), ("regression", losses)):
        for c in chosen[:CASES]:
            names = domain_title(c.domain), controller_title(c.controller), label(c.budget), c.task
            rows.append(
                (kind, *names, 100 * c.gain, c.native.costs.total, c.paccf.costs.total, c.native.end, c.paccf.end)
            )
    return Table(
        "cases",
        "The largest rescues and regressions",
        columns,
        tuple(rows),
        Source(
            "pairs whose utilities differ by more than 1e-12, by the size of the difference, then by requests saved; a "
            "task that differs at several budgets stands at the smallest",
            {"rescues": len(rescues), "regressions": len(losses)},
        ),
        breaks=frozenset({min(len(rescues), CASES)} if rescues and losses else ()),
    )
