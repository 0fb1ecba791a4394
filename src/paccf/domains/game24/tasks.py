"""All hands of the game. Says which are solvable, so it is not for the online path."""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement

from paccf.domains.game24.oracle import reachable
from paccf.domains.game24.world import CARDS, LARGEST, hand
from paccf.search.tree import Task


def hands() -> list[Task]:
    """All 1,820 hands of four numbers from 1 to 13, in order of their numbers."""
    return [hand(numbers) for numbers in combinations_with_replacement(range(1, LARGEST + 1), CARDS)]


@cache
def solvable() -> tuple[Task, ...]:
    """The 1,362 hands that 24 can be made of, in the same order. About a second when called first."""
    return tuple(task for task in hands() if reachable(task.data))
