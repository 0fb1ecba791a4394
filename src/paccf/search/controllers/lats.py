"""LATS: tree search over executed actions, valued by the model and by self-consistency, with reflections.

Source: Zhou et al., ICML 2024. UCT with the exploration weight w over V, V = lambda LM + (1 - lambda) SC at birth, one
simulation greedy by V to the end, and a note on every failed path, shown to later prompts. From the authors' code we
do not take: dividing the running mean by the visits again, throwing the nodes of the simulation away, failed paths
worth -1, and regenerating notes. The value at birth counts as one visit. Children are executed before they are
judged; a child that the verifier accepts ends the search at once.

The gate compares the raw scores, before the rollout's choice; V still orders.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from paccf.search.controllers.ranges import AMOUNT, COUNT, SHARE, check
from paccf.search.effects import Admit, BudgetExhausted, Controller, Effect, Ending, Execute, Propose, Reflect, Setting
from paccf.search.tree import Node, backup, bury, most_valued, reward, solved


@dataclass(frozen=True, slots=True)
class Lats:
    n: int = 5  # the paper and its code: samples an expansion
    w: float = 1.0  # the paper: exploration weight
    lam: float = 0.5  # the paper, for HotPotQA and Game24; 1 in effect where proposals are listed, not sampled
    trajectories: int = 50  # the paper's K for HotPotQA
    notes: int = 3  # the code keeps fewer than four failures

    def __post_init__(self) -> None:
        check(self, n=COUNT, w=AMOUNT, lam=SHARE, trajectories=COUNT, notes=AMOUNT)


def uct_value(node: Node, w: float) -> float:
    """V(s) + w sqrt(ln N(p) / N(s)); a node's birth is its first visit."""
    assert node.parent is not None
    return node.q + w * math.sqrt(math.log(max(1, node.parent.visits)) / node.visits)


def birth_value(score: float | None, share: float | None, lam: float) -> float:
    """V at birth: lambda LM + (1 - lambda) SC, with LM = s / 100; LM alone where there are no votes."""
    judged = (score or 0.0) / 100
    return judged if share is None else lam * judged + (1 - lam) * share


def lats(setting: Setting, config: Lats) -> Controller:
    """See the module. Ends solved, after K trajectories, exhausted, or out of budget."""
    root = setting.root
    root.visits = 1
    notes: list[str] = []
    try:
        for _ in range(config.trajectories):
            if root.dead:
                return Ending(most_valued(root, setting.verified), "exhausted")
            v = root
            while v.kids is not None:
                v = max((k for k in v.kids if not k.dead), key=lambda u: (uct_value(u, config.w), u.points))
            while not _terminal(v) and v.depth < setting.horizon:  # expansion and greedy simulation
                v.kids = yield from expand(v, config, notes)
                win = next((kid for kid in v.kids if solved(kid)), None)
                if win is not None:
                    backup(win, 1.0)
                    return Ending(win, "solved")
                if not v.kids:
                    break
                v = max(v.kids, key=lambda u: (u.q, u.points))
            v.dead = True
            backup(v, reward(v))
            bury(v.parent)
            if v.action is not None and _terminal(v) and len(notes) < config.notes:
                notes.append((yield Reflect(v)))
        return Ending(most_valued(root, setting.verified), "early stop")
    except BudgetExhausted:
        return Ending(most_valued(root, setting.verified), "budget")


def expand(v: Node, config: Lats, notes: list[str]) -> Generator[Effect, Any, list[Node]]:
    """Sample, execute, judge, admit; returns the kids, each with its value at birth as its first visit."""
    said = tuple(notes)
    proposal = yield Propose(v, config.n, said)
    outcomes = []
    for action in proposal.actions:
        outcomes.append((yield Execute(v, action)))
    admission = yield Admit(v, proposal.actions, channel="child", notes=said, outcomes=tuple(outcomes))
    kids = []
    for i in admission.kept:
        kid = Node(v, proposal.actions[i], admission.scores[i])
        kid.outcome = outcomes[i]
        share = proposal.votes[i] / sum(proposal.votes) if proposal.sampled else None
        kid.q, kid.visits = birth_value(admission.scores[i], share, config.lam), 1
        kids.append(kid)
    return kids


def _terminal(v: Node) -> bool:
    return v.outcome is not None and v.outcome.terminal
