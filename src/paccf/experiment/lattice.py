"""A world whose evaluator answers on a coarser lattice than it was asked on."""

from __future__ import annotations

import math
from typing import Any

from paccf.search.world import World


def on_lattice(world: World, lattice: float) -> World:
    """``world`` with every score rounded to the nearest multiple of ``lattice``, halves up; 0: ``world`` itself."""
    if not lattice:
        return world
    kind: Any = type(world)

    def read_scores(self: Any, text: str, count: int) -> list[float | None]:
        found = kind.read_scores(self, text, count)
        return [None if s is None else min(lattice * math.floor(s / lattice + 0.5), 100.0) for s in found]

    made: Any = object.__new__(type(kind.__name__, (kind,), {"read_scores": read_scores, "__slots__": ()}))
    for field in getattr(kind, "__dataclass_fields__", {}):
        object.__setattr__(made, field, getattr(world, field))
    rounded: World = made
    return rounded
