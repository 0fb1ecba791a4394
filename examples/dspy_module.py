# /// script
# requires-python = ">=3.11"
# dependencies = ["paccf", "dspy>=3.0"]
#
# [tool.uv.sources]
# paccf = { path = ".." }  # this repository
# ///
"""The gate in a DSPy program: one module is one expansion, and its `forward` returns what the gate admits.

    uv run examples/dspy_module.py      # or, with dspy installed: python examples/dspy_module.py

`Propose` and `Judge` stand for your own modules with their `dspy.Predict`; here they ask the SIMULATED model.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import dspy
from puzzle import Puzzle, bill, calibrated, mean, run

import paccf

BUDGET = 200  # requests a hand


class Propose(dspy.Module):
    def __init__(self, puzzle: Puzzle) -> None:
        super().__init__()
        self.puzzle = puzzle

    def forward(self, state) -> dspy.Prediction:
        return dspy.Prediction(moves=self.puzzle.propose(state))


class Judge(dspy.Module):
    def __init__(self, puzzle: Puzzle) -> None:
        super().__init__()
        self.puzzle = puzzle

    def forward(self, state, moves) -> dspy.Prediction:
        return dspy.Prediction(scores=self.puzzle.score(state, moves))


class Expand(dspy.Module):
    """One frontier: proposed, judged, admitted."""

    def __init__(self, puzzle: Puzzle, task) -> None:
        super().__init__()
        self.propose, self.judge, self.task, self.puzzle = Propose(puzzle), Judge(puzzle), task, puzzle

    def forward(self, path, state) -> dspy.Prediction:
        before = self.puzzle.requests
        moves = self.propose(state=state).moves
        scores = self.judge(state=state, moves=moves).scores
        cost = self.puzzle.requests - before
        kept = self.task.admit(path, [m.key for m in moves], scores, requests=cost)
        return dspy.Prediction(admitted=[(moves[i], mean(scores[i])) for i in kept])


def search(puzzle: Puzzle, task) -> bool:
    """Depth-first, the best admitted candidate first."""
    expand = Expand(puzzle, task)
    stack = [((), puzzle.start)]
    while stack and puzzle.requests < BUDGET:
        path, state = stack.pop()
        for move, _ in sorted(expand(path=path, state=state).admitted, key=lambda found: found[1]):
            there = (*path, move.key)
            after, solved = puzzle.play(state, move)
            if solved:
                task.solved(there)
                return True
            if solved is None:
                stack.append((there, after))
    return False


def main(folder: Path, count: int = 50) -> None:
    # 1. record the search as it is, on hands that are held out for calibration
    run(search, "calibration", count, paccf.Recorder(folder / "train.jsonl"))

    # 2. calibrate: how far behind was the best solution-bearing candidate, at worst?
    gate = calibrated(folder, search="dspy")

    # 3. gate, on hands it has never seen; the same hands without it are what to compare with
    before = run(search, "test", count, paccf.Recorder(folder / "test.jsonl"))
    after = run(search, "test", count, paccf.Recorder(folder / "gated.jsonl", gate=gate))
    bill(folder, before, after)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
