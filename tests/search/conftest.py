"""Small searches on the toy world, and their trees as plain data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from paccf.domains.toy import Toy, ToyModel
from paccf.search.controllers import controller
from paccf.search.driver import run, search
from paccf.search.scoring import Scoring
from paccf.search.trace import Trace
from paccf.search.tree import Node, Task


def tree(node: Node) -> dict[str, Any]:
    """A node and all below it."""
    return {
        "key": node.action.key if node.action else "",
        "score": node.score,
        "visits": node.visits,
        "q": round(node.q, 9),
        "cost": round(node.cost, 9),
        "state": None if node.outcome is None else repr(node.outcome.key),
        "flags": [name for name in ("dead", "pruned") if getattr(node, name)],
        "kids": None if node.kids is None else [tree(kid) for kid in node.kids],
    }


def everything(trace: Trace) -> dict[str, Any]:
    """All that a search left behind, comparable."""
    return {
        "tree": tree(trace.root),
        "bill": trace.bill,
        "reason": trace.reason,
        "path": trace.path,
        "utility": trace.utility,
        "frontiers": list(trace.frontiers),
    }


@pytest.fixture(name="everything")
def _everything() -> Callable[[Trace], dict[str, Any]]:
    return everything


@pytest.fixture(name="tree")
def _tree() -> Callable[[Node], dict[str, Any]]:
    return tree


@pytest.fixture
def searched() -> Callable[..., Trace]:
    """Run one search on the toy world."""

    def go(
        name: str,
        task: str = "t",
        *,
        world: Toy | None = None,
        model: Any = None,
        budget: int = 60,
        config: dict[str, Any] | None = None,
        scoring: Scoring | None = None,
        **options: Any,
    ) -> Trace:
        world = world or Toy()
        make = controller(name, **(config or {}))
        started = search(Task(task, None), world, make, budget=budget, scoring=scoring, **options)
        return run(started, model or ToyModel(world))

    return go
