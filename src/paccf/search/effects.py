"""What a controller may ask for. It yields one of these and is sent the answer; there is no other way out of it.

    Propose   -> Proposal     candidate actions, legal and distinct
    Admit     -> Admission    one frontier: scored, decided, recorded. The only place where candidates are dropped
    Execute   -> Outcome      the transition, without a model
    Appraise  -> float        one observation of an executed step, 0-100 (`None` if it cannot be had)
    Reflect   -> str          a note on a failed path

An effect may stand for many model requests; a controller never sees them, nor the arm it runs in. When the budget is
gone, `BudgetExhausted` is thrown into it: it may return its best so far, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from paccf.method.admission import KeepAll, Rule
from paccf.search.tree import Action, Node, Outcome

KEEP_ALL = KeepAll()

# which question the evaluator is asked: a child's promise, a tool call before it runs, a step after it ran
Channel = Literal["child", "pre", "post"]
# why a search ended
Reason = Literal["solved", "finished", "exhausted", "early stop", "budget", "failure"]


class BudgetExhausted(Exception):
    """The hard cap on requests is reached."""


class Propose(NamedTuple):
    node: Node
    k: int
    notes: tuple[str, ...] = ()


class Proposal(NamedTuple):
    """Distinct legal actions in order of first appearance; ``votes`` counts how many samples said each, all 1 where
    one request lists them all (``sampled`` is false then, and the votes say nothing)."""

    actions: tuple[Action, ...]
    votes: tuple[int, ...]
    sampled: bool


class Admit(NamedTuple):
    """One frontier, complete. ``tau`` is the controller's own eligibility threshold, ``native`` its own rule over the
    eligible ones. ``outcomes`` are given if the candidates were executed before they are judged."""

    node: Node
    actions: tuple[Action, ...]
    channel: Channel = "child"
    native: Rule = KEEP_ALL
    tau: float | None = None
    notes: tuple[str, ...] = ()
    outcomes: tuple[Outcome, ...] | None = None


class Admission(NamedTuple):
    """``kept`` are indices into the frontier, in its order; ``scores`` are those of the full set, never changed."""

    kept: tuple[int, ...]
    scores: tuple[float | None, ...]


class Execute(NamedTuple):
    node: Node
    action: Action


class Appraise(NamedTuple):
    """Judge the step that led to ``node``, in the context before it."""

    node: Node


class Reflect(NamedTuple):
    node: Node


Effect = Propose | Admit | Execute | Appraise | Reflect


@dataclass(frozen=True, slots=True)
class Ending:
    """What a controller returns: the node its answer ends in (`None`: no answer), and why it stopped."""

    node: Node | None
    reason: Reason


@dataclass(frozen=True, slots=True)
class Setting:
    """What a controller is given: the root (executed), the domain's depth limit, whether the domain verifies what is
    terminal, and hashed randomness in [0, 1) by (node, purpose)."""

    root: Node
    horizon: int
    verified: bool
    chance: Callable[[Node, str], float]


Controller = Generator[Effect, Any, Ending]
