"""The words of a search: tasks, actions, outcomes, and the tree.

A node is known by its path: the canonical action keys from the root. The same path in two runs is the same node.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """One problem of a domain. ``data`` is what the domain's world understands."""

    id: str
    data: Any


@dataclass(frozen=True, slots=True)
class Action:
    """A legal action. Two actions with one ``key`` are the same action, whatever their texts say."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What executing an action led to. ``solved`` is the verifier's word on a terminal state: `None` where the domain
    has no online verifier, or where the state is not terminal. ``key`` tells equal states apart from others."""

    state: Any
    key: Hashable
    terminal: bool = False
    solved: bool | None = None
    observation: str = ""


class Node:
    """A state of the tree, reached by ``action`` from ``parent``. Controllers keep their statistics in it.

    ``score`` is the aggregated score at admission, 0-100, `None` if unscored. A node that was admitted but not yet
    executed has no outcome. ``kids`` is `None` until the node is expanded. ``dead`` means finished: nothing below it
    is worth another visit.
    """

    __slots__ = (
        "action",
        "cost",
        "dead",
        "depth",
        "jitter",
        "kids",
        "outcome",
        "parent",
        "pruned",
        "q",
        "score",
        "visits",
    )

    def __init__(self, parent: Node | None, action: Action | None, score: float | None = None) -> None:
        self.parent = parent
        self.action = action
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.score = score
        self.outcome: Outcome | None = None
        self.kids: list[Node] | None = None
        self.visits = 0
        self.q = 0.0  # running mean of what was backed up
        self.cost = 0.0  # best-first controllers: g, or -log pi
        self.jitter = 0.0  # breaks ties of the rest (ToolTree)
        self.dead = False
        self.pruned = False  # post-pruned (ToolTree): never part of the answer

    @property
    def path(self) -> Path:
        return tuple([a.key for a in self.actions])

    @property
    def actions(self) -> list[Action]:
        """The actions from the root to here."""
        found = []
        node: Node | None = self
        while node is not None and (action := node.action) is not None:
            found.append(action)
            node = node.parent
        found.reverse()
        return found

    @property
    def points(self) -> float:
        """The score as a number to order by: an unscored node comes last."""
        return 0.0 if self.score is None else self.score

    def __repr__(self) -> str:
        return f"Node({'/'.join(self.path) or 'root'}, score={self.score}, n={self.visits}, q={self.q:.3f})"


def ancestors(node: Node | None) -> Iterator[Node]:
    """``node`` and its ancestors, up to the root."""
    while node is not None:
        yield node
        node = node.parent


def descendants(root: Node) -> Iterator[Node]:
    """``root`` and all below it, parents first, siblings in order."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if node.kids:
            stack.extend(reversed(node.kids))


def backup(node: Node, reward: float) -> None:
    """Add a visit with ``reward`` to the running means from ``node`` to the root."""
    v: Node | None = node
    while v is not None:
        v.visits += 1
        v.q += (reward - v.q) / v.visits
        v = v.parent


def bury(node: Node | None) -> None:
    """Mark ``node`` dead if all its kids are, and so upward: finished branches are not walked again."""
    while node is not None and not node.dead and node.kids is not None and all(k.dead for k in node.kids):
        node.dead = True
        node = node.parent


def mean_score(node: Node) -> float:
    """The mean score along the path: what a controller thinks of a plan when nobody can verify it."""
    scores = [v.points for v in ancestors(node) if v.action is not None]
    return sum(scores) / len(scores) if scores else 0.0


def reward(node: Node) -> float:
    """What a finished path is worth to the search: the verifier's word, or without one the path's own mean score."""
    if node.outcome is not None and node.outcome.terminal and node.outcome.solved is None:
        return mean_score(node) / 100
    return float(solved(node))


def solved(node: Node) -> bool:
    """Whether a verifier accepted the path to ``node``."""
    return node.outcome is not None and node.outcome.solved is True


def most_valued(root: Node, verified: bool) -> Node | None:
    """The result rule. Where the domain verifies: an accepted node, or `None`. Elsewhere: of the executed nodes the one
    whose path has the largest mean score, finished plans before begun ones, the first of equals."""
    best: Node | None = None
    rank = (False, -1.0)
    for node in descendants(root):
        if node.outcome is None or node.action is None:
            continue
        if verified:
            if solved(node):
                return node
            continue
        found = (node.outcome.terminal, mean_score(node))
        if found > rank:
            best, rank = node, found
    return best
