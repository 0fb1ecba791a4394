"""Generated problems for every test, and PlanBench's where somebody has them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.real import folder

from paccf.domains.blocksworld.blocks import HAND, TABLE, checked, facts, task
from paccf.domains.blocksworld.strips import Atoms, Problem
from paccf.search.tree import Task


@pytest.fixture(scope="session")
def planbench() -> Path:
    return folder("blocksworld/pddl.jsonl", "blocksworld/instances.jsonl") / "blocksworld"


@pytest.fixture(scope="session")
def instances(planbench: Path) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """All instances: the PDDL row, and the row of the same instance with an optimal plan."""
    pddl, solved = (
        [json.loads(line) for line in (planbench / name).read_text().splitlines()]
        for name in ("pddl.jsonl", "instances.jsonl")
    )
    plans = {(row["set"], row["id"]): row for row in solved}
    return [(row, plans[row["set"], row["id"]]) for row in pddl]


def placed(rng: random.Random, blocks: str, hold: bool = False) -> dict[str, str]:
    """A random arrangement, not uniform."""
    place: dict[str, str] = {}
    order = rng.sample(blocks, len(blocks))
    free: list[str] = []
    for block in order:
        place[block] = below = rng.choice([TABLE, *free])
        if below != TABLE:
            free.remove(below)
        free.append(block)
    if hold and rng.random() < 0.5:
        place[rng.choice(free)] = HAND
    return place


@pytest.fixture(scope="session")
def any_state() -> Callable[[random.Random, str], Atoms]:
    return lambda rng, blocks: facts(placed(rng, blocks, hold=True))


@pytest.fixture(scope="session")
def problems() -> list[Task]:
    """Problems of three to five blocks."""
    found: dict[str, Task] = {}
    rng = random.Random(4)
    while len(found) < 60:
        blocks = "abcde"[: rng.randint(3, 5)]
        goal = frozenset(atom for atom in facts(placed(rng, blocks)) if atom[0] == "on")
        init = facts(placed(rng, blocks))
        if goal and not goal <= init:
            made = task(checked(Problem("", tuple(blocks), init, goal), "made"))
            found[made.id] = made
    return list(found.values())
