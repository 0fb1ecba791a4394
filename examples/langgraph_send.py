# /// script
# requires-python = ">=3.11"
# dependencies = ["paccf", "langgraph>=1.0"]
#
# [tool.uv.sources]
# paccf = { path = ".." }  # this repository
# ///
"""The gate in a LangGraph graph: a node is a frontier, and it sends on what the gate admits.

    uv run examples/langgraph_send.py      # or, with langgraph installed: python examples/langgraph_send.py

The graph expands level by level, all admitted states of a level at once.
"""

from __future__ import annotations

import operator
import tempfile
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import Command, Send
from puzzle import Puzzle, bill, calibrated, run

import paccf

BUDGET = 400  # requests a hand


class Board(TypedDict):
    """What the graph shares: the solutions found so far."""

    solutions: Annotated[list[tuple[str, ...]], operator.add]


class Place(TypedDict):
    """What one expansion is sent."""

    path: tuple[str, ...]
    state: Any


def search(puzzle: Puzzle, task) -> bool:
    """One hand as a graph with one node; `task.admit` logs its frontiers and decides what is sent on."""

    def expand(place: Place) -> Command:
        path, state = place["path"], place["state"]
        if puzzle.requests >= BUDGET:
            return Command()
        before = puzzle.requests
        moves = puzzle.propose(state)
        scores = puzzle.score(state, moves)
        sent, solutions = [], []
        for i in task.admit(path, [m.key for m in moves], scores, requests=puzzle.requests - before):
            there = (*path, moves[i].key)
            after, solved = puzzle.play(state, moves[i])
            if solved:
                solutions.append(there)
            elif solved is None:
                sent.append(Send("expand", Place(path=there, state=after)))
        return Command(update={"solutions": solutions}, goto=sent)

    graph = StateGraph(Board)
    graph.add_node("expand", expand)
    graph.add_conditional_edges(START, lambda _: [Send("expand", Place(path=(), state=puzzle.start))], ["expand"])
    # one at a time: the puzzle counts its requests, and the log is in the order of the level
    found = graph.compile().invoke({"solutions": []}, {"max_concurrency": 1})["solutions"]
    for path in found:
        task.solved(path)
    return bool(found)


def main(folder: Path, count: int = 40) -> None:
    # 1. record the search as it is, on hands that are held out for calibration
    run(search, "calibration", count, paccf.Recorder(folder / "train.jsonl"))

    # 2. calibrate: how far behind was the best solution-bearing candidate, at worst?
    gate = calibrated(folder, search="langgraph")

    # 3. gate, on hands it has never seen; the same hands without it are what to compare with
    before = run(search, "test", count, paccf.Recorder(folder / "test.jsonl"))
    after = run(search, "test", count, paccf.Recorder(folder / "gated.jsonl", gate=gate))
    bill(folder, before, after)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
