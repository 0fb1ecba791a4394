"""Blocksworld: what exact labels cost, how the horizon shapes them, and how the simulated model fares.

    python benchmarks/blocksworld.py [--tasks N] [--data DIR] [--json]

With --data (or PACCF_DATA) on PlanBench's 501 instances, else on as many generated ones.
"""

from __future__ import annotations

import argparse
import os

from measure import Cell, Table, best, emit
from paccf.domains.blocksworld.moves import State, after, moves
from paccf.domains.blocksworld.oracle import Oracle, distances, graph
from paccf.domains.blocksworld.world import Blocksworld
from paccf.domains.labels import protected
from paccf.domains.sources import tasks
from paccf.method.certificate import Certificate
from paccf.method.deficit import TaskDeficits
from paccf.models.simulated import simulated
from paccf.search.controllers import CONTROLLERS, controller
from paccf.search.driver import run, search
from paccf.search.tree import Task

Row = dict[str, Cell]
BUDGET = 100


def labelled(problems: tuple[Task, ...], horizon: int) -> tuple[int, int, int]:
    """Label every frontier that any search could meet: each state within the horizon, at the least depth it can have.
    Returns how many frontiers and candidates that are, and how many of these are protected."""
    frontiers = candidates = alive = 0
    oracle = Oracle(horizon)
    for task in problems:
        depth = {task.data.init: 0}
        queue = [task.data.init]
        for atoms in queue:
            if depth[atoms] == horizon or task.data.goal <= atoms:
                continue
            actions = [move.action for move in moves(atoms).values()]
            labels = oracle.protected(task, State(atoms, horizon - depth[atoms]), actions)
            frontiers, candidates, alive = frontiers + 1, candidates + len(labels), alive + sum(labels)
            for action in actions:
                child = after(atoms, action)
                if child not in depth:
                    depth[child] = depth[atoms] + 1
                    queue.append(child)
    return frontiers, candidates, alive


def cost(problems: tuple[Task, ...]) -> Table:
    rows: list[Row] = []
    for horizon in (6, 8, 10, 12, 16, 24):
        seen: list[tuple[int, int, int]] = []

        def call(horizon: int = horizon, seen: list[tuple[int, int, int]] = seen) -> None:
            for cache in (moves, graph, distances):
                cache.cache_clear()
            seen.append(labelled(problems, horizon))

        seconds = best(call, 2)
        frontiers, candidates, alive = seen[-1]
        rows.append(
            {
                "H": horizon,
                "seconds": seconds,
                "frontiers": frontiers,
                "candidates": candidates,
                "protected": alive / candidates,
            }
        )
    return Table(
        "Labelling every frontier there can be",
        f"{len(problems)} problems, cold caches; each state at the least depth it can have",
        rows,
    )


def searched(problems: tuple[Task, ...], horizon: int) -> list[Row]:
    """What native searches meet, and the margin that their frontiers give."""
    world, oracle = Blocksworld(horizon), Oracle(horizon)
    model = simulated("blocksworld", "paper-like", 0, horizon=horizon)
    rows: list[Row] = []
    for name, (_, _, title) in CONTROLLERS.items():
        solved = censored = frontiers = exposed = decisive = count = alive = 0
        deficits = TaskDeficits()
        for task in problems:
            trace = run(search(task, world, controller(name), budget=BUDGET), model)
            solved, censored = solved + trace.solved, censored + trace.censored
            for frontier, labels in zip(trace.frontiers, protected(trace, oracle), strict=True):
                frontiers, count, alive = frontiers + 1, count + len(labels), alive + sum(labels)
                exposed, decisive = exposed + any(labels), decisive + (any(labels) and not all(labels))
                eligible = [i in set(frontier.eligible) for i in range(len(labels))]
                deficits.add(task.id, frontier.scores, labels, eligible=eligible)
        certificate = Certificate.freeze(deficits, "0.95")
        rows.append(
            {
                "H": horizon,
                "controller": title,
                "solved": solved,
                "censored": censored,
                "frontiers": frontiers,
                "exposed": exposed / frontiers,
                "decisive": decisive / frontiers,
                "protected": alive / count,
                "exposed tasks": certificate.n,
                "margin .95": float(certificate.limit),
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=99)
    parser.add_argument("--data", default=os.environ.get("PACCF_DATA"))
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    source = "planbench" if asked.data else "generated"
    problems = tasks("blocksworld", source, "all", 0, 501, data=asked.data)
    met = [row for horizon in (8, 12, 16, 32) for row in searched(problems[: asked.tasks], horizon)]
    note = (
        f"SIMULATED/paper-like, {asked.tasks} problems ({source}), native, B={BUDGET}; exposed: frontiers with a "
        "protected candidate; decisive: with a protected and another one; protected: share of candidates"
    )
    emit([cost(problems), Table("What searches meet", note, met)], asked.json)


if __name__ == "__main__":
    main()
