# /// script
# requires-python = ">=3.11"
# dependencies = ["paccf", "llm-reasoners>=1.0"]
#
# [tool.uv.sources]
# paccf = { path = ".." }  # this repository
# ///
"""The gate in llm-reasoners: its MCTS expands a node, and keeps the children that the gate admits.

    python examples/llm_reasoners_mcts.py      # with llm-reasoners installed; it brings torch and much else

Its MCTS has no request budget and walks finished branches again, so a hand gets a number of iterations, in both arms.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from puzzle import Puzzle, bill, calibrated, mean, run
from reasoners import SearchConfig, WorldModel
from reasoners.algorithm import MCTS

import paccf

ITERATIONS = 12


class World(WorldModel):
    """A state is (what is left, whether it is 24 or None while the game goes on)."""

    def __init__(self, puzzle: Puzzle) -> None:
        super().__init__()
        self.puzzle = puzzle

    def init_state(self):
        return self.puzzle.start, None

    def step(self, state, action):
        return self.puzzle.play(state[0], action), {}

    def is_terminal(self, state) -> bool:
        return state[1] is not None


class Config(SearchConfig):
    """One proposal and one scoring round a node; `fast_reward` is the mean score of a child."""

    def __init__(self, puzzle: Puzzle) -> None:
        super().__init__()
        self.puzzle = puzzle
        self.scores: dict[str, list[float] | None] = {}

    def get_actions(self, state):
        moves = self.puzzle.propose(state[0])
        scores = self.puzzle.score(state[0], moves)
        self.scores = {move.key: score for move, score in zip(moves, scores, strict=True)}
        return moves

    def fast_reward(self, state, action):
        return mean(self.scores[action.key]) / 100, {}

    def reward(self, state, action, **kwargs):
        _, solved = self.puzzle.play(state[0], action)
        return (float(solved) if solved is not None else 0.0), {}


class Gated(MCTS):
    """MCTS whose frontiers are admitted: `_expand` makes all children of a node, and the gate keeps some."""

    def __init__(self, puzzle: Puzzle, config: Config, task) -> None:
        super().__init__(n_iters=ITERATIONS, depth_limit=3, output_strategy="max_reward")
        self.puzzle, self.config, self.task = puzzle, config, task

    def _expand(self, node) -> None:
        before = self.puzzle.requests
        super()._expand(node)
        if node.is_terminal:
            if node.state[1]:
                self.task.solved(path_of(node))
            return
        if not node.children:  # nothing was proposed: a dead end, and no frontier
            return
        ids = [child.action.key for child in node.children]
        scores = [self.config.scores[id] for id in ids]
        kept = self.task.admit(path_of(node), ids, scores, requests=self.puzzle.requests - before)
        node.children = [node.children[i] for i in kept]

    def _is_terminal_with_depth_limit(self, node) -> bool:
        return super()._is_terminal_with_depth_limit(node) or node.children == []


def path_of(node) -> list[str]:
    path = []
    while node.parent is not None:
        path.append(node.action.key)
        node = node.parent
    return path[::-1]


def search(puzzle: Puzzle, task) -> bool:
    config = Config(puzzle)
    result = Gated(puzzle, config, task)(World(puzzle), config)
    return result.terminal_state is not None and bool(result.terminal_state[1])


def main(folder: Path, count: int = 50) -> None:
    # 1. record the search as it is, on hands that are held out for calibration
    run(search, "calibration", count, paccf.Recorder(folder / "train.jsonl"))

    # 2. calibrate: how far behind was the best solution-bearing candidate, at worst?
    gate = calibrated(folder, search="llm-reasoners")

    # 3. gate, on hands it has never seen; the same hands without it are what to compare with
    before = run(search, "test", count, paccf.Recorder(folder / "test.jsonl"))
    after = run(search, "test", count, paccf.Recorder(folder / "gated.jsonl", gate=gate))
    bill(folder, before, after)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
