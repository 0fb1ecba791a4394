"""The five controllers: one file, one generator each.

Rules that hold here: a controller does no I/O, looks at no clock and draws no random number but `Setting.chance`; it
never iterates over a set; ties are broken by a stated rule; it does not know which arm it runs in. Every frontier is
admitted exactly once, and finished branches are not walked again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from paccf.search.controllers.lats import Lats, lats
from paccf.search.controllers.levin import Levin, levin
from paccf.search.controllers.toolchain import ToolChain, toolchain
from paccf.search.controllers.tooltree import ToolTree, tooltree
from paccf.search.controllers.uct import Uct, uct
from paccf.search.effects import Controller, Setting

# name -> (the generator, its config, the name in the paper)
CONTROLLERS: dict[str, tuple[Callable[..., Controller], type[Any], str]] = {
    "uct": (uct, Uct, "UCT-MCTS"),
    "toolchain": (toolchain, ToolChain, "ToolChain*"),
    "lats": (lats, Lats, "LATS"),
    "tooltree": (tooltree, ToolTree, "ToolTree"),
    "levin": (levin, Levin, "LevinTS"),
}


def controller(name: str, **config: Any) -> Callable[[Setting], Controller]:
    """The controller ``name`` with its config bound; ValueError names the known ones and their settings."""
    if name not in CONTROLLERS:
        raise ValueError(f"there is no controller {name!r}; there are {', '.join(CONTROLLERS)}")
    make, kind, _ = CONTROLLERS[name]
    try:
        return partial(make, config=kind(**config))
    except TypeError:
        known = ", ".join(kind.__dataclass_fields__)
        raise ValueError(f"{name} is configured by {known}, not by {', '.join(config)}") from None
