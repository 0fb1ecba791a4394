"""Does the promise hold? A spec's calibration and test tasks drawn anew again and again, and how many test tasks the
frozen margins cover on their Native traces, in every cell.

    python benchmarks/coverage_redraws.py [SPEC] [--redraws 200] [--set KEY=VALUE] [-o LINES] [--workers N] [--json]

A re-draw is the spec under another seed: other tasks, other answers of the SIMULATED model, a stream that is extended
by its own exposures, a margin frozen at the spec's Q. It is the unit of error: the test tasks of one share its margin.
LINES holds one JSON object a re-draw; the same command goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from paccf.audit.coverage import Coverage
from paccf.experiment.design import Cell, Design
from paccf.experiment.labelling import add, exposed, freeze, labelled
from paccf.experiment.reading import read
from paccf.experiment.stream import extent
from paccf.experiment.work import Job, play
from paccf.method.deficit import TaskDeficits
from paccf.models.simulated import Simulated, simulated
from paccf.record.values import Label, Search
from paccf.search.tree import Task

Labelled = tuple[Search, list[tuple[Label, ...]]]


@dataclass(frozen=True)
class Drawn:
    """What one re-draw found in one cell. ``tasks`` calibrate, ``n`` of them exposed; of the exposed test tasks,
    ``covered`` kept a protected candidate at every frontier. ``margin`` is empty where everything is kept."""

    cell: str
    tasks: int
    n: int
    k: int
    margin: str
    exposed: int
    covered: int


def redraw(name: str, seed: int, sets: Sequence[str] = ()) -> list[Drawn]:
    """The spec ``name`` under ``seed``, calibrated, frozen and held against its test tasks: a cell each."""
    design = Design(read(name, [*sets, f"seed={seed}"]))
    return [drawn(design, cell) for cell in design.cells]


def drawn(design: Design, cell: Cell) -> Drawn:
    spec = design.spec
    model = simulated(cell.domain, spec.model.profile, spec.seed, **spec.domains[cell.domain].settings)
    deficits = TaskDeficits(spec.evaluator.repeats)
    for search, labels in calibrated(design, cell, model):
        add(deficits, search, labels)
    frozen = freeze(cell, deficits, design)
    found = Coverage(frozen)
    for task in design.tests[cell.domain]:
        search, labels = native(design, cell, task, model)
        add(found.deficits, search, labels)
    covered, _ = found.covered(found.theta)
    margin = "" if frozen.margin is None else f"{frozen.margin:g}"
    return Drawn(str(cell), frozen.counts.tasks, frozen.n, frozen.k, margin, found.tasks, covered)


def calibrated(design: Design, cell: Cell, model: Simulated) -> list[Labelled]:
    """The Native searches along the stream, as far as the cell's own exposures ask for."""
    first, limit, wanted = design.spec.pool(cell.domain)
    there = design.streams[cell.domain]
    found: list[Labelled] = []
    seen: list[bool] = []
    while (on := extent(seen, min(first, len(there)), min(limit, len(there)), wanted)).run > len(seen):
        found += [native(design, cell, task, model) for task in there[len(seen) : on.run]]
        seen += [exposed(*one, design.spec.evaluator.repeats) for one in found[len(seen) :]]
    return found[: on.used]


def native(design: Design, cell: Cell, task: Task, model: Simulated) -> Labelled:
    """The Native search of ``task`` at the calibration budget, with its labels."""
    job = Job("calibration", cell, task, ("native",), (design.spec.calibration.budget,))
    (search,) = play(job, design, model).searches
    return search, labelled(search, task, design, model)


@dataclass(frozen=True)
class Figure:
    """A cell over all re-draws: the mean share covered, its standard error, and what the ranks promise on average."""

    cell: str
    redraws: int
    infinite: int
    exposed: int
    covered: int
    mean: float
    error: float
    promised: float


def figures(lines: Sequence[Sequence[Drawn]]) -> list[Figure]:
    by_cell: dict[str, list[Drawn]] = {}
    for line in lines:
        for one in line:
            by_cell.setdefault(one.cell, []).append(one)
    found = []
    for cell, every in by_cell.items():
        shares = [one.covered / one.exposed for one in every if one.exposed]
        found.append(
            Figure(
                cell,
                len(shares),
                sum(not one.margin for one in every),
                sum(one.exposed for one in every),
                sum(one.covered for one in every),
                statistics.fmean(shares),
                statistics.stdev(shares) / math.sqrt(len(shares)) if len(shares) > 1 else math.inf,
                statistics.fmean(min(1.0, one.k / (one.n + 1)) for one in every),
            )
        )
    return found


def _kept(path: Path | None) -> dict[int, list[Drawn]]:
    """What an earlier call left; a line that was cut off is computed again."""
    found = {}
    if path is not None and path.exists():
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
            if line.endswith("\n"):
                read_line = json.loads(line)
                found[read_line["seed"]] = [Drawn(**one) for one in read_line["cells"]]
        path.write_text("".join(map(_line, found, found.values())), encoding="utf-8")
    return found


def _line(seed: int, cells: Sequence[Drawn]) -> str:
    return json.dumps({"seed": seed, "cells": [asdict(one) for one in cells]}) + "\n"


def _one(given: tuple[str, int, tuple[str, ...]]) -> tuple[int, list[Drawn]]:
    name, seed, sets = given
    return seed, redraw(name, seed, sets)


def _every(work: list[tuple[str, int, tuple[str, ...]]], workers: int) -> Iterator[tuple[int, list[Drawn]]]:
    if workers == 1:
        yield from map(_one, work)
        return
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        yield from pool.imap_unordered(_one, work)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("spec", nargs="?", default="demo")
    parser.add_argument("--redraws", type=int, default=200)
    parser.add_argument("--set", dest="sets", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("-o", dest="lines", type=Path)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    there = _kept(given.lines)
    work = [(given.spec, seed, tuple(given.sets)) for seed in range(1, given.redraws + 1) if seed not in there]
    for seed, cells in _every(work, given.workers):
        there[seed] = cells
        print(f"{len(there)} of {given.redraws}", file=sys.stderr)
        if given.lines is not None:
            with open(given.lines, "a", encoding="utf-8") as file:
                file.write(_line(seed, cells))
    found = figures([there[seed] for seed in sorted(there)])
    if given.json:
        print(json.dumps([asdict(one) for one in found], indent=1))
        return
    spec = read(given.spec, given.sets)
    print(
        f"SIMULATED {spec.name}: test tasks covered by the margin at Q = {spec.certificate.q}, {len(there)} re-draws\n"
    )
    print("| cell | re-draws | keep all | covered | of exposed | mean share | standard error | ranks promise |")
    print("|---|---|---|---|---|---|---|---|")
    for f in found:
        print(
            f"| {f.cell} | {f.redraws} | {f.infinite} | {f.covered:,} | {f.exposed:,} "
            f"| {100 * f.mean:.2f} % | {100 * f.error:.2f} | {100 * f.promised:.2f} % |"
        )


if __name__ == "__main__":
    main()
