"""The tables of what the traces show: calibration ranks, coverage, thresholds, survival, exposure, the evaluator."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from paccf.audit.audit import Audit
from paccf.audit.coverage import Coverage
from paccf.audit.names import CONTROLLERS, DOMAINS, controller_title, domain_title, in_order
from paccf.audit.resample import Interval
from paccf.audit.run import Unsupported
from paccf.audit.tables.beside import Match, beside
from paccf.audit.tables.conditions import CONTROLLER
from paccf.audit.tables.macros import BUDGET, DOMAIN, label
from paccf.audit.tables.table import Column, Printed, Source, Table, Value
from paccf.audit.traced import Traced
from paccf.method.certificate import Certificate
from paccf.method.conformal import confidence, margin
from paccf.method.deficit import TaskDeficits
from paccf.method.scores import exact
from paccf.method.tails import clopper_pearson, fisher_exact

KEYS = {"domain": "domain", "controller": "controller"}
INFINITE = "infinite"
LEVELS = ("0.5", "0.6", "0.7", "0.8", "0.85", "0.9", "0.95", "0.98", "0.99")  # ours: of the margin-against-Q table


def ordered(cells: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Cells as the paper lists them."""
    domains = in_order((d for d, _ in cells), DOMAINS)
    return [(d, c) for d in domains for c in in_order((c for e, c in cells if e == d), CONTROLLERS)]


def certified(audit: Audit) -> list[tuple[str, str, Certificate]]:
    found = audit.run.certificates
    if not found:
        raise Unsupported("the record holds no certificate")
    return [(d, c, found[d, c]) for d, c in ordered(list(found))]


def covered(audit: Audit) -> Iterator[tuple[str, str, Traced, Coverage]]:
    """Cells with a certificate and labelled Native test traces."""
    found = False
    for cell in ordered(list(audit.traced)):
        traced = audit.traced[cell]
        if traced.coverage is not None:
            found = True
            yield (*cell, traced, traced.coverage)
    if not found:
        raise Unsupported("no certificate goes with labelled Native test traces: label the record's frontiers first")


def _margin(certificate: Certificate) -> Value:
    return INFINITE if certificate.margin is None else float(certificate.margin)


def _breaks(rows: Sequence[Sequence[Value]]) -> frozenset[int]:
    return frozenset(i for i in range(1, len(rows)) if rows[i][0] != rows[i - 1][0])


def _ci(x: int, n: int) -> Interval | None:
    if not n:
        return None
    low, high = clopper_pearson(x, n)
    return Interval(100 * low, 100 * high)


def _share(x: int, n: int) -> float | None:
    return 100 * x / n if n else None


def q95_l_main(audit: Audit) -> Table:
    """The frozen margins, domains by controllers."""
    found = {(d, c): certificate for d, c, certificate in certified(audit)}
    domains = in_order((d for d, _ in found), DOMAINS)
    controllers = in_order((c for _, c in found), CONTROLLERS)
    columns = (DOMAIN, *(Column(c, controller_title(c), 1) for c in controllers))
    rows = tuple(
        (domain_title(d), *(_margin(found[d, c]) if (d, c) in found else None for c in controllers)) for d in domains
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
        _certificates(audit, "the margins of the frozen certificates, on the score scale of the evaluator"),
        printed=tuple(printed),
    )


def _certificates(audit: Audit, query: str) -> Source:
    found = audit.run.certificates.values()
    return Source(query, {"certificates": len(found), "calibration tasks": sum(c.counts.tasks for c in found)})


def calibration_rank_audit(audit: Audit) -> Table:
    """Ranks, margins and bounds, with the pools they come from."""
    columns = (
        DOMAIN,
        CONTROLLER,
        Column("n", "n", 0),
        Column("k", "k", 0),
        Column("margin", "Margin", 1),
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
                _margin(c),
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
        _certificates(
            audit,
            "n protected-exposed tasks of the pool; k = ceil(Q (n + 1)); bound 1 - k / (n + 1); tasks without "
            "protected exposure are missing, not zero",
        ),
        tuple(notes),
        _breaks(rows),
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
        _traces(
            audit, "tasks with a protected or unresolved frontier, of all; Fisher's two-sided exact test of one rate"
        ),
        (note,) if low else (),
        _breaks(rows),
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


def _traces(audit: Audit, query: str) -> Source:
    found = audit.traced.values()
    counts = {"searches": sum(t.searches for t in found), "frontiers": sum(t.frontiers for t in found)}
    return Source(query, {**counts, "labelled Native test frontiers": sum(t.labelled for t in found)})


def zero_api_native_coverage(audit: Audit) -> Table:
    """Native-trace coverage of the frozen margins on the test tasks; unresolved labels both ways."""
    columns = (
        DOMAIN,
        CONTROLLER,
        Column("margin", "Margin", 1),
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
                _margin(c.certificate),
                of,
                resolved,
                sure,
                _share(sure, resolved),
                _share(sure, of),
                _share(sure + open_, of),
                _ci(sure, of),
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
        _traces(
            audit,
            "exposed test tasks whose C_task is at most margin + epsilon, on Native traces at the largest test budget "
            "that was calibrated for; P(so few): beta-binomial law of the count if both samples are exchangeable",
        ),
        ("interval and P(so few) count unresolved tasks as lost",),
        _breaks(rows),
        tuple(Printed(places[p.row], p.column, p.text) for p in printed),
    )


def zero_api_threshold_point(audit: Audit) -> Table:
    """The frozen operating points of the offline threshold diagnostic."""
    columns = (
        DOMAIN,
        CONTROLLER,
        Column("theta", "Threshold", 1),
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
        shares = _share(c.pruned, c.candidates), _share(c.protected_pruned, c.protected)
        names = domain_title(domain), controller_title(controller)
        rows.append((*names, theta, _share(sure, c.tasks), *shares, c.candidates, c.protected))
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
        _traces(
            audit,
            "on fixed Native test traces: the share of scored candidates, and of protected ones, beyond the threshold",
        ),
        ("a proxy, not a saving: a search that prunes visits other frontiers",),
        _breaks(rows),
        tuple(Printed(places[p.row], p.column, p.text) for p in printed),
    )


def coverage_sweep(audit: Audit) -> Table:
    """The offline diagnostic at every threshold where something changes."""
    columns = (
        DOMAIN,
        CONTROLLER,
        Column("theta", "Threshold", 2),
        Column("frozen", "Frozen"),
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
                    point.covered,
                    c.tasks,
                    _share(point.covered, c.tasks),
                    _share(point.pruned, c.candidates),
                    _share(point.protected_pruned, c.protected),
                )
            )
    return Table(
        "coverage_sweep",
        "Coverage against aggressiveness, offline",
        columns,
        tuple(rows),
        _traces(audit, "on fixed Native test traces, every threshold at which a candidate or a task changes sides"),
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
        _traces(
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
    shares = _share(survived, exposed), _share(sure, every)
    return domain, controller, label(budget), exposed, survived, *shares, _ci(sure, every)


def _pooled_name(row: tuple[Value, ...]) -> tuple[Value, ...]:
    blocks = row[0] == "Blocksworld" and row[1] == "pooled"
    return (row[0], "pooled five controllers" if blocks else row[1], *row[2:])


def deficits(audit: Audit) -> Table:
    """C_task of every task: the scores a margin is a rank of, and those of the test tasks."""
    columns = (
        DOMAIN,
        CONTROLLER,
        Column("phase", "Phase"),
        Column("task", "Task"),
        Column("deficit", "Deficit", 2),
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
        _traces(
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


def margin_by_q(audit: Audit) -> Table:
    """The margin each level of Q would have frozen, from the same calibration tasks."""
    columns = (
        DOMAIN,
        CONTROLLER,
        Column("q", "Q"),
        Column("n", "n", 0),
        Column("k", "k", 0),
        Column("margin", "Margin", 2),
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
        _certificates(
            audit, "the order statistic of rank ceil(Q (n + 1)) of the certificate's deficits, marginal rule"
        ),
        ("Q is chosen before calibration; this shows what it costs, it does not choose it",),
        frozenset(i for i in range(1, len(rows)) if rows[i][:2] != rows[i - 1][:2]),
    )


def evaluator(audit: Audit) -> Table:
    """How good the blind scores are."""
    columns = (
        DOMAIN,
        CONTROLLER,
        Column("candidates", "Candidates", 0),
        Column("protected", "Protected", 2, "%"),
        Column("within_auc", "AUC, one frontier", 3),
        Column("auc", "AUC, overall", 3),
        Column("between", "SD between", 2),
        Column("within", "SD within", 2),
        Column("reliability", "Reliability of a mean", 3),
        Column("position", "Last - first place", 2, signed=True),
        Column("position_ci", "95% CI", 2),
    )
    rows: list[tuple[Value, ...]] = []
    for cell in ordered(list(audit.traced)):
        e = audit.traced[cell].evaluator
        names = domain_title(cell[0]), controller_title(cell[1])
        between, within, place = e.between, e.within, e.position
        draws = e.draws
        total = None if between is None or within is None or draws is None else between + within / draws
        reliability = between / total if total and between is not None else None
        rows.append(
            (
                *names,
                len(e.scores),
                _share(sum(e.labels), len(e.labels)),
                e.within_auc,
                e.auc,
                _root(between),
                _root(within),
                reliability,
                None if place is None else place.slope,
                None if place is None else Interval(place.lo, place.hi),
            )
        )
    if not any(row[2] or row[7] is not None for row in rows):
        raise Unsupported("no Native test frontier is labelled, and none has repeated observations")
    notes = ["AUC: P(a protected candidate scores above an unprotected one), ties one half; 0.5 is no signal"]
    if audit.run.asked is None:
        notes.append("no position effect: the record does not say in which order candidates were asked")
    return Table(
        "evaluator",
        "Quality of the evaluator",
        columns,
        tuple(rows),
        _traces(
            audit,
            "eligible scored candidates of Native test frontiers against their labels; SD within: between the draws of "
            "one candidate; SD between: of candidates' means, less what the draws contribute",
        ),
        tuple(notes),
        _breaks(rows),
    )


def _root(variance: float | None) -> float | None:
    return None if variance is None else math.sqrt(variance)


def evaluator_curve(audit: Audit) -> Table:
    """The share of protected candidates at each score."""
    columns = (
        DOMAIN,
        CONTROLLER,
        Column("low", "From", 0),
        Column("high", "to", 0),
        Column("candidates", "Candidates", 0),
        Column("mean", "Mean score", 1),
        Column("protected", "Protected", 2, "%"),
        Column("ci", "95% CP", 2, "%"),
    )
    rows: list[tuple[Value, ...]] = []
    for cell in ordered(list(audit.traced)):
        for one in audit.traced[cell].evaluator.curve():
            low, high = one.interval
            ends = Interval(100 * low, 100 * high)
            names = domain_title(cell[0]), controller_title(cell[1])
            rows.append((*names, one.low, one.high, one.candidates, one.mean, 100 * one.share, ends))
    if not rows:
        raise Unsupported("no Native test frontier is labelled")
    return Table(
        "evaluator_curve",
        "Calibration curve of the evaluator",
        columns,
        tuple(rows),
        _traces(
            audit, "eligible, scored, labelled candidates of Native test frontiers, in ten equal bins of the score"
        ),
        ("candidates of one task are not independent: the intervals are too narrow rather than too wide",),
        frozenset(i for i in range(1, len(rows)) if rows[i][:2] != rows[i - 1][:2]),
    )
