"""ToolChain*: A* over plans, f = g + h, each blended from long-term memory and the model's own judgement.

Source: Zhuang et al., ICLR 2024 (there is no public code). The step cost is (1 - g1)^alpha (1 - g2)^(1 - alpha), the
future cost (1 - h1)^beta (1 - h2)^(1 - beta): g1 the best LCS share with a remembered plan, g2 self-consistency, h1
the action's mean relative place in remembered plans, h2 how close to a solution the step is. The paper here scores
every frontier, and that score answers the question of h2. With a proposer that lists its actions votes say nothing,
so g2 is the score too ("score"); with sampled proposals it is the share of votes ("votes"). The memory is frozen
before the run: one that grows would make tasks depend on their order.

The gate stands before the priority.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

from paccf.search.controllers.ranges import COUNT, SHARE, check
from paccf.search.effects import Admit, BudgetExhausted, Controller, Ending, Execute, Propose, Setting
from paccf.search.tree import Node, Path, most_valued, solved


@dataclass(frozen=True, slots=True)
class ToolChain:
    k: int = 8  # ours: the paper does not print the number of proposals
    alpha: float = 0.5  # ours: not known from the original
    beta: float = 0.5  # ours: not known from the original
    consistency: Literal["score", "votes", "auto"] = "auto"  # auto: votes where proposals are sampled
    memory: tuple[Path, ...] = ()  # plans known before the run

    def __post_init__(self) -> None:
        check(self, k=COUNT, alpha=SHARE, beta=SHARE)


def lcs(a: Sequence[str], b: Sequence[str]) -> int:
    """Length of the longest common subsequence."""
    row = [0] * (len(b) + 1)
    for x in a:
        diagonal = 0
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], diagonal + 1 if x == y else max(row[j], row[j - 1])
    return row[-1]


def remembered(plan: Path, memory: Sequence[Path]) -> float | None:
    """g1: the best LCS(plan, m) / min(|plan|, |m|); `None` without memory."""
    return max((lcs(plan, m) / min(len(plan), len(m)) for m in memory if m), default=None)


def place(action: str, memory: Sequence[Path]) -> float | None:
    """h1: the mean relative place of the action in the plans that hold it; `None` if none does."""
    places = [(m.index(action) + 1) / len(m) for m in memory if action in m]
    return sum(places) / len(places) if places else None


def blend(memory: float | None, judged: float, weight: float) -> float:
    """(1 - memory)^weight (1 - judged)^(1 - weight); without evidence from memory, 1 - judged alone."""
    if memory is None:
        return 1 - judged
    return float((1 - memory) ** weight * (1 - judged) ** (1 - weight))


def toolchain(setting: Setting, config: ToolChain) -> Controller:
    """See the module. Ends when a solved (or, without a verifier, finished) node is popped, when nothing is open, or
    out of budget. A state is expanded once, by its first pop; costs tie by insertion."""
    root = setting.root
    heap: list[tuple[float, int, Node]] = [(0.0, 0, root)]
    closed: dict[Hashable, Node] = {}
    pushed = 0
    try:
        while heap:
            _, _, v = heapq.heappop(heap)
            if v.outcome is None:
                assert v.parent is not None
                assert v.action is not None
                v.outcome = yield Execute(v.parent, v.action)
            if solved(v):
                return Ending(v, "solved")
            if v.outcome.terminal and v.outcome.solved is None:
                return Ending(v, "finished")
            if v.outcome.terminal or v.depth >= setting.horizon or v.outcome.key in closed:
                v.dead = True
                continue
            closed[v.outcome.key] = v
            proposal = yield Propose(v, config.k)
            admission = yield Admit(v, proposal.actions)
            by_votes = config.consistency == "votes" or (config.consistency == "auto" and proposal.sampled)
            v.kids = []
            for i in admission.kept:
                action, score = proposal.actions[i], (admission.scores[i] or 0.0) / 100
                kid = Node(v, action, admission.scores[i])
                agreed = proposal.votes[i] / sum(proposal.votes) if by_votes else score
                known = remembered(kid.path, config.memory) if config.memory else None
                kid.cost = v.cost + blend(known, agreed, config.alpha)
                ahead = blend(place(action.key, config.memory), score, config.beta)
                pushed += 1
                heapq.heappush(heap, (kid.cost + ahead, pushed, kid))
                v.kids.append(kid)
        return Ending(most_valued(root, setting.verified), "exhausted")
    except BudgetExhausted:
        return Ending(most_valued(root, setting.verified), "budget")
