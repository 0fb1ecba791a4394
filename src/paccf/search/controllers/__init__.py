"""The five controllers: one file, one generator each; and those that other packages bring.

Rules that hold here: a controller does no I/O, looks at no clock and draws no random number but `Setting.chance`; it
never iterates over a set; ties are broken by a stated rule; it does not know which arm it runs in. Every frontier is
admitted exactly once, and finished branches are not walked again.

A package of somebody else brings one by an entry point of the group ``paccf.controllers`` whose value is a `Kind`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib.metadata import entry_points
from typing import Any, NamedTuple

from paccf.search.controllers.lats import Lats, lats
from paccf.search.controllers.levin import Levin, levin
from paccf.search.controllers.toolchain import ToolChain, toolchain
from paccf.search.controllers.tooltree import ToolTree, tooltree
from paccf.search.controllers.uct import Uct, uct
from paccf.search.effects import Controller, Setting

GROUP = "paccf.controllers"  # of entry points


class Kind(NamedTuple):
    """A controller: its generator function, which takes a `Setting` and ``config``; the frozen dataclass of its config,
    with a default for every field; its name for people."""

    make: Callable[..., Controller]
    config: type[Any]
    title: str


# the name is what specs and records say, the title is the paper's
CONTROLLERS: dict[str, Kind] = {
    "uct": Kind(uct, Uct, "UCT-MCTS"),
    "toolchain": Kind(toolchain, ToolChain, "ToolChain*"),
    "lats": Kind(lats, Lats, "LATS"),
    "tooltree": Kind(tooltree, ToolTree, "ToolTree"),
    "levin": Kind(levin, Levin, "LevinTS"),
}


@cache
def controllers() -> Mapping[str, Kind]:
    """All controllers by name: the five, and those of installed packages. Raises ValueError for a name that is taken,
    and for an entry point that is no `Kind`."""
    found = dict(CONTROLLERS)
    for entry in entry_points(group=GROUP):
        kind = entry.load()
        if entry.name in found:
            raise ValueError(f"the controller {entry.name!r} of {entry.value} has a name that is taken; rename it")
        if not isinstance(kind, Kind):
            raise ValueError(f"{entry.value} is no paccf.search.controllers.Kind(make, config, title)")
        found[entry.name] = kind
    return found


def controller(name: str, **config: Any) -> Callable[[Setting], Controller]:
    """The controller ``name`` with its config bound; ValueError names the known ones and their settings."""
    if name not in controllers():
        raise ValueError(f"there is no controller {name!r}; there are {', '.join(controllers())}")
    kind = controllers()[name]
    try:
        return partial(kind.make, config=kind.config(**config))
    except TypeError:
        known = ", ".join(kind.config.__dataclass_fields__)
        raise ValueError(f"{name} is configured by {known}, not by {', '.join(config)}") from None
