"""Searches of the toy world as the record keeps them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from paccf.domains.toy import Toy, ToyModel
from paccf.method.admission import ScoreGap
from paccf.record.taking import taken
from paccf.record.values import Key, RunInfo, Search
from paccf.search.controllers import controller
from paccf.search.driver import run, search
from paccf.search.trace import Arm
from paccf.search.tree import Task

RUN = RunInfo("paper", '{"domain": "toy"}', "SIMULATED/toy", True, {"paccf": "0.1.0"})


def toy_search(name: str = "uct", task: str = "t1", budget: int = 60, arm: str = "native", seed: int = 0) -> Search:
    """A search of the toy world, taken."""
    world = Toy()
    chosen = Arm() if arm == "native" else Arm(arm, ScoreGap(5))  # type: ignore[arg-type]
    begun = search(Task(task, None), world, controller(name), arm=chosen, budget=budget, seed=seed)
    key = Key("test", "toy", name, arm, budget, task, seed)
    return taken(run(begun, ToyModel(world)), key, world)


@pytest.fixture
def made() -> Callable[..., Search]:
    return toy_search


@pytest.fixture
def info() -> RunInfo:
    return RUN
