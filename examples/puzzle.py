"""What every example here searches: the Game of 24, with proposals and scores of the SIMULATED model.

It stands for your own problem and your own model calls. `propose` is one request and gives candidate moves; `score` is
four requests and gives four observations a candidate. A judge like this one is biased in a way that asking again does
not cure. `requests` counts.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import paccf
from paccf.audit.coverage import Coverage
from paccf.domains.game24.world import make, task_of
from paccf.domains.sources import tasks
from paccf.method.certificate import Certificate
from paccf.models.simulated import simulated
from paccf.record.frontier_log import read_frontiers
from paccf.search.tree import Action
from paccf.search.world import Request, Subject

WORLD = make()
MODEL = simulated("game24", "paper-like", seed=1)  # SIMULATED/paper-like
DRAWS = 4


def hands(split: str, count: int) -> list[str]:
    """Hands to play, like ``4-7-8-8``: those of "calibration" and of "test" never overlap."""
    return [task.id for task in tasks("game24", "generated", split, 7, count)]


Search = Callable[["Puzzle", Any], bool]  # plays a hand, tells the task what it sees, returns whether it won


class Puzzle:
    """One hand. A state is what is left, an action takes two numbers and puts a result in their place."""

    def __init__(self, hand: str) -> None:
        self.hand = hand
        self.task = task_of(hand)
        self.start: Any = WORLD.start(self.task).state
        self.requests = 0

    def propose(self, state: Any) -> list[Action]:
        """The moves that the model thinks of, legal and distinct; ``key`` is a move's id, ``text`` says it."""
        prompt = WORLD.propose(self.task, state, 8, ())
        said = self._ask(Request("propose", prompt, 0, Subject(self.task, state, k=8)))
        return list({move.key: move for move in WORLD.read_proposals(self.task, state, said).actions}.values())

    def score(self, state: Any, moves: list[Action]) -> list[list[float] | None]:
        """Four observations a move, 0 to 100, every other one asked in reverse; None where the model did not give
        them all."""
        seen: list[list[float | None]] = [[] for _ in moves]
        for draw in range(DRAWS):
            asked = tuple(moves if draw % 2 == 0 else reversed(moves))
            prompt = WORLD.evaluate(self.task, state, asked, "child", (), None)
            said = self._ask(Request("evaluate", prompt, draw, Subject(self.task, state, asked)))
            scores = WORLD.read_scores(said, len(moves))
            for move, score in zip(seen, scores if draw % 2 == 0 else reversed(scores), strict=True):
                move.append(score)
        return [None if None in draws else draws for draws in seen]  # type: ignore[misc]

    def play(self, state: Any, move: Action) -> tuple[Any, bool | None]:
        """The state after a move; whether it is 24, or None while the game goes on. No request."""
        outcome = WORLD.execute(self.task, state, move)
        return outcome.state, outcome.solved

    def _ask(self, request: Request) -> str:
        self.requests += 1
        return MODEL.answer(request).text


def mean(scores: list[float] | None) -> float:
    """A score to order by."""
    return sum(scores) / len(scores) if scores else 0.0


def run(search: Search, split: str, count: int, recorder: paccf.Recorder) -> list[tuple[bool, int]]:
    """Search ``count`` hands, each recorded as a task; whether it was solved, and its requests."""
    results = []
    for hand in hands(split, count):
        puzzle = Puzzle(hand)
        with recorder.task(hand) as task:
            results.append((search(puzzle, task), puzzle.requests))
    return results


def calibrated(folder: Path, q: str = "0.9", **matched_to: str) -> paccf.Gate:
    """Step two of every example: the margin of what was recorded, saved, and loaded again as a gate."""
    certificate = paccf.calibrate(folder / "train.jsonl", q=q, labels="found", matched_to=matched_to)
    certificate.save(folder / "margin.json")
    print(f"margin    {float(certificate.limit):g} at Q = {q}, rank {certificate.k} of {certificate.n}")
    return paccf.Gate.load(folder / "margin.json", matched_to=matched_to)


def bill(folder: Path, before: list[tuple[bool, int]], after: list[tuple[bool, int]]) -> None:
    """Print what the gate saved on the test hands, and whether its promise held on their recorded native searches."""
    for label, results in (("before", before), ("after", after)):
        solved, requests = sum(s for s, _ in results), sum(r for _, r in results)
        print(f"{label:<9} {solved} of {len(results)} solved, {requests:,} requests (SIMULATED)")
    saved = 1 - sum(r for _, r in after) / sum(r for _, r in before)
    print(f"saved     {100 * saved:.1f} % of the requests")
    coverage = Coverage(Certificate.load(folder / "margin.json"))
    for f in read_frontiers(str(folder / "test.jsonl")):
        coverage.add(f.task, f.scores, f.protected, f.eligible, f.candidates)
    covered, _ = coverage.covered(coverage.theta)
    low, high = coverage.interval
    print(f"coverage  {covered} of {coverage.tasks} exposed test hands, 95 % interval {low:.3f} to {high:.3f}")
