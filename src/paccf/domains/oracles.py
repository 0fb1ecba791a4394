"""The oracles by name. For labels after a search has ended, and for the simulated model; never inside a search."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol, cast

from paccf.search.tree import Action, Task

ORACLES = {"game24": "paccf.domains.game24.oracle"}


class Oracle(Protocol):
    """Exact knowledge of a domain."""

    def protected(self, task: Task, state: Any, actions: Sequence[Action]) -> list[bool]:
        """For each legal action of ``state``, whether a solution can still be reached after it."""
        ...

    def value(self, task: Task, state: Any, depth: int) -> float:
        """How well the best continuation from ``state`` does, 0 to 1, if ``depth`` steps were taken."""
        ...


def oracle_of(name: str) -> Oracle:
    """The oracle of the domain ``name``. Raises ValueError that lists the known names."""
    if name not in ORACLES:
        raise ValueError(f"there is no oracle for {name!r}; known are: {', '.join(sorted(ORACLES))}")
    return cast(Oracle, import_module(ORACLES[name]))
