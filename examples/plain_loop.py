# /// script
# requires-python = ">=3.11"
# dependencies = ["paccf"]
#
# [tool.uv.sources]
# paccf = { path = ".." }  # this repository
# ///
"""The gate in a search loop of your own: best-first, forty lines, no framework.

    python examples/plain_loop.py

Three steps: record the search as it is, calibrate a margin on what it recorded, let the gate decide.
"""

from __future__ import annotations

import heapq
import tempfile
from pathlib import Path

from puzzle import Puzzle, bill, calibrated, mean, run

import paccf

BUDGET = 200  # requests a hand


def search(puzzle: Puzzle, task) -> bool:
    """Best-first over the mean score. `task.admit` logs every frontier and says which candidates to go on with: all
    of them while there is no gate."""
    heap = [(0.0, 0, (), puzzle.start)]
    pushed = 0
    while heap and puzzle.requests < BUDGET:
        _, _, path, state = heapq.heappop(heap)
        before = puzzle.requests
        moves = puzzle.propose(state)
        scores = puzzle.score(state, moves)
        for i in task.admit(path, [m.key for m in moves], scores, requests=puzzle.requests - before):
            there = (*path, moves[i].key)
            after, solved = puzzle.play(state, moves[i])
            if solved:
                task.solved(there)
                return True
            if solved is None:
                pushed += 1
                heapq.heappush(heap, (-mean(scores[i]) - 10 * len(path), pushed, there, after))
    return False


def main(folder: Path, count: int = 100) -> None:
    # 1. record the search as it is, on hands that are held out for calibration
    run(search, "calibration", count, paccf.Recorder(folder / "train.jsonl"))

    # 2. calibrate: how far behind was the best solution-bearing candidate, at worst?
    gate = calibrated(folder, search="plain loop")

    # 3. gate, on hands it has never seen; the same hands without it are what to compare with
    before = run(search, "test", count, paccf.Recorder(folder / "test.jsonl"))
    after = run(search, "test", count, paccf.Recorder(folder / "gated.jsonl", gate=gate))
    bill(folder, before, after)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
