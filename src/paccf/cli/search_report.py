"""What a finished search is worth and what it cost, in words and as JSON."""

from __future__ import annotations

import math
import re
from dataclasses import asdict
from typing import Any

from paccf.cli.fitting import fit, flowed
from paccf.cli.output import clean
from paccf.cli.searching import Plan
from paccf.domains.sources import digest_of
from paccf.models.pace import Spent
from paccf.search.fingerprint import settings
from paccf.search.trace import Trace
from paccf.search.tree import Node

LABEL = 12  # columns before what is said of a search
_ENDS = {
    "solved": "solved",
    "finished": "finished its plan",
    "exhausted": "exhausted: nothing was left to expand",
    "early stop": "the controller's own early stop",
    "budget": "the hard budget: censored",
    "failure": "a failure of the model",
}


def head(plan: Plan, room: int | None = None) -> str:
    """What stands over every output: that it is simulated, and what ran. One line, or lines of ``room`` columns."""
    world = f" ({plan.fingerprint['world']})" if plan.settings else ""
    margin = "" if plan.arm.gap is None else f", margin {plan.arm.gap.reach:g} ({plan.promise})"
    pieces = [
        plan.model_name,
        f"{plan.domain}{world}",
        f"{plan.title} ({shortened(plan.fingerprint['config'])})",
        f"arm {plan.arm.name}{margin}",
        f"budget {plan.budget}",
        f"seed {plan.seed}",
    ]
    pieces = [clean(piece) for piece in pieces]
    if room is None:
        return "  ".join(pieces)
    whole = [part.strip() for piece in pieces for part in flowed(re.split("(?<=,)", piece), room - 2, "")]
    return "\n".join(flowed(whole, room, "  ", "  "))


def shortened(config: str) -> str:
    """Settings with numbers of five digits at most, for people: a certificate has them to the last digit."""
    return re.sub(r"\d+\.\d{4,}", lambda found: f"{float(found[0]):.5g}", config)


def summary(trace: Trace, plan: Plan, room: int | None = None) -> str:
    """The solution and the bill, a labelled line each; of ``room`` columns at most, if that is given."""
    bill = trace.bill
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in bill.requests.items())
    end = _ENDS[trace.reason] + (f" ({trace.failure})" if trace.failure else "")
    tokens = f"{bill.prompt_tokens:,} prompt, {bill.completion_tokens:,} completion"
    if bill.unknown_tokens:
        tokens += f", unknown for {bill.unknown_tokens:,} answers"
    lines = [
        f"task        {trace.task.id}",
        f"solution    {solution(trace, plan) or 'none'}",
        f"end         {end}",
        *_worth(trace, plan),
        f"requests    {bill.total:,} of {trace.budget:,}" + (f": {kinds}" if kinds else ""),
        f"tokens      {tokens}",
        f"tree        {bill.nodes:,} nodes, {bill.expansions:,} expansions, {bill.scored:,} candidates scored",
        f"slips       {bill.illegal:,} illegal and {bill.unparsable:,} unparsable proposals, "
        f"{bill.malformed:,} malformed scorings, {bill.unscored:,} candidates unscored",
    ]
    if plan.arm.gap is not None:
        verb = "dropped" if plan.arm.name == "paccf" else "would have dropped"
        out = sum(len(f.eligible) - len(f.gap or ()) for f in trace.frontiers)
        of = sum(len(f.eligible) for f in trace.frontiers)
        lines.append(f"margin      {plan.arm.gap.reach:g}: {verb} {out:,} of {of:,} eligible candidates")
    lines = [clean(line) for line in lines]
    if room is not None:
        lines = [part for line in lines for part in flowed(line.split(" "), room, indent=" " * LABEL)]
    return "\n".join(lines)


def _worth(trace: Trace, plan: Plan) -> list[str]:
    """The utility, where nobody verifies a solution, and what else the domain measures."""
    further = metrics(trace, plan)
    lines = [] if plan.world.verified else [f"utility     {trace.utility:.3f}"]
    return lines + (
        [f"measured    {', '.join(f'{name} {value:g}' for name, value in further.items())}"] * bool(further)
    )


def metrics(trace: Trace, plan: Plan) -> dict[str, float]:
    """What the domain measures beside the utility."""
    actions = [] if trace.answer is None else trace.answer.actions
    return {name: round(value, 6) for name, value in plan.world.metrics(trace.task, actions).items()}


def row(trace: Trace, plan: Plan, room: int | None = None) -> tuple[object, ...]:
    """One line of the table over several tasks; see `COLUMNS`. Long texts are cut where ``room`` is given."""
    task, found = clean(trace.task.id), solution(trace, plan) or "-"
    if room is not None:
        others = 42  # the other columns and what is between all of them
        task, found = fit(task, max(12, (room - others) // 3)), fit(found, max(12, 2 * (room - others) // 3))
    return task, found, trace.reason, trace.bill.total, trace.bill.tokens or "?", trace.bill.nodes


COLUMNS = ("task", "solution", "end", "requests", "tokens", "nodes")


def total(traces: list[Trace], plan: Plan) -> str:
    """The last line over several tasks."""
    censored = sum(t.censored for t in traces)
    if plan.world.verified:
        worth = f"{sum(t.solved for t in traces)} of {len(traces)} solved"
    else:
        worth = f"{len(traces)} searched, mean utility {sum(t.utility for t in traces) / len(traces):.3f}"
    return (
        f"{worth}, {censored} censored; {sum(t.bill.total for t in traces):,} requests, "
        f"{sum(t.bill.nodes for t in traces):,} nodes"
    )


def wire(spent: Spent) -> str:
    """What really went to a real model: retries included, answers that were known already not."""
    unknown = f"; {spent.unknown:,} maybe billed, their tokens unknown" if spent.unknown else ""
    cost = "" if spent.cost is None else f"; cost {spent.cost:.4f}{' without those' if spent.unknown else ''}"
    return (
        f"on the wire {spent.sends:,} sends, {spent.answers:,} answers, {spent.prompt_tokens:,} prompt and "
        f"{spent.completion_tokens:,} completion tokens{unknown}{cost}"
    )


def wire_data(wire: list[Spent]) -> dict[str, Any] | None:
    """The same for machines; `None` for the simulated model, which is sent nothing."""
    return asdict(wire[0]) if wire else None


def solution(trace: Trace, plan: Plan) -> str | None:
    """The answer as a person would write it, cleaned; `None` without one."""
    if trace.answer is None:
        return None
    return clean(plan.world.solution(trace.task, trace.answer.actions))


def described(plan: Plan) -> dict[str, Any]:
    """What ran, for machines."""
    gap = plan.arm.gap
    return {
        "simulated": plan.model.simulated,
        "model": plan.model_name,
        "domain": plan.domain,
        "world": plan.fingerprint["world"],
        "tasks": digest_of(plan.tasks),
        "controller": plan.controller,
        "config": plan.fingerprint["config"],
        "scoring": settings(plan.scoring),
        "arm": plan.arm.name,
        "margin": None if gap is None or math.isinf(gap.reach) else gap.reach,
        "keeps_all": gap is not None and math.isinf(gap.reach),
        "promise": plan.promise or None,
        "overrides": list(plan.overrides),
        "notes": list(plan.notes),
        "matched_to": plan.fingerprint,
        "budget": plan.budget,
        "seed": plan.seed,
    }


def as_data(trace: Trace, plan: Plan) -> dict[str, Any]:
    """Everything that a search left behind. Texts are as the model wrote them; JSON escapes control characters."""
    bill = trace.bill
    fields = {name: getattr(bill, name) for name in bill.__dataclass_fields__}
    return {
        "task": trace.task.id,
        "solved": trace.solved,
        "solution": solution(trace, plan),
        "path": list(trace.path),
        "utility": trace.utility,
        "metrics": metrics(trace, plan),
        "end": trace.reason,
        "censored": trace.censored,
        "failure": trace.failure or None,
        "bill": {**fields, "total": bill.total, "tokens": bill.tokens},
        "frontiers": [
            {
                "path": list(f.path),
                "channel": f.channel,
                "candidates": [{"key": action.key, "text": action.text} for action in f.actions],
                "observations": [None if o is None else list(o) for o in f.observations],
                "scores": list(f.scores),
                "eligible": list(f.eligible),
                "native": list(f.native),
                "gap": None if f.gap is None else list(f.gap),
                "kept": list(f.kept),
            }
            for f in trace.frontiers
        ],
        "tree": outline(trace.root),
    }


def outline(node: Node) -> dict[str, Any]:
    """A node and all below it; ``executed`` false means admitted, but never looked at."""
    return {
        "key": None if node.action is None else node.action.key,
        "score": node.score,
        "visits": node.visits,
        "value": node.q,
        "executed": node.outcome is not None,
        "terminal": node.outcome is not None and node.outcome.terminal,
        "solved": None if node.outcome is None else node.outcome.solved,
        "dead": node.dead,
        "kids": None if node.kids is None else [outline(kid) for kid in node.kids],
    }
