"""What `paccf audit` checks beyond single searches, and everything it found.

Bills against traces and budgets, the margin's decisions and prefixes are in `consistency`; here are the certificates,
the sums that two views share, the tape's own count of every bill, and coverage by three ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paccf.audit.consistency import name
from paccf.audit.run import Unsupported
from paccf.method.certificate import Certificate
from paccf.record.values import Costs

if TYPE_CHECKING:
    from paccf.audit.audit import Audit
    from paccf.audit.traced import Traced


@dataclass(frozen=True)
class Check:
    """One kind of check: how often it was made, where it failed, or why it could not be made."""

    what: str
    made: int
    failures: tuple[str, ...] = ()
    impossible: str = ""


@dataclass(frozen=True)
class Findings:
    """All checks; the record is sound if none failed."""

    checks: tuple[Check, ...]

    @property
    def failures(self) -> list[str]:
        return [failure for check in self.checks for failure in check.failures]

    @property
    def left(self) -> int:
        """Kinds of check that could not be made."""
        return sum(not check.made for check in self.checks)

    @property
    def sound(self) -> bool:
        return not self.failures


def check(audit: Audit) -> Findings:
    """Everything that can be checked on this record."""
    traced = audit.traced
    searches = sum(t.searches for t in traced.values())
    own = tuple(p for t in traced.values() for p in t.contradictions)
    found = []
    if audit.run.trees:
        found.append(Check("searches agree with their bills, budgets, rules and prefixes", searches, own))
    else:
        found.append(Check("searches agree with their bills, budgets, rules and prefixes", 0, (), "no bills in a log"))
    found.append(_certificates(audit))
    found.append(_deficits(audit))
    found.append(_disjoint(audit))
    found.append(_coverage(audit))
    found.append(_views(audit))
    found.append(_tapes(audit))
    return Findings(tuple(found))


def _certificates(audit: Audit) -> Check:
    what = "certificates follow from their own deficits"
    failures = [
        f"certificate of {domain}, {controller}: {problem}"
        for (domain, controller), certificate in audit.run.certificates.items()
        for problem in certificate.verify()
    ]
    return Check(what, len(audit.run.certificates), tuple(failures), "" if audit.run.certificates else "none recorded")


def _deficits(audit: Audit) -> Check:
    """The deficits a certificate was frozen from are those of the recorded calibration traces."""
    what = "certificates follow from the calibration traces"
    made, failures = 0, []
    for at, certificate in audit.run.certificates.items():
        traced = audit.traced.get(at)
        if traced is None or not traced.calibration.tasks:
            continue
        made += 1
        failures += _frozen_again(at, certificate, traced)
    return Check(what, made, tuple(failures), "" if made else "the record holds no labelled calibration traces")


def _frozen_again(at: tuple[str, str], certificate: Certificate, traced: Traced) -> list[str]:
    again = Certificate.freeze(
        traced.calibration,
        certificate.q,
        delta=certificate.delta,
        epsilon=certificate.epsilon,
        target=certificate.target,
    )
    where = f"certificate of {at[0]}, {at[1]}"
    found = []
    for field in ("n", "k", "margin_exact"):
        theirs, ours = getattr(certificate, field), getattr(again, field)
        if theirs != ours:
            found.append(f"{where}: {field} is {theirs}, the calibration traces give {ours}")
    if not found and certificate.deficits != again.deficits:
        other = next(a for a, b in zip(certificate.deficits, again.deficits, strict=True) if a != b)
        found.append(f"{where}: the deficit of task {other[0]} is {other[1]}, the calibration traces give another one")
    return found


def _disjoint(audit: Audit) -> Check:
    what = "no test task was calibrated on"
    made, failures = 0, []
    for (domain, controller), traced in audit.traced.items():
        if traced.coverage is None:
            continue
        made += 1
        if reused := traced.coverage.reused:
            failures.append(f"{domain}, {controller}: {len(reused)} test tasks were calibrated on, such as {reused[0]}")
    return Check(what, made, tuple(failures), "" if made else "no certificate with labelled test traces")


def _coverage(audit: Audit) -> Check:
    """Coverage by deficits, by the admission rule itself on every protected frontier, and through a frontier log."""
    what = "coverage from deficits, from the rule itself and from the frontier log agree"
    made, failures = 0, []
    for (domain, controller), traced in audit.traced.items():
        found = traced.coverage
        if found is None:
            continue
        made += 1
        record = (*found.covered(found.theta), found.tasks)
        if traced.logged is not None:
            log = (*traced.logged.covered(found.theta), traced.logged.tasks)
            if log != record:
                failures.append(f"{domain}, {controller}: covered, open, tasks are {record}, by the frontier log {log}")
        exposed = found.deficits.exposed
        sure = sum(task not in traced.lost and task not in traced.open for task in exposed)
        if found.certificate.target == "exposed" and sure != record[0]:
            failures.append(f"{domain}, {controller}: {record[0]} tasks covered by deficits, {sure} by the rule")
    return Check(what, made, tuple(failures), "" if made else "no certificate with labelled test traces")


def _views(audit: Audit) -> Check:
    """The gross views divide by what the bills count."""
    what = "gross and net views count the same Native nodes and occurrences"
    try:
        paired = audit.pairs
    except Unsupported as why:
        return Check(what, 0, (), str(why))
    made, failures = 0, []
    for (domain, controller), traced in audit.traced.items():
        for (budget, task), gross in traced.gross.items():
            made += 1
            costs = paired[domain].outcomes["native", budget, controller, task].costs
            where = f"{domain} {controller} B{budget} task {task}"
            if gross.occurrences != costs.scored:
                failures.append(
                    f"{where}: {gross.occurrences} scored occurrences in the tree, {costs.scored} in the bill"
                )
            if gross.nodes != costs.nodes:
                failures.append(f"{where}: {gross.nodes} nodes in the tree, {costs.nodes} in the bill")
    return Check(what, made, tuple(failures), "" if made else "no pair has both traces")


def _tapes(audit: Audit) -> Check:
    """The bills of all test searches, paired or not, are what the tape's answers add up to."""
    what = "bills equal their tapes"
    recount = audit.run.recount
    if recount is None:
        return Check(what, 0, (), "no tape to count again")
    made, failures = 0, []
    for outcome in (o for o in audit.run.outcomes if o.key.phase == "test"):
        counted = recount(outcome.key)
        if counted is None:
            continue
        made += 1
        said, found = _said(outcome.costs), _said(counted)
        if said != found:
            failures.append(f"{name(outcome.key)}: the bill says {said}, the tape {found}")
    return Check(what, made, tuple(failures), "" if made else "the record notes no requests that are on its tape")


def _said(costs: Costs) -> str:
    """What a bill and a tape both know, in words."""
    kinds = " ".join(f"{kind} {n}" for kind, n in sorted(costs.requests.items()) if n)
    unknown = f", {costs.unknown_tokens} answers unknown" if costs.unknown_tokens else ""
    return f"{costs.total} requests ({kinds}), {costs.prompt_tokens} + {costs.completion_tokens} tokens{unknown}"
