"""The domains by name. What knows solutions is not here, see `oracles`."""

from __future__ import annotations

from importlib import import_module

from paccf.search.world import World

WORLDS = {"game24": "paccf.domains.game24.world:Game24"}


def world(name: str) -> World:
    """The world called ``name``; its module is imported now. Raises ValueError that lists the known names."""
    if name not in WORLDS:
        raise ValueError(f"there is no domain {name!r}; known are: {', '.join(sorted(WORLDS))}")
    module, _, attribute = WORLDS[name].partition(":")
    made: World = getattr(import_module(module), attribute)()
    return made
