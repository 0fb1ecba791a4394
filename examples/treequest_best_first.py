# /// script
# requires-python = ">=3.11"
# dependencies = ["paccf", "treequest>=0.3"]
#
# [tool.uv.sources]
# paccf = { path = ".." }  # this repository
# ///
"""The gate in TreeQuest: best-first search whose `tell` closes a frontier, and puts on the queue what the gate admits.

    uv run examples/treequest_best_first.py      # or, with treequest installed: python examples/treequest_best_first.py

AB-MCTS draws one child at a time and has no frontier, so there is nothing to gate in it.
"""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from puzzle import Puzzle, bill, calibrated, mean, run
from treequest.algos.best_first_search import BestFirstSearchAlgo

import paccf

BUDGET = 200  # requests a hand
SAMPLES = 8  # children that TreeQuest asks for of every node


@dataclass(frozen=True)
class Place:
    """A node's state. ``there`` is false for a child that TreeQuest asked for and the model did not think of."""

    path: tuple[str, ...]
    state: Any
    scores: list[float] | None = None
    solved: bool | None = None
    there: bool = True


class Gated(BestFirstSearchAlgo[Place]):
    """Best-first, where a node's children are admitted together once all of them are told."""

    def __init__(self, admit: Callable[[Any, list[Any]], list[int]]) -> None:
        super().__init__(num_samples=SAMPLES)
        self.admit = admit

    def tell(self, state, trial_id, result):
        state = super().tell(state, trial_id, result)
        if state.trial_store.is_queue_empty():  # that was the last child
            trial = state.trial_store.finished_trials[trial_id]
            parent = state.tree.get_node(trial.node_to_expand)
            kept = {id(parent.children[i]) for i in self.admit(parent, parent.children)}
            state.leaves = [x for x in state.leaves if x.node.parent is not parent or id(x.node) in kept]
            heapq.heapify(state.leaves)
        return state


def search(puzzle: Puzzle, task) -> bool:
    """One hand with `ask_batch` and `tell`; every batch is one frontier."""
    cost = 0

    def admit(parent, children) -> list[int]:
        path = () if parent.state is None else parent.state.path
        places = [c.state for c in children if c.state.there]
        ids = [p.path[-1] for p in places]
        return task.admit(path, ids, [p.scores for p in places], requests=cost)

    algorithm = Gated(admit)
    state = algorithm.init_tree()
    while puzzle.requests < BUDGET and (state.leaves or not state.tree.root.children):
        state, trials = algorithm.ask_batch(state, SAMPLES, ["move"])
        here = trials[0].parent_state or Place((), puzzle.start)
        if here.solved:
            task.solved(here.path)
            return True
        before = puzzle.requests
        children = [] if here.solved is False else expand(puzzle, here)
        cost = puzzle.requests - before
        children += [Place(here.path, None, there=False)] * (SAMPLES - len(children))
        for trial, child in zip(trials, children, strict=True):
            state = algorithm.tell(state, trial.trial_id, (child, mean(child.scores) / 100))
    return False


def expand(puzzle: Puzzle, here: Place) -> list[Place]:
    moves = puzzle.propose(here.state)[:SAMPLES]
    scores = puzzle.score(here.state, moves)
    return [
        Place((*here.path, move.key), after, score, solved)
        for move, score in zip(moves, scores, strict=True)
        for after, solved in [puzzle.play(here.state, move)]
    ]


def main(folder: Path, count: int = 50) -> None:
    # 1. record the search as it is, on hands that are held out for calibration
    run(search, "calibration", count, paccf.Recorder(folder / "train.jsonl"))

    # 2. calibrate: how far behind was the best solution-bearing candidate, at worst?
    gate = calibrated(folder, search="treequest")

    # 3. gate, on hands it has never seen; the same hands without it are what to compare with
    before = run(search, "test", count, paccf.Recorder(folder / "test.jsonl"))
    after = run(search, "test", count, paccf.Recorder(folder / "gated.jsonl", gate=gate))
    bill(folder, before, after)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
