"""The tables of calibration: margins, ranks, exposure, deficits, the margin at other levels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from paccf.audit.audit import Audit
from paccf.audit.names import CONTROLLERS, DOMAINS, controller_title, domain_title, in_order
from paccf.audit.run import Unsupported
from paccf.audit.tables.beside import Match, beside
from paccf.audit.tables.conditions import CONTROLLER
from paccf.audit.tables.macros import DOMAIN, label
from paccf.audit.tables.records import (
    INFINITE,
    KEYS,
    certificates_source,
    certified,
    covered,
    domain_breaks,
    margin_of,
    ordered,
    traces_source,
)
from paccf.audit.tables.table import Column, Printed, Table, Value
from paccf.method.conformal import confidence, margin
from paccf.method.deficit import TaskDeficits
from paccf.method.scores import exact
from paccf.method.tails import fisher_exact

LEVELS = ("0.5", "0.6", "0.7", "0.8", "0.85", "0.9", "0.95", "0.98", "0.99")  # ours: of the margin-against-Q table


def q95_l_main(audit: Audit) -> Table:
    """The frozen margins, domains by controllers."""
    found = {(d, c): certificate for d, c, certificate in certified(audit)}
    domains = in_order((d for d, _ in found), DOMAINS)
    controllers = in_order((c for _, c in found), CONTROLLERS)
    columns = (DOMAIN, *(Column(c, controller_title(c), 1, exact=True) for c in controllers))
    rows = tuple(
        (domain_title(d), *(margin_of(found[d, c]) if (d, c) in found else None for c in controllers)) for d in domains
    )
    printed = []
    for place, d in enumerate(domains):
        for c in controllers:
            long = [(domain_title(d), controller_title(c), 0.0)]
            heads = (DOMAIN, CONTROLLER, Column("margin", "Margin", 1))
            printed += [
                Printed(place, c, p.text) for p in beside("q95_l_main", heads, long, KEYS, {"margin": "margin"})
            ]
    levels = sorted({certificate.q for certificate in found.values()})
    return Table(
        "q95_l_main",
        f"Frozen margins at Q = {', '.join(levels)}",
        columns,
        rows,
        certificates_source(audit, "the margins of the frozen certificates, on the score scale of the evaluator"),
        printed=tuple(printed),
    )


def calibration_rank_audit(audit: Audit) -> Table:
    """Ranks, margins and bounds, with the pools they come from."""
    columns = (
        DOMAIN,
        CONTROLLER,
        Column("n", "n", 0),
        Column("k", "k", 0),
        Column("margin", "Margin", 1, exact=True),
        Column("bound", "Bound", 2, "%"),
        Column("pool", "Pool", 0),
        Column("missing", "Missing", 0),
        Column("unresolved", "Unresolved", 0),
        Column("confidence", "P(coverage >= Q)", 2),
        Column("rule", "Rule"),
        Column("labels", "Labels"),
        Column("budget", "Budget"),
    )
    rows: list[tuple[Value, ...]] = []
    notes = []
    for domain, controller, c in certified(audit):
        names = domain_title(domain), controller_title(controller)
        counts = c.counts
        bound = float(100 * Fraction(c.bound))
        sure = float(c.confidence) if c.feasible else None
        rows.append(
            (
                *names,
                c.n,
                c.k,
                margin_of(c),
                bound,
                counts.tasks,
                counts.missing,
                counts.unresolved,
                sure,
                c.rule,
                c.labels,
                "unstated" if c.budget is None else label(c.budget),
            )
        )
        if not c.feasible:
            notes.append(
                f"{' '.join(names)}: rank {c.k} of {c.n} is infeasible, {c.need_n} exposed tasks are needed; keeps all"
            )
        elif c.at_maximum:
            notes.append(f"{' '.join(names)}: the margin is the largest of its {c.n} scores, as unstable as a maximum")
        notes += [f"{' '.join(names)}: {note}" for note in c.overrides]
    match: Match = {"n": "n", "k": "k_95", "margin": "margin", "bound": "bound_pct"}
    return Table(
        "calibration_rank_audit",
        "Calibration tasks, ranks, margins and rank bounds",
        columns,
        tuple(rows),
        certificates_source(
            audit,
            "n protected-exposed tasks of the pool; k = ceil(Q (n + 1)); bound 1 - k / (n + 1); tasks without "
            "protected exposure are missing, not zero",
        ),
        tuple(notes),
        domain_breaks(rows),
        beside("calibration_rank_audit", columns, rows, KEYS, match),
    )


def exposure(audit: Audit) -> Table:
    """Do calibration and test expose protected frontiers at one rate? The promise needs exchangeable tasks."""
    columns = (
        DOMAIN,
        CONTROLLER,
        Column("calibration", "Calibration exposed", 0),
        Column("pool", "of", 0),
        Column("test", "Test exposed", 0),
        Column("tests", "of", 0),
        Column("p", "Fisher p", 3),
    )
    rows: list[tuple[Value, ...]] = []
    for domain, controller, _, c in covered(audit):
        pool, here = c.certificate.counts, c.deficits
        names = domain_title(domain), controller_title(controller)
        rows.append((*names, pool.exposed, pool.tasks, len(here.exposed), here.tasks, c.exposure_p))
    low = [f"{r[0]} {r[1]}" for r in rows if isinstance(r[6], float) and r[6] < 0.01]
    note = f"exposure differs (p < 0.01) in {', '.join(low)}: tasks or labelling are not the same kind there"
    return Table(
        "exposure",
        "Protected exposure of the calibration pool and of the test tasks",
        columns,
        tuple(rows),
        traces_source(
            audit, "tasks with a protected or unresolved frontier, of all; Fisher's two-sided exact test of one rate"
        ),
        (note,) if low else (),
        domain_breaks(rows),
        _paper_exposure(rows),
    )


def _paper_exposure(rows: Sequence[Sequence[Value]]) -> tuple[Printed, ...]:
    """The paper's exposures, which it prints in two tables and does not compare."""
    from paccf.published import load
    from paccf.published.text import POOL, TEST_TASKS

    paper = load()
    found = []
    for place, row in enumerate(rows):
        if (domain := str(row[0])) not in POOL:
            continue
        try:
            n = paper.calibration_rank_audit.find(domain=domain, controller=str(row[1])).n.count
            test = paper.adaptive_oracle_audit.find(domain=domain, controller=str(row[1])).exposed.count
        except LookupError:
            continue
        p = fisher_exact(n, POOL[domain], test, TEST_TASKS[domain])
        texts = (n, POOL[domain], test, TEST_TASKS[domain], f"{p:.2g}")
        found += [
            Printed(place, k, str(t)) for k, t in zip(("calibration", "pool", "test", "tests", "p"), texts, strict=True)
        ]
    return tuple(found)


def deficits(audit: Audit) -> Table:
    """C_task of every task: the scores a margin is a rank of, and those of the test tasks."""
    columns = (
        DOMAIN,
        CONTROLLER,
        Column("phase", "Phase"),
        Column("task", "Task"),
        Column("deficit", "Deficit", 2, exact=True),
        Column("state", "State"),
    )
    rows: list[tuple[Value, ...]] = []
    for cell in ordered(list(audit.traced)):
        traced = audit.traced[cell]
        names = domain_title(cell[0]), controller_title(cell[1])
        certificate = audit.run.certificates.get(cell)
        for task, text in certificate.deficits if certificate is not None else ():
            value = None if text == "inf" else float(exact(text))
            rows.append((*names, "calibration", task, value, "unresolved" if value is None else "exposed"))
        rows += [(*names, "test", *found) for found in _deficits(traced.deficits)]
    if not rows:
        raise Unsupported("no task has a deficit: there is neither a certificate nor a labelled frontier")
    return Table(
        "deficits",
        "Score deficits of tasks",
        columns,
        tuple(rows),
        traces_source(
            audit,
            "C_task: the largest gap to a best protected candidate over the protected frontiers of a Native trace",
        ),
        breaks=frozenset(i for i in range(1, len(rows)) if rows[i][:2] != rows[i - 1][:2]),
    )


def _deficits(found: TaskDeficits) -> list[tuple[str, float | None, str]]:
    listed: list[tuple[str, float | None, str]] = []
    for task, score in found.scores.items():
        if score is None:
            listed.append((task, None, "missing"))
        elif score == math.inf:
            listed.append((task, None, "unresolved"))
        else:
            listed.append((task, float(score), "exposed"))
    return sorted(listed, key=lambda row: (row[1] is None, row[1] or 0.0, row[0]))


def margin_steps(audit: Audit) -> Table:
    """Every margin the calibration tasks could have given, and up to which Q."""
    columns = (
        DOMAIN,
        CONTROLLER,
        Column("k", "k", 0),
        Column("n", "n", 0),
        Column("q", "Q up to", 4),
        Column("margin", "Margin", 2, exact=True),
        Column("frozen", "Frozen"),
    )
    rows: list[tuple[Value, ...]] = []
    for domain, controller, c in certified(audit):
        scores = sorted(math.inf if text == "inf" else exact(text) for _, text in c.deficits)
        for k, score in enumerate(scores, 1):
            value: Value = INFINITE if score == math.inf else float(score)
            frozen = "<-" if k == c.k else ""
            rows.append((domain_title(domain), controller_title(controller), k, c.n, k / (c.n + 1), value, frozen))
    return Table(
        "margin_steps",
        "The margin at every rank, and the Q it serves",
        columns,
        tuple(rows),
        certificates_source(
            audit, "the k-th smallest deficit of the certificate is the marginal margin for Q up to k / (n + 1)"
        ),
        ("Q is chosen before calibration; this shows what it costs, it does not choose it",),
        frozenset(i for i in range(1, len(rows)) if rows[i][:2] != rows[i - 1][:2]),
    )


def margin_by_q(audit: Audit) -> Table:
    """The margin each level of Q would have frozen, from the same calibration tasks."""
    columns = (
        DOMAIN,
        CONTROLLER,
        Column("q", "Q"),
        Column("n", "n", 0),
        Column("k", "k", 0),
        Column("margin", "Margin", 2, exact=True),
        Column("confidence", "P(coverage >= Q)", 3),
        Column("frozen", "Frozen"),
    )
    rows: list[tuple[Value, ...]] = []
    for domain, controller, c in certified(audit):
        scores = [math.inf if text == "inf" else exact(text) for _, text in c.deficits]
        for q in sorted({*LEVELS, c.q}, key=Fraction):
            found = margin(scores, q)
            value: Value = INFINITE if math.isinf(found.value) else float(found.value)
            sure = confidence(found.n, found.k, q) if found.feasible else None
            frozen = "<-" if Fraction(q) == Fraction(c.q) and c.rule == "marginal" else ""
            rows.append((domain_title(domain), controller_title(controller), q, found.n, found.k, value, sure, frozen))
    return Table(
        "margin_by_q",
        "Margin against Q",
        columns,
        tuple(rows),
        certificates_source(
            audit, "the order statistic of rank ceil(Q (n + 1)) of the certificate's deficits, marginal rule"
        ),
        ("Q is chosen before calibration; this shows what it costs, it does not choose it",),
        frozenset(i for i in range(1, len(rows)) if rows[i][:2] != rows[i - 1][:2]),
    )
