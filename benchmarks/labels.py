"""Labels: what they cost beside the searches they are of, and what a margin is worth that was calibrated on each kind.

    python benchmarks/labels.py                                  # about three minutes; both parts
    python benchmarks/labels.py --part cost [--data DIR] [--json]
    python benchmarks/labels.py --part modes --plot docs/pictures/labels.svg

With --data (or PACCF_DATA) the published tasks are labelled, else as many generated ones. Everything is SIMULATED.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import math
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from blocksworld import labelled as every_frontier
from measure import Cell, Table, emit
from paccf.domains.blocksworld import moves as blocks
from paccf.domains.blocksworld import oracle as distances
from paccf.domains.game24 import moves as numbers
from paccf.domains.game24 import oracle as reach
from paccf.domains.labels import Labels, labels, places
from paccf.domains.oracles import oracle_for
from paccf.domains.probing import Probe, by_probes
from paccf.domains.registry import world
from paccf.domains.sources import tasks
from paccf.method.conformal import rank
from paccf.method.deficit import TaskDeficits
from paccf.models.simulated import Simulated, simulated
from paccf.models.tape import AsyncTaped, Attempting, DurableTape, Tape, Taped
from paccf.record.store import Store
from paccf.record.taking import taken
from paccf.record.values import Key
from paccf.search.controllers import CONTROLLERS, controller
from paccf.search.driver import run, run_all, search
from paccf.search.trace import Trace
from paccf.search.tree import Task
from paccf.search.world import Answer, Request

Row = dict[str, Cell]
Deficit = Fraction | float
BUDGET, REDRAWS = 100, 1000
PUBLISHED = {"game24": "tot", "blocksworld": "planbench", "gta": "gta"}
Mode = Literal["oracle", "found", "probed"]


def seconds(call: Callable[[], object], repeats: int = 1) -> float:
    """CPU seconds of the fastest of ``repeats`` calls, each without the garbage of what came before."""
    times = []
    for _ in range(repeats):
        gc.collect()
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


class Answers:
    """The simulated model for asynchronous searches, so that a durable tape commits in groups."""

    def __init__(self, model: Simulated) -> None:
        self.model, self.name = model, model.name

    async def answer(self, request: Request, attempting: Attempting | None = None) -> Answer:
        if attempting is not None:
            await attempting(1)
        return self.model.answer(request)


def beside_replay(count: int, budget: int, data: str | None) -> Table:
    """Replaying a run from its tape, and labelling all of its searches: as they ended, and from what was recorded."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in PUBLISHED:
            drawn = tasks(name, PUBLISHED[name] if data else "", "all", 0, count, data=data)
            for kind in CONTROLLERS:
                rows.append(one_cell(name, kind, drawn, budget, Path(folder) / f"{name}-{kind}.sqlite"))
    sums = {key: sum(row[key] for row in rows) for key in list(rows[0])[2:]}  # type: ignore[misc]
    rows.append({"domain": "all", "controller": "", **sums})
    for row in rows:
        in_memory, on_disk, ended, recorded = (float(row[key]) for key in list(row)[3:7])  # type: ignore[arg-type]
        row |= {"ended / memory %": 100 * ended / in_memory, "recorded / memory %": 100 * recorded / in_memory}
        row |= {"recorded / tape %": 100 * recorded / on_disk}
    note = (
        f"{count} tasks a row, B={budget}, native, SIMULATED/paper-like; oracle labels of searches as they ended and "
        "from their record, beside a replay from memory and one from the tape of a run (SQLite); CPU time, best of 3"
    )
    return Table("Labels beside the replay of the run they are of", note, rows)


def one_cell(name: str, kind: str, drawn: Sequence[Task], budget: int, path: Path) -> Row:
    place, model = world(name), simulated(name, "paper-like", 0)
    oracle = oracle_for(place)

    def started() -> list[Any]:
        return [search(task, place, controller(kind), budget=budget) for task in drawn]

    tape = Tape()
    for one in started():
        run(one, Taped(tape, model))
    with Store.open(path) as store:
        asyncio.run(run_all(started(), AsyncTaped(DurableTape(store, "simulated"), Answers(model)), 20))
    traces = [run(one, Taped(tape)) for one in started()]
    records = [taken(t, Key("one", name, kind, "native", budget, t.task.id, 0), place) for t in traces]
    with Store.open(path, readonly=True) as store:
        durable = Taped(DurableTape(store, "simulated"))
        on_disk = seconds(lambda: [run(one, durable) for one in started()], 3)
    return {
        "domain": name,
        "controller": kind,
        "frontiers": sum(len(trace.frontiers) for trace in traces),
        "replay, memory s": seconds(lambda: [run(one, Taped(tape)) for one in started()], 3),
        "replay, tape s": on_disk,
        "labels, ended s": seconds(lambda: [labels(t, "oracle", place, t.task, oracle) for t in traces], 3),
        "labels, recorded s": seconds(
            lambda: [labels(r, "oracle", place, t, oracle) for r, t in zip(records, drawn, strict=True)], 3
        ),
    }


def all_at_once(data: str | None) -> Table:
    """Every frontier there can be in PlanBench's instances, and the roots of all hands, with nothing remembered."""
    problems = tasks("blocksworld", "planbench" if data else "generated", "all", 0, 501, data=data)
    hands = tasks("game24", "tot" if data else "generated", "all", 0, 1362, data=data)
    rows: list[Row] = []
    for horizon in (12, 16):
        for cache in (blocks.moves, distances.graph, distances.distances):
            cache.cache_clear()
        found: list[tuple[int, int, int]] = []
        spent = seconds(lambda horizon=horizon, found=found: found.append(every_frontier(problems, horizon)))  # type: ignore[misc]
        frontiers, candidates, alive = found[0]
        rows.append(
            _row(f"Blocksworld, all states within H = {horizon}", len(problems), frontiers, candidates, alive, spent)
        )
    numbers.moves.cache_clear()
    reach._known.clear()
    reach._left.clear()
    game, oracle, roots = world("game24"), reach.Game24Oracle(), []

    def label_roots() -> None:
        for task in hands:
            state = game.start(task).state
            actions = [move.action for move in numbers.moves(state).by_key.values()]
            roots.append(oracle.protected(task, state, actions))

    spent = seconds(label_roots)
    rows.append(
        _row("Game of 24, the roots", len(hands), len(roots), sum(map(len, roots)), sum(map(sum, roots)), spent)
    )
    return Table("Labelling everything", "cold caches; CPU time, once", rows)


def _row(what: str, count: int, frontiers: int, candidates: int, alive: int, spent: float) -> Row:
    share = alive / candidates
    return {
        "what": what,
        "tasks": count,
        "frontiers": frontiers,
        "candidates": candidates,
        "protected": share,
        "seconds": spent,
    }


@dataclass(frozen=True)
class Setting:
    """Where margins of all modes are compared. ``probe``: requests a candidate, 0 for no probing."""

    title: str
    domain: str
    world: dict[str, Any]
    probe: int = 16


SETTINGS = (
    Setting("Blocksworld, H = 12", "blocksworld", {"horizon": 12}, probe=0),
    Setting("Blocksworld, H = 16", "blocksworld", {"horizon": 16}, probe=0),
    Setting("Game of 24", "game24", {}),
)


def modes(count: int) -> Table:
    """Margins at Q = 0.95 from ``count`` calibration tasks labelled in each way, and the share of as many test tasks
    that they really cover, by the oracle: over `REDRAWS` halvings of one pool, since one calibration sample is luck."""
    rows: list[Row] = []
    for setting in SETTINGS:
        place = world(setting.domain, **setting.world)
        model = simulated(setting.domain, "paper-like", 0, **setting.world)
        oracle = oracle_for(place)
        drawn = tasks(setting.domain, "", "all", 1, 2 * count)
        asked: list[Mode] = ["oracle", "found", *(["probed"] if setting.probe else [])]  # type: ignore[list-item]
        for kind in CONTROLLERS:
            deficits = {mode: TaskDeficits() for mode in asked}
            solved = 0
            for task in drawn:
                trace = run(search(task, place, controller(kind), budget=BUDGET), model)
                solved += trace.solved
                for mode in asked:
                    if mode == "probed":
                        found = by_probes(task, place, places(trace), model, Probe(setting.probe))[0]
                    else:
                        found = labels(trace, mode, place, task, oracle)
                    add(deficits[mode], trace, found)
            for mode in asked:
                about = {"setting": setting.title, "controller": CONTROLLERS[kind].title, "labels": mode}
                about |= {"solved": f"{solved} of {2 * count}", "unresolved": deficits[mode].unresolved}
                rows.append(about | redrawn(deficits[mode].exposed, deficits["oracle"].exposed, [t.id for t in drawn]))
    note = (
        f"SIMULATED/paper-like, native, B = {BUDGET}, Q = 0.95; {count} tasks to calibrate on, as many to test on, "
        f"over {REDRAWS} halvings of {2 * count} tasks. n: exposed calibration tasks, and margin: medians; infinite: "
        "share of halvings; covered: test tasks that keep a truly protected candidate at every frontier that has one, "
        "the mean and where eight in ten halvings lie"
    )
    return Table("What a margin is worth by how its labels were found", note, rows)


def redrawn(known: Mapping[str, Deficit], truth: Mapping[str, Deficit], names: Sequence[str]) -> Row:
    """``known`` are the deficits that calibrate, ``truth`` those that count."""
    sizes, margins, shares = [], [], []
    for turn in range(REDRAWS):
        order = random.Random(turn).sample(names, len(names))
        half = len(order) // 2
        scores = sorted(known[name] for name in order[:half] if name in known)
        place = rank(len(scores), "0.95")
        limit = scores[place - 1] if place <= len(scores) else math.inf
        test = [truth[name] for name in order[half:] if name in truth]
        sizes.append(len(scores))
        margins.append(float(limit))
        shares.append(100 * sum(deficit <= limit for deficit in test) / len(test))
    shares.sort()
    return {
        "n": statistics.median_low(sizes),
        "margin": statistics.median_low(margins),
        "infinite %": 100 * margins.count(math.inf) / REDRAWS,
        "covered %": statistics.fmean(shares),
        "low %": shares[REDRAWS // 10],
        "high %": shares[-1 - REDRAWS // 10],
    }


def add(deficits: TaskDeficits, trace: Trace, found: Labels) -> None:
    if not trace.frontiers:
        deficits.add(trace.task.id, [], [])
    for frontier, row in zip(trace.frontiers, found, strict=True):
        eligible = set(frontier.eligible)
        deficits.add(trace.task.id, frontier.scores, row, [i in eligible for i in range(len(row))])


def draw(table: Table, path: Path) -> None:
    """A panel a setting, a row a controller, a mark a mode: what was promised, and what is kept."""
    from matplotlib.figure import Figure

    from paccf.theory.pictures import save

    looks = {"oracle": ("#009E73", "o"), "found": ("#D55E00", "s"), "probed": ("#0072B2", "^")}
    figure = Figure(figsize=(8.6, 3.7), dpi=150, layout="constrained")
    panels = figure.subplots(1, len(SETTINGS), sharex=True, sharey=True)
    order = [about.title for about in CONTROLLERS.values()][::-1]
    for panel, setting in zip(panels, SETTINGS, strict=True):
        panel.set_title(setting.title, loc="left", fontsize=10)
        panel.axvline(95, color="#666666", linewidth=1, linestyle="--")
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(True, axis="x", color="#dfe3e8", linewidth=0.7)
        for place, (mode, (colour, mark)) in enumerate(looks.items()):
            rows: list[Any] = [r for r in table.rows if r["setting"] == setting.title and r["labels"] == mode]
            y = [order.index(r["controller"]) + 0.22 * (1 - place) for r in rows]
            x = [r["covered %"] for r in rows]
            panel.hlines(y, [r["low %"] for r in rows], [r["high %"] for r in rows], color=colour, lw=1.2, alpha=0.6)
            infinite = [r["margin"] == math.inf for r in rows]
            for xi, yi, hollow in zip(x, y, infinite, strict=True):
                panel.plot(xi, yi, mark, color=colour, markersize=5.5, fillstyle="none" if hollow else "full")
        panel.set_xlim(40, 102)
        panel.set_yticks(range(len(order)), order)
        panel.tick_params(axis="y", length=0)
    where: Any = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
    panels[0].annotate("promised", (95, 0.02), (-4, 0), ha="right", color="#666666", fontsize=8, **where)
    key = [figure.axes[0].plot([], [], mark, color=colour, label=mode)[0] for mode, (colour, mark) in looks.items()]
    key += figure.axes[0].plot([], [], "o", color="black", fillstyle="none", label="hollow: infinite margin, keeps all")
    figure.supxlabel(
        "test tasks really covered, per cent: mean over halvings, and where eight in ten of them lie (SIMULATED)",
        fontsize=9,
    )
    figure.legend(handles=key, loc="outside upper center", ncols=4, frameon=False, fontsize=9)
    save(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=["cost", "modes", "both"], default="both")
    parser.add_argument("--tasks", type=int, default=250, help="of the comparison of modes, for each half")
    parser.add_argument("--plot", type=Path, help="draw the comparison of modes")
    parser.add_argument("--data", default=os.environ.get("PACCF_DATA"))
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    shown: list[Table] = []
    if asked.part != "modes":
        shown += [beside_replay(10, 500, asked.data), all_at_once(asked.data)]
    if asked.part != "cost":
        shown.append(modes(asked.tasks))
        if asked.plot:
            draw(shown[-1], asked.plot)
    emit(shown, asked.json)


if __name__ == "__main__":
    main()
