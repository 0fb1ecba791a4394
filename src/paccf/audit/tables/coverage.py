"""The tables of what the traces show of a margin: coverage, thresholds, survival."""

from __future__ import annotations

import math

from paccf.audit.audit import Audit
from paccf.audit.names import controller_title, domain_title
from paccf.audit.run import Unsupported
from paccf.audit.tables.beside import Match, beside
from paccf.audit.tables.conditions import CONTROLLER
from paccf.audit.tables.macros import BUDGET, DOMAIN, label
from paccf.audit.tables.records import (
    INFINITE,
    KEYS,
    covered,
    domain_breaks,
    limits,
    margin_of,
    share,
    traces_source,
)
from paccf.audit.tables.table import Column, Printed, Table, Value


def zero_api_native_coverage(audit: Audit) -> Table:
    """Native-trace coverage of the frozen margins on the test tasks; unresolved labels both ways."""
    columns = (
        DOMAIN,
        CONTROLLER,
        Column("margin", "Margin", 1, exact=True),
        Column("exposed", "Exposed", 0),
        Column("resolved", "Reconstructed", 0),
        Column("covered", "Covered", 0),
        Column("coverage", "Coverage", 2, "%"),
        Column("worst", "Unresolved lost", 2, "%"),
        Column("best", "Unresolved covered", 2, "%"),
        Column("ci", "95% CP", 2, "%"),
        Column("reference", "P(so few)", 3),
        Column("budget", "Budget"),
    )
    rows: list[tuple[Value, ...]] = []
    for domain, controller, traced, c in covered(audit):
        sure, open_ = c.covered(c.theta)
        of = c.tasks
        resolved = of - c.deficits.unresolved
        at = "whole" if traced.coverage_budget is None else label(traced.coverage_budget)
        rows.append(
            (
                domain_title(domain),
                controller_title(controller),
                margin_of(c.certificate),
                of,
                resolved,
                sure,
                share(sure, resolved),
                share(sure, of),
                share(sure + open_, of),
                limits(sure, of),
                c.reference,
                at,
            )
        )
    match: Match = {"margin": "margin", "exposed": "exposed", "resolved": "reconstructed", "covered": "covered"}
    match = {**match, "coverage": "coverage_printed"}
    game = [row for row in rows if row[0] == "Game24"]
    places = [i for i, row in enumerate(rows) if row[0] == "Game24"]
    printed = beside("zero_api_native_coverage", columns, game, {"controller": "controller"}, match)
    return Table(
        "zero_api_native_coverage",
        "Native-trace coverage of the frozen margins",
        columns,
        tuple(rows),
        traces_source(
            audit,
            "exposed test tasks whose C_task is at most margin + epsilon, on Native traces at the largest test budget "
            "that was calibrated for; P(so few): beta-binomial law of the count if both samples are exchangeable",
        ),
        ("interval and P(so few) count unresolved tasks as lost",),
        domain_breaks(rows),
        tuple(Printed(places[p.row], p.column, p.text) for p in printed),
    )


def zero_api_threshold_point(audit: Audit) -> Table:
    """The frozen operating points of the offline threshold diagnostic."""
    columns = (
        DOMAIN,
        CONTROLLER,
        Column("theta", "Threshold", 1, exact=True),
        Column("coverage", "Task coverage", 2, "%"),
        Column("pruned", "Candidate prune", 2, "%"),
        Column("protected_pruned", "Protected prune", 2, "%"),
        Column("candidates", "Candidates", 0),
        Column("protected", "Protected", 0),
    )
    rows: list[tuple[Value, ...]] = []
    for domain, controller, _, c in covered(audit):
        theta: Value = INFINITE if math.isinf(c.theta) else float(c.theta)
        sure, _ = c.covered(c.theta)
        shares = share(c.pruned, c.candidates), share(c.protected_pruned, c.protected)
        names = domain_title(domain), controller_title(controller)
        rows.append((*names, theta, share(sure, c.tasks), *shares, c.candidates, c.protected))
    match: Match = {"theta": "theta", "coverage": "task_coverage_printed", "pruned": "candidate_prune_pct"}
    match = {**match, "protected_pruned": "protected_action_prune_pct"}
    places = [i for i, row in enumerate(rows) if row[0] == "Game24"]
    game = [rows[i] for i in places]
    printed = beside("zero_api_threshold_point", columns, game, {"controller": "controller"}, match)
    return Table(
        "zero_api_threshold_point",
        "The frozen operating points, offline",
        columns,
        tuple(rows),
        traces_source(
            audit,
            "on fixed Native test traces: the share of scored candidates, and of protected ones, beyond the threshold",
        ),
        ("a proxy, not a saving: a search that prunes visits other frontiers",),
        domain_breaks(rows),
        tuple(Printed(places[p.row], p.column, p.text) for p in printed),
    )


def coverage_sweep(audit: Audit) -> Table:
    """The offline diagnostic at every threshold where something changes."""
    columns = (
        DOMAIN,
        CONTROLLER,
        Column("theta", "Threshold", 2, exact=True),
        Column("frozen", "Frozen"),
        Column("q", "Q"),
        Column("covered", "Covered", 0),
        Column("tasks", "of", 0),
        Column("coverage", "Coverage", 2, "%"),
        Column("pruned", "Candidate prune", 2, "%"),
        Column("protected_pruned", "Protected prune", 2, "%"),
    )
    rows: list[tuple[Value, ...]] = []
    for domain, controller, _, c in covered(audit):
        names = domain_title(domain), controller_title(controller)
        for point in c.sweep():
            frozen = "<-" if not math.isinf(c.theta) and point.theta == c.theta else ""
            rows.append(
                (
                    *names,
                    float(point.theta),
                    frozen,
                    c.certificate.q,
                    point.covered,
                    c.tasks,
                    share(point.covered, c.tasks),
                    share(point.pruned, c.candidates),
                    share(point.protected_pruned, c.protected),
                )
            )
    return Table(
        "coverage_sweep",
        "Coverage against aggressiveness, offline",
        columns,
        tuple(rows),
        traces_source(audit, "on fixed Native test traces, every threshold at which something changes sides"),
        ("a diagnostic: no test value may choose the threshold",),
        frozenset(i for i in range(1, len(rows)) if rows[i][:2] != rows[i - 1][:2]),
    )


def adaptive_oracle_audit(audit: Audit) -> Table:
    """Survival on the trajectories that pruning itself produced."""
    columns = (
        DOMAIN,
        CONTROLLER,
        BUDGET,
        Column("exposed", "Exposed", 0),
        Column("survived", "No loss", 0),
        Column("survival", "Survival", 2, "%"),
        Column("worst", "Unresolved lost", 2, "%"),
        Column("ci", "95% CP", 2, "%"),
    )
    rows: list[tuple[Value, ...]] = []
    for domain in audit.domains:
        for budget in audit.budgets:
            total = [0, 0, 0, 0]
            for controller in audit.controllers(domain):
                survival = audit.traced[domain, controller].survival.get(budget)
                if survival is None:
                    continue
                every = survival.exposed | survival.unresolved
                sure = survival.exposed - survival.lost - survival.unresolved
                counts = [len(survival.exposed), survival.survived, len(sure), len(every)]
                total = [x + y for x, y in zip(total, counts, strict=True)]
                rows.append(_surviving(domain_title(domain), controller_title(controller), budget, *counts))
            if total[3]:
                rows.append(_surviving(domain_title(domain), "pooled", budget, *total))
    if not any(row[3] for row in rows):
        raise Unsupported("no PAC-CF test frontier is labelled: label the record's frontiers first")
    first = label(audit.budgets[0])
    match: Match = {"exposed": "exposed", "survived": "no_all_protected_loss", "survival": "survival_pct"}
    places = [i for i, row in enumerate(rows) if row[2] == first and first == "B100"]
    named = [_pooled_name(rows[i]) for i in places]
    printed = beside("adaptive_oracle_audit", columns, named, KEYS, match)
    return Table(
        "adaptive_oracle_audit",
        "Survival on the adaptive trajectories",
        columns,
        tuple(rows),
        traces_source(
            audit,
            "PAC-CF test searches: tasks at which an inspected frontier had protected candidates, and of these the "
            "tasks where every such frontier retained one",
        ),
        ("after the intervention, so no proposition covers it",),
        frozenset(i for i in range(1, len(rows)) if rows[i][0::2][:2] != rows[i - 1][0::2][:2]),
        tuple(Printed(places[p.row], p.column, p.text) for p in printed),
    )


def _surviving(
    domain: str, controller: str, budget: int, exposed: int, survived: int, sure: int, every: int
) -> tuple[Value, ...]:
    shares = share(survived, exposed), share(sure, every)
    return domain, controller, label(budget), exposed, survived, *shares, limits(sure, every)


def _pooled_name(row: tuple[Value, ...]) -> tuple[Value, ...]:
    blocks = row[0] == "Blocksworld" and row[1] == "pooled"
    return (row[0], "pooled five controllers" if blocks else row[1], *row[2:])
