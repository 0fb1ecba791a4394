"""What an experiment will ask for, cell by cell, before anything is sent.

A cell never asks for more than its searches times their budget. How much it will ask is estimated by playing its first
tasks on the simulated model; prompts are the real ones, so their length is right, and answers are as long as a terse
model's.
"""

from __future__ import annotations

from dataclasses import dataclass

from paccf.experiment.design import Cell, Design
from paccf.experiment.work import Job, play
from paccf.models.simulated import simulated
from paccf.models.spec import Prices

SAMPLE = 2  # ours: tasks a cell that are played for the estimate


@dataclass(frozen=True, slots=True)
class Line:
    """One cell: its searches, the requests that they can ask for at most, and what is expected of both phases."""

    cell: Cell
    calibration: int  # searches: at least, and at most if the stream is extended
    extended: int
    test: int
    ceiling: int  # requests
    requests: float
    prompt_tokens: float
    completion_tokens: float

    def money(self, prices: Prices | None) -> float | None:
        return None if prices is None else prices.cost(self.prompt_tokens, self.completion_tokens)


def plan(design: Design) -> list[Line]:
    """A line a cell. Asks no model but the simulated one."""
    return [line(design, cell) for cell in design.cells]


def line(design: Design, cell: Cell) -> Line:
    spec = design.spec
    first, limit, _ = spec.pool(cell.domain) if spec.needs_margin else (0, 0, None)
    tests = len(design.tests[cell.domain])
    budget, largest = spec.calibration.budget, spec.largest
    requests = prompt = completion = 0.0
    searches = ((budget, first), (largest, tests * len(spec.arms)))
    for at, count in searches:
        mean = expected(design, cell, at) if count else (0.0, 0.0, 0.0)
        requests, prompt, completion = (
            requests + count * mean[0],
            prompt + count * mean[1],
            completion + count * mean[2],
        )
    ceiling = limit * budget + tests * len(spec.arms) * largest
    return Line(cell, first, limit, tests * len(spec.arms), ceiling, requests, prompt, completion)


def expected(design: Design, cell: Cell, budget: int) -> tuple[float, float, float]:
    """Requests, prompt tokens and completion tokens of a Native search: the mean over a few tasks."""
    spec = design.spec
    model = simulated(cell.domain, "paper-like", spec.seed, **spec.domains[cell.domain].settings)
    tasks = design.tests[cell.domain][:SAMPLE]
    sums = [0, 0, 0]
    for task in tasks:
        costs = play(Job("single", cell, task, ("native",), (budget,)), design, model).searches[0].outcome.costs
        sums = [sums[0] + costs.total, sums[1] + costs.prompt_tokens, sums[2] + costs.completion_tokens]
    return sums[0] / len(tasks), sums[1] / len(tasks), sums[2] / len(tasks)
