"""From logs to a frozen margin, in one call: what `paccf calibrate` does, for Python."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, get_args

from paccf.method.certificate import Certificate, Labels, Target
from paccf.method.conformal import level
from paccf.method.deficit import TaskDeficits
from paccf.record.frontier_log import read_frontiers

if TYPE_CHECKING:
    from paccf.method.scores import Exact


def calibrate(
    *logs: str | os.PathLike[str],
    q: Exact = "0.95",
    confidence: Exact | None = None,
    epsilon: Exact = 0,
    target: Target = "exposed",
    labels: Labels = "unstated",
    budget: int | None = None,
    observations: int | None = None,
    matched_to: Mapping[str, str] | None = None,
) -> Certificate:
    """The margin of these labelled frontier logs, frozen; save it with `Certificate.save`.

    Give ``q``, ``confidence`` and ``epsilon`` as they are written, best as texts: "0.95". With ``confidence`` the
    margin is the PAC one. Too few exposed tasks give an infinite margin, which is a value (`Certificate.feasible`) and
    no error. Raises OSError, `BadLine` at the first line that cannot be used, ValueError for settings that cannot be.
    """
    if not logs:
        raise ValueError("give at least one frontier log")
    if labels not in get_args(Labels):
        raise ValueError(f"labels {labels!r:.40}: say how they were found, one of {', '.join(get_args(Labels))}")
    deficits = TaskDeficits(1 if observations is None else observations)
    seen: set[int] = set()
    for log in logs:
        for f in read_frontiers(os.fspath(log), seen=seen):
            deficits.add(f.task, f.scores, f.protected, f.eligible, f.candidates)
    return Certificate.freeze(
        deficits,
        q,
        delta=None if confidence is None else 1 - level(confidence, "confidence"),
        epsilon=epsilon,
        target=target,
        labels=labels,
        budget=budget,
        observations=observations,
        matched_to=matched_to,
    )
