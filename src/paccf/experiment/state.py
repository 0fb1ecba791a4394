"""How far a run folder is, from its record: also while another process writes it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from paccf.experiment.design import Cell
from paccf.experiment.folder import Folder


@dataclass(frozen=True, slots=True)
class CellState:
    """Searches that are recorded, of how many (calibration: at least), and how the test searches at the largest budget
    ended."""

    cell: Cell
    calibrated: int
    pool: int
    margin: str  # "" if not frozen
    tested: int
    tests: int
    solved: int
    censored: int
    failed: int
    requests: int


@dataclass(frozen=True, slots=True)
class State:
    cells: tuple[CellState, ...]
    excluded: int
    complete: bool
    tape: Any  # record.tape.Totals


def state(folder: Folder) -> State:
    """Counts of everything. Reads no traces."""
    spec, design = folder.design.spec, folder.design
    counts: Counter[tuple[str, Cell]] = Counter()
    for o in folder.store.outcomes(folder.run):
        cell = Cell(o.key.domain, o.key.controller)
        if o.key.phase == "calibration":
            counts["calibrated", cell] += 1
        elif o.key.budget == spec.largest:
            counts["tested", cell] += 1
            counts["solved", cell] += o.solved
            counts["censored", cell] += o.censored
            counts["failed", cell] += o.end == "failure"
        else:
            continue
        counts["requests", cell] += o.costs.total
    frozen = folder.certificates()
    cells = []
    for cell in design.cells:
        certificate = frozen.get(cell)
        margin = "" if certificate is None else "all" if certificate.margin is None else f"{certificate.margin:g}"
        cells.append(
            CellState(
                cell,
                counts["calibrated", cell],
                spec.pool(cell.domain)[0] if spec.needs_margin else 0,
                margin,
                counts["tested", cell],
                len(design.tests[cell.domain]) * len(spec.arms),
                counts["solved", cell],
                counts["censored", cell],
                counts["failed", cell],
                counts["requests", cell],
            )
        )
    complete = all(c.tested == c.tests and (c.margin or not spec.needs_margin) for c in cells)
    return State(tuple(cells), len(folder.store.exclusions(folder.run)), complete, folder.store.tape())
