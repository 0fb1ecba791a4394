"""What the tables over certificates and traces share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paccf.audit.audit import Audit
from paccf.audit.coverage import Coverage
from paccf.audit.names import CONTROLLERS, DOMAINS, in_order
from paccf.audit.resample import Interval
from paccf.audit.run import Unsupported
from paccf.audit.tables.table import Source, Value
from paccf.audit.traced import Traced
from paccf.method.certificate import Certificate
from paccf.method.tails import clopper_pearson

KEYS = {"domain": "domain", "controller": "controller"}
INFINITE = "infinite"


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
    audit.require("coverage")
    found = False
    for cell in ordered(list(audit.traced)):
        traced = audit.traced[cell]
        if traced.coverage is not None:
            found = True
            yield (*cell, traced, traced.coverage)
    if not found and not audit.run.logged and all(o.key.phase != "test" for o in audit.run.outcomes):
        raise Unsupported("the record holds no test searches")
    if not found:
        raise Unsupported("no certificate goes with labelled Native test traces: label the record's frontiers first")


def margin_of(certificate: Certificate) -> Value:
    return INFINITE if certificate.margin is None else float(certificate.margin)


def domain_breaks(rows: Sequence[Sequence[Value]]) -> frozenset[int]:
    return frozenset(i for i in range(1, len(rows)) if rows[i][0] != rows[i - 1][0])


def limits(x: int, n: int) -> Interval | None:
    if not n:
        return None
    low, high = clopper_pearson(x, n)
    return Interval(100 * low, 100 * high)


def share(x: int, n: int) -> float | None:
    return 100 * x / n if n else None


def certificates_source(audit: Audit, query: str) -> Source:
    found = audit.run.certificates.values()
    return Source(query, {"certificates": len(found), "calibration tasks": sum(c.counts.tasks for c in found)})


def traces_source(audit: Audit, query: str) -> Source:
    found = audit.traced.values()
    counts = {"searches": sum(t.searches for t in found), "frontiers": sum(t.frontiers for t in found)}
    return Source(query, {**counts, "labelled Native test frontiers": sum(t.labelled for t in found)})
