"""Recorded searches as lines of a frontier log, which `paccf calibrate`, `coverage`, `gate` and `what-if` read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from paccf.record.frontier_log import CAVEATS, GATED
from paccf.record.values import Search


def log_lines(search: Search, meta: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A labelled ``search`` as lines; one without frontiers is one empty line, so that its task counts as missing.
    ``meta`` stands on every line. A search that a margin pruned says so: it is no evidence."""
    key = search.outcome.key
    about = {"seed": key.seed, "budget": key.budget, "reason": search.outcome.end, "arm": key.arm, **meta}
    if not about.get(CAVEATS):
        about.pop(CAVEATS, None)
    if key.arm == "paccf":
        about[GATED] = True
    if not search.frontiers:
        return [{"task": key.task, "frontier": "root", "scores": [], "protected": [], "meta": about}]
    lines: list[dict[str, Any]] = []
    names: Counter[str] = Counter()
    spent = 0
    for f in search.frontiers:
        if f.protected is None:
            raise ValueError(f"the search on {key.task} is not labelled; a log is for calibration, which needs labels")
        name = " > ".join(f.path) or "root"
        names[name] += 1
        cost, spent = f.spent - spent, f.spent
        kept = [i for i, c in enumerate(f.candidates) if c.kept]
        more: dict[str, Any] = {"channel": f.channel, "path": f.path, "requests": cost, "kept": kept}
        if key.arm == "shadow":
            more["would_drop"] = [i for i, c in enumerate(f.candidates) if c.eligible and not c.gap]
        lines.append(
            {
                "task": key.task,
                "frontier": name if names[name] == 1 else f"{name} ({names[name]})",
                "scores": [c.observations for c in f.candidates],
                "protected": f.protected,
                "candidates": [c.key for c in f.candidates],
                "eligible": [c.eligible for c in f.candidates],
                "depth": len(f.path),
                "meta": {**about, **more},
            }
        )
    return lines
