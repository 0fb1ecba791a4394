"""UCT-MCTS: selection by upper confidence, all children at once, greedy simulation down the scored children.

Sources: Kocsis and Szepesvari 2006 (the rule and its constant); RAP in llm-reasoners (simulation expands on its way
and its nodes stay in the tree). Ours: finished branches are dead and not walked again, and a verified solution ends
the search. Native pruning: none. The gate stands before the rollout's choice.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Literal

from paccf.search.controllers.ranges import AMOUNT, COUNT, check
from paccf.search.effects import Admit, BudgetExhausted, Controller, Effect, Ending, Execute, Propose, Setting
from paccf.search.tree import Node, backup, bury, most_valued, reward, solved


@dataclass(frozen=True, slots=True)
class Uct:
    k: int = 8  # ours: the paper does not print the number of proposals
    c: float = math.sqrt(2)  # Kocsis and Szepesvari: 2 C_p with C_p = 1/sqrt(2) for rewards in [0, 1]
    rollout: Literal["greedy", "random", "value"] = "greedy"  # greedy: llm-reasoners' `max`; value: no simulation

    def __post_init__(self) -> None:
        check(self, k=COUNT, c=AMOUNT)


def select(node: Node, c: float) -> Node:
    """The live kid to visit: unvisited before visited, then by Q + c sqrt(ln N(s) / N(s, a)); ties by score, then by
    order of proposal."""
    log = math.log(node.visits) if node.visits else 0.0
    best: Node | None = None
    most = (-1.0, -1.0)
    for kid in node.kids or ():
        if not kid.dead:
            value = kid.q + c * math.sqrt(log / kid.visits) if kid.visits else math.inf
            if value >= most[0] and (value, kid.points) > most:
                best, most = kid, (value, kid.points)
    assert best is not None
    return best


def uct(setting: Setting, config: Uct) -> Controller:
    """See the module. Ends solved, exhausted or out of budget."""
    root = setting.root
    try:
        while not root.dead:
            v = root
            while v.kids is not None:
                v = select(v, config.c)
            gain = 0.0
            while True:  # simulation, expanding on the way
                if v.outcome is None:
                    assert v.parent is not None
                    assert v.action is not None
                    v.outcome = yield Execute(v.parent, v.action)
                    if solved(v):
                        backup(v, 1.0)
                        return Ending(v, "solved")
                if v.outcome.terminal or v.depth >= setting.horizon:
                    gain, v.dead = reward(v), True
                    break
                v.kids = yield from expand(v, config.k)
                if not v.kids:
                    v.dead = True
                    break
                if config.rollout == "value":
                    gain = max(kid.points for kid in v.kids) / 100
                    break
                v = descend(v, v.kids, config.rollout, setting)
            backup(v, gain)
            bury(v.parent)
        return Ending(most_valued(root, setting.verified), "exhausted")
    except BudgetExhausted:
        return Ending(most_valued(root, setting.verified), "budget")


def expand(v: Node, k: int) -> Generator[Effect, Any, list[Node]]:
    """Propose and admit below ``v``; returns its kids."""
    proposal = yield Propose(v, k)
    admission = yield Admit(v, proposal.actions)
    return [Node(v, proposal.actions[i], admission.scores[i]) for i in admission.kept]


def descend(v: Node, kids: list[Node], rollout: str, setting: Setting) -> Node:
    """Where the simulation goes from ``v``: to the best-scored kid, the first of equals, or to one at random."""
    if rollout == "random":
        return kids[int(setting.chance(v, "rollout") * len(kids))]
    return max(kids, key=lambda kid: kid.points)
