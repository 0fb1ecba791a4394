"""Finished searches as a labelled frontier log that `paccf calibrate` and `paccf coverage` read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from paccf.cli.output import BadInput, unwritable
from paccf.cli.searching import Plan
from paccf.domains.labels import CAVEATS as BY_MODE
from paccf.domains.labels import Labels, labels, places
from paccf.domains.oracles import oracle_for, refusal
from paccf.domains.probing import Probe, by_probes
from paccf.domains.registry import has
from paccf.record import logged
from paccf.record.frontier_log import CAVEATS, BadLine, read_frontiers
from paccf.record.taking import taken
from paccf.record.values import Key, LabelMode
from paccf.search.trace import Trace


class Log:
    """A frontier log that finished searches are appended to, labelled in ``mode``."""

    def __init__(self, path: str, plan: Plan, mode: LabelMode = "oracle", probe: Probe | None = None) -> None:
        """Refuses a log that cannot be used or already holds one of the tasks, before anything is searched."""
        if mode == "oracle" and not has(plan.domain, "oracle"):
            raise BadInput(f"--labels oracle: {plan.domain} has no oracle; take probed, or found and what it promises")
        if mode == "oracle" and (why := refusal(oracle_for(plan.world), plan.tasks)):
            raise BadInput(f"--labels oracle: {why}")
        if mode == "probed" and not plan.model.simulated:
            raise BadInput(
                "--labels probed: on a real model `paccf run` probes, on a tape, so that nothing is paid twice"
            )
        if plan.arm.name == "paccf":
            raise BadInput("--log is for calibration, which is on Native traces: use --arm native or shadow")
        self.path, self.plan, self.mode, self.probe = path, plan, mode, probe or Probe()
        self.frontiers = self.probed = 0
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
        labels = self._labels(trace)
        lines = "".join(json.dumps(line) + "\n" for line in log_lines(trace, self.plan, self.mode, labels))
        self.frontiers += len(trace.frontiers)
        try:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(lines)
        except OSError as error:
            raise unwritable(self.path, error) from None

    def _labels(self, trace: Trace) -> Labels:
        world, task = self.plan.world, trace.task
        if self.mode != "probed":
            return labels(trace, self.mode, world, task)
        found, spent = by_probes(task, world, places(trace), self.plan.simulated(), self.probe)
        self.probed += spent
        return found


def log_lines(trace: Trace, plan: Plan, mode: LabelMode, labels: Labels) -> list[dict[str, Any]]:
    """The frontier log of a finished search."""
    key = Key("single", plan.domain, plan.controller, trace.arm.name, trace.budget, trace.task.id, trace.seed)
    search = taken(trace, key, plan.world, metrics={})
    said = (*plan.caveats, *BY_MODE.get(mode, ()))
    frontiers = [replace(f, protected=tuple(row)) for f, row in zip(search.frontiers, labels, strict=True)]
    return logged.log_lines(replace(search, frontiers=frontiers), {"labels": mode, CAVEATS: said, **plan.fingerprint})
