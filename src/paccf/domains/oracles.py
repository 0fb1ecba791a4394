"""The oracles by name. For labels after a search has ended, and for the simulated model; never inside a search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any, Protocol, cast

from paccf.domains.registry import made
from paccf.search.tree import Action, Task
from paccf.search.world import World


class Oracle(Protocol):
    """Exact knowledge of a domain. It may have three methods more: ``refuses(task)``, why nothing exact can be known of
    the task, or `None`; and for people ``solution(task)``, actions that solve the task or `None`, and ``facts(task)``,
    what else is known of it, by name."""

    def protected(self, task: Task, state: Any, actions: Sequence[Action]) -> list[bool]:
        """For each legal action of ``state``, whether a solution can still be reached after it."""
        ...

    def value(self, task: Task, state: Any, depth: int) -> float:
        """How well the best continuation from ``state`` does, 0 to 1, if ``depth`` steps were taken."""
        ...


def oracle_of(name: str, **settings: Any) -> Oracle:
    """The oracle of the domain ``name`` for a world of these ``settings``. Raises ValueError for a name that is not
    known, and for a domain without an oracle."""
    return cast(Oracle, made(name, "oracle", settings))


def oracle_for(world: World, **further: Any) -> Oracle:
    """The oracle that fits ``world``: made for its settings, and ``further`` ones of the oracle's own."""
    settings = {field.name: getattr(world, field.name) for field in fields(world)}  # type: ignore[arg-type]
    return oracle_of(world.name, **settings, **further)


def refusal(oracle: Oracle, tasks: Iterable[Task]) -> str | None:
    """Why ``oracle`` can know nothing exact of one of ``tasks``, said before anything is searched; `None` if it can."""
    refuses = getattr(oracle, "refuses", None)
    if refuses is None:
        return None
    return next((f"the task {task.id:.80}: {why}" for task in tasks if (why := refuses(task))), None)
