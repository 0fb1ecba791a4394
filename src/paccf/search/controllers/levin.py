"""LevinTS: best-first on depth over path probability.

Source: Orseau, Lelis, Lattimore and Weber 2018: expand by d0(n) / pi(n), cut a state that was expanded with at least
this probability (the policy is Markov), test goals when popped; h-levin for the mixing with uniform that keeps logs
finite, and for testing goals at generation, which is a setting here. There is no policy network: pi is the softmax of
the scores, or the share of votes where proposals are sampled. It is taken over the complete frontier, before the gate,
and not renormalised over what survives: a margin changes what is admitted, never the order.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

from paccf.search.controllers.ranges import ABOVE, AMOUNT, COUNT, SHARE, check
from paccf.search.effects import Admit, BudgetExhausted, Controller, Ending, Execute, Propose, Reason, Setting
from paccf.search.tree import Node, most_valued


@dataclass(frozen=True, slots=True)
class Levin:
    k: int = 8  # ours: the paper does not print the number of proposals
    temperature: float = 20.0  # ours: score points in which the policy falls by e
    mix: float = 0.01  # h-levin's epsilon: share of the uniform policy
    policy: Literal["score", "votes", "auto"] = "auto"  # auto: votes where proposals are sampled
    depth_offset: int = 0  # h-levin: d0 is the number of edges; 1 counts nodes
    goal: Literal["pop", "generation"] = "pop"  # when goals are tested: pop as in the paper, generation as in h-levin

    def __post_init__(self) -> None:
        check(self, k=COUNT, temperature=ABOVE, mix=SHARE, depth_offset=AMOUNT)


def softmax(scores: Sequence[float | None], temperature: float) -> list[float]:
    """Probabilities in proportion to exp(score / temperature); an unscored candidate counts as the worst score."""
    known = [s for s in scores if s is not None]
    low, top = min(known, default=0.0), max(known, default=0.0)
    weights = [math.exp(((low if s is None else s) - top) / temperature) for s in scores]
    total = sum(weights)
    return [w / total for w in weights]


def policy(scores: Sequence[float | None], votes: Sequence[int] | None, config: Levin) -> list[float]:
    """pi(a | s) over the complete frontier, mixed with uniform."""
    total = 0 if votes is None else sum(votes)
    raw = softmax(scores, config.temperature) if votes is None else [n / total for n in votes]
    sure, even = 1 - config.mix, config.mix / len(raw)
    return [sure * p + even for p in raw]


def levin_cost(depth: int, log_pi: float, offset: int) -> float:
    """log(d0 / pi), the order of expansion; the root comes first."""
    edges = depth + offset
    return math.log(edges) - log_pi if edges else -math.inf


def goal(v: Node) -> Reason | None:
    """How a search ends at ``v``: solved, or finished where nobody verifies; `None` if it is no goal."""
    if v.outcome is None or not v.outcome.terminal or v.outcome.solved is False:
        return None
    return "solved" if v.outcome.solved else "finished"


def levin(setting: Setting, config: Levin) -> Controller:
    """See the module. Ends when a solved (or, without a verifier, finished) node is popped or, by ``goal``, admitted;
    when nothing is open; or out of budget. `Node.cost` is -log pi."""
    root = setting.root
    heap: list[tuple[float, int, Node]] = [(-math.inf, 0, root)]
    likeliest: dict[Hashable, float] = {}
    pushed = 0
    try:
        while heap:
            _, _, v = heapq.heappop(heap)
            if v.outcome is None:
                assert v.parent is not None
                assert v.action is not None
                v.outcome = yield Execute(v.parent, v.action)
            if reason := goal(v):
                return Ending(v, reason)
            seen = likeliest.get(v.outcome.key)
            if v.outcome.terminal or v.depth >= setting.horizon or (seen is not None and seen <= v.cost):
                v.dead = True
                continue
            likeliest[v.outcome.key] = v.cost
            proposal = yield Propose(v, config.k)
            admission = yield Admit(v, proposal.actions)
            by_votes = config.policy == "votes" or (config.policy == "auto" and proposal.sampled)
            v.kids = []
            if proposal.actions:
                pi = policy(admission.scores, proposal.votes if by_votes else None, config)
                for i in admission.kept:
                    kid = Node(v, proposal.actions[i], admission.scores[i])
                    kid.cost = v.cost + (-math.log(pi[i]) if pi[i] else math.inf)
                    pushed += 1
                    heapq.heappush(heap, (levin_cost(kid.depth, -kid.cost, config.depth_offset), pushed, kid))
                    v.kids.append(kid)
                    if config.goal == "generation":
                        kid.outcome = yield Execute(v, proposal.actions[i])
            for kid in v.kids:
                if reason := goal(kid):
                    return Ending(kid, reason)
        return Ending(most_valued(root, setting.verified), "exhausted")
    except BudgetExhausted:
        return Ending(most_valued(root, setting.verified), "budget")
