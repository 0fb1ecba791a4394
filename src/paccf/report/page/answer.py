"""The first screen: the answer in a sentence with its uncertainty, four figures by budget, and what to distrust."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from paccf.audit.audit import Audit
from paccf.audit.names import REALIZED, controller_title, domain_title
from paccf.audit.run import Unsupported
from paccf.audit.tables.macros import sizes
from paccf.report.page.blocks import Block, Ladder, Step, Verdict

LADDERS = {
    "requests": ("Requests", "fewer"),
    "net_graph": ("Graph nodes", "fewer"),
    "tokens": ("Tokens", "fewer"),
}
assert tuple(LADDERS) == REALIZED


@dataclass(frozen=True)
class Answer:
    sentence: str
    detail: str
    blocks: tuple[Block, ...]


def answer(audit: Audit) -> Answer:
    """The answer; of a record without two arms, what its traces say of the margin."""
    verdicts = tuple(_verdicts(audit))
    try:
        steps = {name: _steps(audit, name) for name in ("utility", *LADDERS)}
    except Unsupported as why:
        return Answer(_of_traces(audit), f"There is no bill to show: {why}.", verdicts)
    utility, requests = steps["utility"][-1], steps["requests"][-1]
    sentence = (
        f"At {utility.budget:,} requests a task, pruning by a calibrated margin {_saved(requests)}{_changed(utility)}."
    )
    where = " and ".join(
        _counted(n, what)
        for n, what in (
            (len(audit.domains), "domain"),
            (len({c for d in audit.domains for c in audit.controllers(d)}), "controller"),
        )
    )
    every = "" if requests.every is None else f"; over all pairs, ended or not, {_signed(requests.every)}\u00a0%"
    detail = (
        f"Utility: {_interval(utility, 'points')} over all {utility.pairs:,} pairs of {where}. Requests saved: "
        f"{_interval(requests, '%')} over the {requests.of:,} pairs that no budget ended{every}."
    )
    ladders = [Ladder("Utility", "points", "more", steps["utility"], "main_ci")]
    ladders += [Ladder(title, "%", better, steps[name], "main_ci") for name, (title, better) in LADDERS.items()]
    return Answer(sentence, detail, (*ladders, *verdicts))


def _steps(audit: Audit, quantity: str) -> tuple[Step, ...]:
    found = []
    for budget in audit.budgets:
        value, ends = audit.macro(quantity, budget).value, audit.interval(quantity, budget)
        kept, pairs = sizes(audit, None, budget)
        every = None if quantity == "utility" else audit.macro(quantity, budget, "all").value
        lo, hi = (ends.lo, ends.hi) if ends else (None, None)
        found.append(Step(budget, value, lo, hi, pairs if quantity == "utility" else kept, pairs, every))
    if not found:
        raise Unsupported("the record holds no pairs")
    return tuple(found)


def _saved(step: Step) -> str:
    if step.value is None:
        return "has no workload figure (no pair ended by itself)"
    if round(step.value, 1) == 0:
        return "saved no requests"
    return (
        f"saved {step.value:.1f}\u00a0% of the requests"
        if step.value > 0
        else f"took {-step.value:.1f}\u00a0% more requests"
    )


def _changed(step: Step) -> str:
    if step.value is None:
        return ""
    size = f"{abs(step.value):.1f} points"
    if step.lo is not None and step.hi is not None:
        if step.lo > 0:
            return f" and raised utility by {size}"
        if step.hi < 0:
            return f" and lowered utility by {size}"
    return f", with no resolved change in utility ({_signed(step.value)} points)"


def _interval(step: Step, unit: str) -> str:
    if step.value is None:
        return "unknown"
    text = f"{_signed(step.value)}\u00a0{unit}"
    return (
        text
        if step.lo is None or step.hi is None
        else f"{text} (95\u00a0% interval {_signed(step.lo)} to {_signed(step.hi)})"
    )


def _signed(value: float) -> str:
    text = f"{value:+.1f}"
    return "0.0" if float(text) == 0 else text.replace("-", "\u2212")


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _of_traces(audit: Audit) -> str:
    found = _coverage(audit)
    if found is None and audit.run.certificates:
        held = _counted(len(audit.run.certificates), "certificate")
        return f"This record holds {held}, and no labelled Native test traces to hold against them."
    if found is None:
        return "This record holds traces, and no certificate to hold against them."
    sure, of, _ = found
    return f"The margin covers {sure:,} of {of:,} exposed tasks."


def _coverage(audit: Audit) -> tuple[int, int, str] | None:
    """Covered and exposed test tasks over all certificates, the lowest share and whose it is."""
    if not audit.run.certificates:
        return None
    sure = of = 0
    worst, whose = 2.0, ""
    for (domain, controller), traced in audit.traced.items():
        c = traced.coverage
        if c is None or not c.tasks:
            continue
        held, _ = c.covered(c.theta)
        sure, of = sure + held, of + c.tasks
        if held / c.tasks < worst:
            worst = held / c.tasks
            whose = f"{domain_title(domain)} {controller_title(controller)}: {held} of {c.tasks}"
    return (sure, of, whose) if of else None


def _verdicts(audit: Audit) -> Iterator[Verdict]:
    found = _coverage(audit)
    if found is not None:
        sure, of, whose = found
        level = min(Fraction(c.q) for c in audit.run.certificates.values())
        cells = len(audit.run.certificates)
        low = f" The lowest is {whose}." if cells > 1 else ""
        promised = all(t.coverage.promised for t in audit.traced.values() if t.coverage is not None)
        yield Verdict(
            f"Promised {float(100 * level):g} %" if promised else "Nothing is promised at these budgets",
            f"{100 * sure / of:.1f} % covered",
            f"{sure:,} of {of:,} exposed test traces, over {_counted(cells, 'certificate')}.{low}",
            "good" if promised and sure >= level * of else "warn",
            "zero_api_native_coverage",
        )
    with suppress(Unsupported):
        yield _solutions(audit)
    yield _against_itself(audit)


def _against_itself(audit: Audit) -> Verdict:
    title, table = "The record against itself", "checks"
    found = audit.contradictions
    kinds, made = sum(bool(c.made) for c in found.checks), sum(c.made for c in found.checks)
    if not made:
        return Verdict(title, "nothing to compare", "It holds no fact twice.", "plain", table)
    figure = _counted(len(found.failures), "contradiction")
    text = f"{made:,} comparisons of what it holds twice, of {_counted(kinds, 'kind')}"
    text += f"; of {_counted(found.left, 'kind')} none could be made." if found.left else "."
    return Verdict(title, figure, text, "good" if found.sound else "warn", table)


def _solutions(audit: Audit) -> Verdict:
    """Rescues and regressions at the largest budget."""
    audit.require("pairs")
    budget = audit.budgets[-1]
    cells = [cell for (_, _, b), cell in audit.cells.items() if b == budget]
    rescues, losses = sum(c.rescues for c in cells), sum(c.regressions for c in cells)
    return Verdict(
        f"Pair by pair at B{budget}",
        f"{rescues} better, {losses} worse",
        f"and {sum(c.ties for c in cells):,} with equal utility in both arms.",
        "plain",
        "per_condition_ci",
    )
