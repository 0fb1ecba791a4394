"""ToolTree: MCTS with feedback before and after execution.

Source: the authors' code (ICLR_2026_ToolTree at f88932d): UCT with the pre-evaluation as prior, one-shot expansion
(every candidate pre-evaluated, the eligible ones at or above tau_pre, then the top K by pre-evaluation), one execution
a rollout, post-evaluation backed up as a running mean, children below tau_post not expanded and no part of the answer,
and a stop when the best root value has not improved for some rollouts. A pass that only finds out that a node has
nothing more to offer costs no rollout. Ours: the tie-breaking jitter is hashed; the answer follows executed children
only (theirs can end in one that never ran); a verified solution may end the search.

The gate replaces the top K after tau_pre, and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from paccf.method.admission import TopK
from paccf.search.controllers.ranges import AMOUNT, COUNT, POINTS, check
from paccf.search.effects import (
    Admit,
    Appraise,
    BudgetExhausted,
    Controller,
    Effect,
    Ending,
    Execute,
    Propose,
    Reason,
    Setting,
)
from paccf.search.tree import Node, backup, bury, most_valued, solved


@dataclass(frozen=True, slots=True)
class ToolTree:
    k: int = 14  # every tool gets a draft; GTA has 14
    weight: float = 1.4  # lambda of Eq. 1, the authors' configuration
    tau_pre: float = 30.0  # the authors' 0.3, on 0-100
    tau_post: float = 40.0  # the authors' 0.4, on 0-100
    top_k: int = 5  # the authors' configuration
    rollouts: int = 60  # the authors' R_max
    patience: int = 10  # the authors': rollouts without improvement, 1 or more
    improvement: float = 1e-3  # the authors': what counts as one
    stop_on_win: bool = True  # ours: a verified solution ends the search

    def __post_init__(self) -> None:
        check(self, k=COUNT, weight=AMOUNT, tau_pre=POINTS, tau_post=POINTS, top_k=COUNT)
        check(self, rollouts=COUNT, patience=COUNT, improvement=AMOUNT)


def select(node: Node, weight: float) -> Node | None:
    """The live kid to visit: Q + lambda r_pre sqrt(ln N(s) / N(s, a)), infinite if unvisited; ties by more visits,
    then by jitter. A prior of 0 counts as a millionth, as theirs does. `None` if no kid is live."""
    log = math.log(node.visits) if node.visits else 0.0
    best: Node | None = None
    most = -1.0
    for kid in node.kids or ():
        if kid.dead or kid.pruned:
            continue
        visits = kid.visits
        value = kid.q + weight * ((kid.score or 0.0) / 100 or 1e-6) * math.sqrt(log / visits) if visits else math.inf
        if value > most or (value == most and best and (visits, kid.jitter) > (best.visits, best.jitter)):
            best, most = kid, value
    return best


def best_value(root: Node) -> float:
    """The largest Q of a root kid that is executed and not post-pruned; 0 without one."""
    return max((kid.q for kid in root.kids or () if kid.outcome is not None and not kid.pruned), default=0.0)


def stalled(history: Sequence[float], patience: int, improvement: float) -> bool:
    """Whether none of the last ``patience`` values is better than the one before them by ``improvement``. The window
    slides: a value that falls and recovers has improved."""
    return len(history) > patience and max(history[-patience:]) - history[-patience - 1] < improvement


def answer(root: Node, verified: bool) -> Node | None:
    """A verified solution if there is one; without a verifier the plan that is greedy by Q over executed kids that are
    not post-pruned."""
    if verified:
        return most_valued(root, verified)
    v, last = root, None
    while v.kids and (open_ := [k for k in v.kids if k.outcome is not None and not k.pruned]):
        v = last = max(open_, key=lambda k: k.q)
    return last


def tooltree(setting: Setting, config: ToolTree) -> Controller:
    """See the module. Ends solved, by its own early stop or rollout limit, exhausted, or out of budget."""
    root = setting.root
    history: list[float] = []  # the best root value after every rollout
    reason: Reason = "exhausted"
    try:
        while not root.dead:
            v = root
            while v.kids is not None and (kid := select(v, config.weight)) is not None:
                v = kid
                if v.outcome is None:
                    break
            if v.outcome is not None:
                if v.kids is None and not v.outcome.terminal and v.depth < setting.horizon:
                    v.kids = yield from expand(v, config, setting)
                    if v.kids:
                        v = v.kids[0]
                if v.outcome is not None:  # nothing to execute below: a pass that costs no rollout
                    v.dead = True
                    bury(v.parent)
                    continue
            yield from execute(v, config)
            if solved(v) and config.stop_on_win:
                return Ending(v, "solved")
            history.append(best_value(root))
            if stalled(history, config.patience, config.improvement) or len(history) >= config.rollouts:
                reason = "early stop"
                break
    except BudgetExhausted:
        reason = "budget"
    return Ending(answer(root, setting.verified), reason)


def expand(v: Node, config: ToolTree, setting: Setting) -> Generator[Effect, Any, list[Node]]:
    """Pre-evaluate every candidate and admit; returns the kids, best pre-evaluation first."""
    proposal = yield Propose(v, config.k)
    native = TopK(config.top_k)
    admission = yield Admit(v, proposal.actions, channel="pre", native=native, tau=config.tau_pre)
    kids = [Node(v, proposal.actions[i], admission.scores[i]) for i in admission.kept]
    for kid in kids:
        kid.jitter = setting.chance(kid, "jitter")
    return sorted(kids, key=lambda kid: -kid.points)


def execute(v: Node, config: ToolTree) -> Generator[Effect, Any, None]:
    """Run ``v``, judge the step in the context before it, back the judgement up."""
    assert v.parent is not None
    assert v.action is not None
    v.outcome = yield Execute(v.parent, v.action)
    post = yield Appraise(v)
    backup(v, (post or 0.0) / 100)
    v.pruned = post is not None and post < config.tau_post
    v.dead = v.dead or v.pruned or v.outcome.terminal
    bury(v.parent)
