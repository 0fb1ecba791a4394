"""What a controller's setting may be: with any other value a search would be meaningless, not just bad."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

Range = tuple[float, float, str]  # the lowest, the highest, in words

COUNT: Range = (1, math.inf, "1 or more")
AMOUNT: Range = (0, math.inf, "0 or more")
ABOVE: Range = (1e-6, math.inf, "above 0")
SHARE: Range = (0, 1, "from 0 to 1")
POINTS: Range = (0, 100, "from 0 to 100")


def check(config: Any, **ranges: Range) -> None:
    """Refuse with ValueError what is out of its range; a setting whose default is a whole number has to be one."""
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
