"""Where tasks come from. Knows which are solvable, so no search sees it."""

from __future__ import annotations

from paccf.domains.sources import Source, Stream
from paccf.search.chance import chance
from paccf.search.tree import Task
from reach.world import STEPS, task_of


def draw(seed: int, i: int) -> Task:
    """The i-th task of a seed. Equal content has an equal id; there is no other randomness than `chance`."""
    start = 3 + int(40 * chance(seed, "reach", i, "start"))
    n = start
    for step in range(5):
        n = list(STEPS.values())[int(len(STEPS) * chance(seed, "reach", i, step))](n)
    return task_of(f"{start} to {n if 0 < n != start else start + 7} in 5")


SOURCES = {"generated": Source("five random steps from 3 to 42, without end", lambda files, argument: Stream(draw))}
