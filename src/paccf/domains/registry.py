"""The domains by name. What knows solutions is not imported here, see `oracles`.

A domain is one package with a ``world`` module. Those in `paccf.domains` are known by being there; a package of
somebody else by an entry point of the group ``paccf.domains``, whose value is the package.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, cast

import paccf.domains
from paccf.search.tree import Task
from paccf.search.world import World

GROUP = "paccf.domains"  # of entry points


class UnknownName(ValueError):
    """A name that nothing answers to; the message lists what does."""


def unknown(what: str, name: str, names: Iterable[str]) -> UnknownName:
    """The error that lists ``names``, and suggests one of them."""
    known = sorted(names)
    near = get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return UnknownName(f"there is no {what} {name!r:.80}.{hint} Known: {', '.join(known) or 'none'}")


@cache
def packages() -> Mapping[str, str]:
    """The package of every domain by the domain's name. Imports none of the domains of others."""
    found = {
        module.name: f"{GROUP}.{module.name}"
        for module in iter_modules(paccf.domains.__path__)
        if module.ispkg and find_spec(f"{GROUP}.{module.name}.world") is not None
    }
    for entry in entry_points(group=GROUP):
        if found.setdefault(entry.name, entry.value) != entry.value:
            raise ValueError(f"two packages call their domain {entry.name!r}: {found[entry.name]} and {entry.value}")
    return found


def names() -> list[str]:
    """The names of all domains."""
    return sorted(packages())


def part(name: str, module: str) -> ModuleType:
    """The module of that name of the domain ``name``, imported now. Raises `UnknownName` for a domain that is not
    known, ValueError for one that has no such module."""
    if name not in packages():
        raise unknown("domain", name, packages())
    package = packages()[name]
    try:
        return import_module(f"{package}.{module}")
    except ModuleNotFoundError as error:
        if error.name not in (package, f"{package}.{module}"):
            raise
        raise ValueError(f"the domain {name!r} has no {module}: there is no module {error.name}") from None


def has(name: str, module: str) -> bool:
    """Whether the domain ``name`` has a module of that name: one without ``tasks`` offers no sources."""
    return find_spec(f"{packages()[name]}.{module}") is not None


def world(name: str, **settings: Any) -> World:
    """The world called ``name``. Raises `UnknownName` for a name or a setting that is not known."""
    make = part(name, "world").make
    _refuse(name, settings, settings_of(make))
    return cast(World, make(**settings))


def made(name: str, module: str, settings: Mapping[str, Any]) -> Any:
    """What ``make`` of a module beside the world makes for a world of these ``settings``. Those it has no use for are
    left out; a name that neither it nor the world knows is refused."""
    make = part(name, module).make
    own = settings_of(make)
    _refuse(name, settings, {**settings_of(part(name, "world").make), **own})
    return make(**{key: value for key, value in settings.items() if key in own})


def settings_of(make: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The settings that ``make`` takes, by name."""
    return {
        key: value for key, value in inspect.signature(make).parameters.items() if value.kind is not value.VAR_KEYWORD
    }


def _refuse(domain: str, settings: Iterable[str], known: Iterable[str]) -> None:
    known = list(known)
    for key in settings:
        if key not in known:
            raise unknown(f"setting of {domain} called", key, known)


def task_of(name: str, text: str) -> Task:
    """The task of the domain ``name`` that ``text`` writes out. Raises ValueError that shows how to write one."""
    return cast(Task, part(name, "world").task_of(text))


def sample(name: str) -> tuple[str, str]:
    """A task of the domain as one writes it, and an answer that proposes legal actions in it."""
    task, answer = part(name, "world").SAMPLE
    return str(task), str(answer)
