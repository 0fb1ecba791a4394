"""How far along its calibration stream a controller goes: a rule that looks at its own exposures and nothing else.

With it the exposed tasks stay exchangeable. Deciding by margins, or by what other controllers exposed on the same
tasks, would couple the sample to itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Extent(NamedTuple):
    """``used``: the first so many tasks of the stream calibrate. ``run``: so many have to be run to know; more than
    were looked at means go on."""

    used: int
    run: int


def extent(seen: Sequence[bool], first: int, limit: int, wanted: int | None) -> Extent:
    """After the exposures ``seen`` of the stream's first tasks: ``first`` tasks in any case; if ``wanted`` exposed ones
    are asked for, on to the task that brings the count there, or to ``limit``.

    It goes on by as many tasks as exposures are lacking, so no task is ever run that turns out not to be used.
    """
    if len(seen) < first or wanted is None:
        return Extent(first, first)
    used, count = first, sum(seen[:first])
    while count < wanted and used < min(limit, len(seen)):
        count += seen[used]
        used += 1
    lacking = max(wanted - count, 0)
    return Extent(used, min(limit, used + lacking))
