"""Finished searches as a frontier log that `paccf calibrate` and `paccf coverage` read; labelled by the oracle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from paccf.cli.output import BadInput
from paccf.cli.searching import Plan
from paccf.domains.labels import protected
from paccf.domains.oracles import oracle_of
from paccf.record.frontier_log import BadLine, read_frontiers
from paccf.search.trace import Trace


class Log:
    """A frontier log that finished searches are appended to, labelled by the oracle."""

    def __init__(self, path: str, plan: Plan) -> None:
        """Refuses a log that cannot be used or already holds one of the tasks, before anything is searched."""
        if plan.arm.name == "paccf":
            raise BadInput("--log is for calibration, which is on Native traces: use --arm native or shadow")
        self.path, self.plan, self.frontiers = path, plan, 0
        tasks = {task.id for task in plan.tasks}
        try:
            there = (
                next((f.task for f in read_frontiers(path) if f.task in tasks), None) if Path(path).exists() else None
            )
        except (BadLine, OSError) as error:
            raise BadInput(f"--log: {error}") from None
        if there is not None:
            raise BadInput(f"--log: {path} already holds the task {there}; a task counts once. Write to a new file.")

    def add(self, trace: Trace) -> None:
        lines = "".join(json.dumps(line) + "\n" for line in log_lines(trace, self.plan))
        self.frontiers += len(trace.frontiers)
        try:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(lines)
        except OSError as error:
            raise BadInput(f"cannot write {self.path}: {error.strerror}") from None


def log_lines(trace: Trace, plan: Plan) -> list[dict[str, Any]]:
    """The frontier log of a finished search; without a frontier one empty line, so that the task counts as missing."""
    meta = {"seed": trace.seed, "budget": trace.budget, "reason": trace.reason, **plan.fingerprint}
    lines: list[dict[str, Any]] = []
    for f, labels in zip(trace.frontiers, protected(trace, oracle_of(plan.domain, **plan.settings)), strict=True):
        eligible = set(f.eligible)
        lines.append(
            {
                "task": trace.task.id,
                "frontier": " > ".join(f.path) or "root",
                "scores": f.observations,
                "protected": labels,
                "candidates": [action.key for action in f.actions],
                "eligible": [i in eligible for i in range(len(f.actions))],
                "depth": len(f.path),
                "meta": {**meta, "channel": f.channel},
            }
        )
    return lines or [{"task": trace.task.id, "frontier": "root", "scores": [], "protected": [], "meta": meta}]
