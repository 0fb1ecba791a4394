"""The promise in words, with what it rests on; and what a reader has to be told aloud."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from paccf.audit.audit import Audit
from paccf.audit.names import controller_title, domain_title
from paccf.audit.remarks import remark
from paccf.audit.run import Unsupported
from paccf.record.foreign import clean
from paccf.report.page.blocks import Block, Bullets, Text

LABELS = {
    "oracle": "`oracle`: an exact solver of the domain said which candidates lead to a solution",
    "found": "`found`: a candidate counts as solution-bearing if the labelling search found a completion below it; "
    "coverage of solutions that it did not find may be lower",
    "probed": "`probed`: a candidate counts as solution-bearing if probes from it reached a solution",
    "unstated": "unstated: the record does not say how solution-bearing candidates were known",
}


def blocks(audit: Audit) -> Iterator[Block]:
    """The promise of the certificates and its assumptions; nothing without certificates."""
    certificates = list(audit.run.certificates.values())
    if not certificates:
        return
    levels = _joined(sorted({_percent(c.q) for c in certificates}))
    yield Text(
        f"Take a new task from the source of the calibration tasks. With probability at least {levels}, at every "
        "frontier of its Native trace that holds a solution-bearing candidate, at least one of them scores within the "
        "margin of the best, so it survives. The margin is an order statistic of n calibration tasks: rank k of n."
    )
    rules = {c.rule for c in certificates}
    over = []
    if "marginal" in rules:
        over.append(
            "Marginal: the probability is over the calibration tasks and the new one. The confidence that the margin "
            "one holds covers at least Q of new tasks is the column P(coverage >= Q)"
        )
    if "pac" in rules:
        over.append("PAC: for the stated share of calibration samples, the margin covers at least Q of new tasks")
    budgets = sorted({c.budget for c in certificates if c.budget is not None})
    labels = [LABELS.get(mode, clean(mode)) for mode in sorted({c.labels for c in certificates})]
    yield Bullets(
        (
            ("Over what.", ". ".join(over) + "."),
            (
                "One source.",
                "Calibration and new tasks are exchangeable. The table `exposure` tests one consequence: both sets "
                "show solution-bearing candidates equally often.",
            ),
            ("Exposed tasks.", "Tasks whose Native trace never shows a solution-bearing candidate are not promised."),
            (
                "The same system.",
                "Evaluator, prompts, observations a candidate, aggregation, controller and eligibility as calibrated; "
                "each certificate names what it is matched to.",
            ),
            (
                "This budget or less.",
                f"Calibrated with {_joined([f'{b:,}' for b in budgets]) or 'an unstated number of'} requests a task; a "
                "longer search can only meet larger deficits.",
            ),
            ("Labels.", "; ".join(labels) + "."),
            (
                "Not promised: the pruned search itself.",
                "Once candidates are dropped, the search goes where the Native search did not. What that does to "
                "utility is empirical: measured in pairs, below.",
            ),
        )
    )


def warnings(audit: Audit) -> Iterator[str]:
    """What stands above the answer, because an answer without it would mislead."""
    yield from map(clean, audit.caveats)
    for (domain, controller), c in sorted(audit.run.certificates.items()):
        where = f"{domain_title(domain)} {controller_title(controller)}"
        for note in c.overrides:
            yield f"The margin of {where} was used against its certificate: {clean(note)}"
        traced = audit.traced.get((domain, controller))
        said = remark(c, None, None) if traced is None else remark(c, traced.coverage, traced.evaluator)
        if said:
            yield f"{where}: {said}."
    if not audit.contradictions.sound:
        yield f"The record contradicts itself in {len(audit.contradictions.failures)} places; see the table `checks`."
    try:
        paired = audit.pairs
    except Unsupported:
        return
    for domain, p in paired.items():
        if p.excluded:
            count, of = len(p.excluded), len(p.excluded) + len(p.tasks)
            yield f"{domain_title(domain)}: {count} of {of} tasks are in no pair; the table `exclusions` says why."


def _percent(q: str) -> str:
    return f"{float(100 * Fraction(q)):g} %"


def _joined(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
