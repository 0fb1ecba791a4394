"""What an experiment will ask for, cell by cell, before anything is sent.

A cell never asks for more than its searches times their budget, and where labels are probed, than its candidates times
the probe's budget. How much it will ask is estimated by playing its first
tasks on the simulated model; prompts are the real ones, so their length is right, and answers are as long as a terse
model's.
"""

from __future__ import annotations

from dataclasses import dataclass

from paccf.experiment.design import Cell, Design
from paccf.experiment.labelling import probed
from paccf.experiment.spec import Spec
from paccf.experiment.work import Job, play
from paccf.models.simulated import simulated
from paccf.models.spec import Prices
from paccf.search.world import Answer, Model, Request

SAMPLE = 2  # ours: tasks a cell that are played for the estimate


@dataclass(frozen=True, slots=True)
class Line:
    """One cell: its searches, the requests that they can ask for at most, and what is expected of both phases."""

    cell: Cell
    calibration: int  # searches: at least, and at most if the stream is extended
    extended: int
    test: int
    ceiling: int  # requests, those of probes among them
    probes: int  # of the ceiling, what probes can ask for
    requests: float  # with those of probes
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
    means = {at: expected(design, cell, at) for at in dict.fromkeys(at for at, count in searches if count)}
    for at, count in searches:
        mean = means.get(at, (0.0, 0.0, 0.0))
        requests, prompt, completion = (
            requests + count * mean[0],
            prompt + count * mean[1],
            completion + count * mean[2],
        )
    runs = tests * len(spec.arms)
    probes = limit * probed_at_most(spec, budget) + runs * probed_at_most(spec, largest)
    ceiling = limit * budget + runs * largest + probes
    return Line(cell, first, limit, runs, ceiling, probes, requests, prompt, completion)


def probed_at_most(spec: Spec, budget: int) -> int:
    """The requests that labelling one search can take. R requests observe at most a microbatch of candidates, so a
    search with this budget has no more than so many."""
    if spec.calibration.labels != "probed":
        return 0
    return budget // spec.evaluator.repeats * spec.evaluator.microbatch * spec.calibration.probe


def expected(design: Design, cell: Cell, budget: int) -> tuple[float, float, float]:
    """Requests, prompt tokens and completion tokens of a Native search and its probes: the mean over a few tasks."""
    spec = design.spec
    model = simulated(cell.domain, "paper-like", spec.seed, **spec.domains[cell.domain].settings)
    tasks = design.tests[cell.domain][:SAMPLE]
    sums = [0, 0, 0]
    for task in tasks:
        search = play(Job("single", cell, task, ("native",), (budget,)), design, model).searches[0]
        costs, probes = search.outcome.costs, Counting(model)
        if spec.calibration.labels == "probed":
            probed(search, task, design, probes)
        sums = [
            sums[0] + costs.total + probes.requests,
            sums[1] + costs.prompt_tokens + probes.prompt_tokens,
            sums[2] + costs.completion_tokens + probes.completion_tokens,
        ]
    return sums[0] / len(tasks), sums[1] / len(tasks), sums[2] / len(tasks)


class Counting:
    """A model, and what it was asked."""

    def __init__(self, model: Model) -> None:
        self.model, self.name = model, model.name
        self.requests = self.prompt_tokens = self.completion_tokens = 0

    def answer(self, request: Request) -> Answer:
        answer = self.model.answer(request)
        self.requests += 1
        self.prompt_tokens += answer.prompt_tokens or 0
        self.completion_tokens += answer.completion_tokens or 0
        return answer
