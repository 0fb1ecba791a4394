"""Contradictions within a record: facts that are written down twice, and do not agree.

A sound record has none. What is checked of a search, at every budget it has an outcome at:
- the bill and the trace count the same frontiers, candidate occurrences and graph nodes;
- the bill stays within the budget, and reaches it where the budget is said to have ended the search;
- a smaller budget is a prefix: as many frontiers as were admitted within it, and no quantity above a larger budget's;
- kept candidates are eligible, and are those of the arm's own rule;
- the margin's decisions, taken again from the observations by the frozen certificate, are those recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from paccf.method.admission import ScoreGap
from paccf.method.certificate import Certificate
from paccf.record.values import Costs, Frontier, Key, Outcome, Search


def name(key: Key) -> str:
    """A search in words."""
    return f"{key.phase} {key.domain} {key.controller} {key.arm} B{key.budget} task {key.task}"


def of_search(search: Search, outcomes: Sequence[Outcome], certificate: Certificate | None) -> tuple[list[str], int]:
    """The contradictions of one search, and how many decisions of the margin were taken again."""
    key = search.outcome.key
    problems: list[str] = []
    for outcome in outcomes:
        problems += [f"{name(outcome.key)}: {p}" for p in _outcome(outcome, search.frontiers)]
    for small, large in pairwise(sorted(outcomes, key=lambda o: o.key.budget)):
        problems += [f"{name(small.key)}: {p}" for p in _prefix(small, large)]
    rule = None
    if certificate is not None and key.phase == "test" and key.arm in ("paccf", "shadow"):
        rule = ScoreGap(certificate.limit, certificate.epsilon, certificate.observations or 1)
    taken = 0
    for place, frontier in enumerate(search.frontiers):
        said = [*_kept(frontier, key.arm)]
        if rule is not None:
            said += _again(frontier, rule)
            taken += 1
        problems += [f"{name(key)}, frontier {place}: {p}" for p in said]
    return problems, taken


def _outcome(outcome: Outcome, frontiers: Sequence[Frontier]) -> list[str]:
    """The bill of one budget against the frontiers it reached."""
    costs, budget = outcome.costs, outcome.key.budget
    if outcome.frontiers > len(frontiers):
        return [f"{outcome.frontiers} frontiers in the bill, {len(frontiers)} in the trace"]
    inside = frontiers[: outcome.frontiers]
    counted = {
        "frontiers": (costs.expansions, len(inside)),
        "scored occurrences": (costs.scored, sum(len(f.candidates) for f in inside)),
        "graph nodes": (costs.nodes, sum(c.kept for f in inside for c in f.candidates)),
        "unscored candidates": (costs.unscored, sum(c.score is None for f in inside for c in f.candidates)),
    }
    found = [
        f"{bill} {what} in the bill, {trace} in the trace" for what, (bill, trace) in counted.items() if bill != trace
    ]
    if costs.total > budget:
        found.append(f"{costs.total} requests, over the budget")
    if outcome.censored and costs.total != budget:
        found.append(f"ended by the budget after {costs.total} requests")
    spent = [f.spent for f in inside]
    if spent != sorted(spent) or (spent and spent[-1] > costs.total):
        found.append("requests at admission do not grow up to the bill's total")
    within = sum(f.spent <= budget for f in frontiers)
    if outcome.end != "failure" and within != outcome.frontiers:
        found.append(f"{within} frontiers were admitted within the budget, not {outcome.frontiers}")
    return found


def _prefix(small: Outcome, large: Outcome) -> list[str]:
    """A smaller budget uses no more of anything, and is the same search unless it was cut short."""
    grows = {"requests": "total", "graph nodes": "nodes", "frontiers": "expansions", "scored occurrences": "scored"}
    found = []
    for what, attribute in grows.items():
        less, more = getattr(small.costs, attribute), getattr(large.costs, attribute)
        if less > more:
            found.append(f"{less} {what}, and only {more} at B{large.key.budget}")
    if (
        not small.censored
        and "failure" not in (small.end, large.end)
        and ((small.end, small.utility, _bill(small.costs)) != (large.end, large.utility, _bill(large.costs)))
    ):
        found.append(f"ended by itself ({small.end}), and otherwise at B{large.key.budget} ({large.end})")
    return found


def _bill(costs: Costs) -> tuple[int, int, int | None]:
    return costs.total, costs.nodes, costs.tokens


def _kept(frontier: Frontier, arm: str) -> list[str]:
    """What was admitted follows the arm's own rule."""
    found = []
    for c in frontier.candidates:
        own = c.gap if arm == "paccf" else c.native
        if c.kept and not c.eligible:
            found.append(f"candidate {c.key} was admitted without being eligible")
        elif c.eligible and own is not None and c.kept != own:
            found.append(f"candidate {c.key} was {'admitted' if c.kept else 'dropped'} against the arm's own rule")
    return found


def _again(frontier: Frontier, rule: ScoreGap) -> list[str]:
    """The margin's decision, taken again."""
    found = frontier.candidates
    scores = [c.score if c.observations is None else list(c.observations) for c in found]
    eligible = [c.eligible for c in found]
    kept = set(rule.keep(scores, None if all(eligible) else eligible))
    wrong = [c.key for i, c in enumerate(found) if c.eligible and c.gap is not None and c.gap != (i in kept)]
    return [f"the certificate's margin decides otherwise on candidate {key}" for key in wrong]
