"""The tables of the evaluator's quality."""

from __future__ import annotations

import math

from paccf.audit.audit import Audit
from paccf.audit.names import controller_title, domain_title
from paccf.audit.resample import Interval
from paccf.audit.run import Unsupported
from paccf.audit.tables.conditions import CONTROLLER
from paccf.audit.tables.macros import DOMAIN
from paccf.audit.tables.records import (
    domain_breaks,
    ordered,
    share,
    traces_source,
)
from paccf.audit.tables.table import Column, Table, Value


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
                share(sum(e.labels), len(e.labels)),
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
        traces_source(
            audit,
            "eligible scored candidates of Native test frontiers against their labels; SD within: between the draws of "
            "one candidate; SD between: of candidates' means, less what the draws contribute",
        ),
        tuple(notes),
        domain_breaks(rows),
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
        traces_source(
            audit, "eligible, scored, labelled candidates of Native test frontiers, in ten equal bins of the score"
        ),
        ("candidates of one task are not independent: the intervals are too narrow rather than too wide",),
        frozenset(i for i in range(1, len(rows)) if rows[i][:2] != rows[i - 1][:2]),
    )
