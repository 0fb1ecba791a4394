"""Task sources of game24."""

from __future__ import annotations

from collections.abc import Iterable

from paccf.domains.game24.tasks import solvable
from paccf.search.chance import shuffled
from paccf.search.tree import Task


def tasks(
    domain: str,
    source: str,
    split: str,
    seed: int,
    count: int,
    without: Iterable[str] = (),
    data: str | None = None,
) -> tuple[Task, ...]:
    """One cut of the hands by the seed."""
    pool = solvable()
    order = shuffled(len(pool), seed, domain, "tasks")
    half = len(pool) // 2
    return tuple(pool[i] for i in (order[:half] if split == "test" else order[half:])[:count])
