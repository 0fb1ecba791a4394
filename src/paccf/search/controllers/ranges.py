"""What a controller's setting may be: with any other value a search would be meaningless, not just bad."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

Range = tuple[float, float, str]  # the lowest, the highest, in words

COUNT: Range = (1, math.inf, "1 or more")
AMOUNT: Range = (0, math.inf, "0 or more")
ABOVE: Range = (1e-6, math.inf, "above 0")
SHARE: Range = (0, 1, "from 0 to 1")
POINTS: Range = (0, 100, "from 0 to 100")


def check(config: Any, **ranges: Range) -> None:
    """Refuse with ValueError what is out of its range; a setting whose default is a whole number has to be one, and one
    that is typed as a choice has to be among its words."""
    for name, kind in _choices(type(config)).items():
        if getattr(config, name) not in kind:
            raise ValueError(f"{name}: one of {', '.join(kind)}, not {getattr(config, name)!r:.40}")
    for field in fields(config):
        if field.name not in ranges:
            continue
        low, high, words = ranges[field.name]
        value, whole = getattr(config, field.name), type(field.default) is int
        kinds = int if whole else (int, float)
        if (
            isinstance(value, bool)
            or not isinstance(value, kinds)
            or not (math.isfinite(value) and low <= value <= high)
        ):
            raise ValueError(f"{field.name}: a {'whole ' * whole}number {words}, not {value!r:.40}")


def _choices(kind: type[Any]) -> dict[str, tuple[str, ...]]:
    """The words of every setting that is a choice."""
    return {name: get_args(hint) for name, hint in get_type_hints(kind).items() if get_origin(hint) is Literal}
