"""One job: a task of a cell, in all of its arms, at all of its budgets. Sans-IO: a generator of searches.

What one job asks a model is asked once: its arms and budgets share a tape, so that all differences between the arms
come from `Admit`, and a smaller budget is a replay that asks nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

from paccf.experiment.design import Cell, Design
from paccf.method.admission import ScoreGap
from paccf.method.scores import exact
from paccf.models.tape import NotOnTape, Tape, Taped
from paccf.record.journal import Journal
from paccf.record.taking import taken
from paccf.record.values import ArmName, Key, Label, Outcome, Phase
from paccf.record.values import Search as Recorded
from paccf.search.driver import Search, run, search
from paccf.search.trace import Arm, Trace
from paccf.search.tree import Task
from paccf.search.world import Answer, Model, ModelFailure, Request

Margin = str | None  # exact, as a certificate has it; `None` keeps everything
Playing = Generator[Search, tuple[Trace, int], "Done"]


@dataclass(frozen=True, slots=True)
class Job:
    """``budgets`` in rising order. ``margin`` is used by the arms that have one."""

    phase: Phase
    cell: Cell
    task: Task
    arms: tuple[ArmName, ...]
    budgets: tuple[int, ...]
    margin: Margin = None

    def key(self, arm: str, budget: int, seed: int) -> Key:
        return Key(self.phase, self.cell.domain, self.cell.controller, arm, budget, self.task.id, seed)


@dataclass(frozen=True, slots=True)
class Done:
    """What a job left: one search an arm at the largest budget, the outcomes of the smaller ones, and once they are
    known the labels of each search, a tuple a frontier. ``probes`` are the requests that labelling took: they are in
    no search's bill."""

    job: Job
    searches: tuple[Recorded, ...]
    outcomes: tuple[Outcome, ...]
    labels: tuple[tuple[tuple[Label, ...], ...], ...] = ()
    probes: int = 0


def playing(job: Job, design: Design, known: Tape, key: Callable[[Request], bytes] | None = None) -> Playing:
    """Yield the searches of ``job`` one after the other and be sent their traces, with the requests that went over the
    wire. Whoever drives them enters every answer in ``known``; the smaller budgets are then played from it here.
    With ``key``, which names requests as a durable tape does, the record gets a journal of each search.
    """
    searches, outcomes = [], []
    for arm in job.arms:
        journal = None if key is None else Journal()
        search = begun(job, design, arm, job.budgets[-1], journal)
        largest, sent = yield search if journal is None or key is None else journal.asking(search, key)
        searches.append(recorded(job, design, largest, sent, journal))
        outcomes += [shorter(job, design, largest, searches[-1], b, known) for b in job.budgets[:-1]]
    return Done(job, tuple(searches), tuple(outcomes))


def begun(job: Job, design: Design, arm: ArmName, budget: int, journal: Journal | None = None) -> Search:
    """The search of one arm at one budget."""
    spec = design.spec
    make = design.controller(job.cell)
    return search(
        job.task,
        design.worlds[job.cell.domain],
        make if journal is None else journal.over(make),
        arm=Arm(arm, None if arm == "native" else gap(job.margin, spec.certificate.epsilon)),
        scoring=spec.scoring,
        budget=budget,
        seed=spec.seed,
    )


def gap(margin: Margin, epsilon: int | float | str = 0) -> ScoreGap:
    """The rule of a frozen margin."""
    return ScoreGap(math.inf if margin is None else exact(margin), epsilon)


def recorded(job: Job, design: Design, trace: Trace, sent: int = 0, journal: Journal | None = None) -> Recorded:
    """``trace`` as the record keeps it."""
    key = job.key(trace.arm.name, trace.budget, trace.seed)
    lines, asked = ((), ()) if journal is None else (journal.lines, journal.asked)
    return taken(trace, key, design.worlds[job.cell.domain], sent=sent, effects=lines, asked=asked)


def shorter(job: Job, design: Design, largest: Trace, whole: Recorded, budget: int, known: Tape) -> Outcome:
    """The outcome at a smaller ``budget``. A search that used no more than that is the same search; any other one is
    played again from its own answers, with no request; where a journal was kept, it has to do the same."""
    key = job.key(largest.arm.name, budget, largest.seed)
    if largest.bill.total <= budget:
        return replace(whole.outcome, key=key, costs=replace(whole.outcome.costs, sent=0))
    journal = Journal(whole.effects) if whole.effects else None
    again = run(begun(job, design, largest.arm.name, budget, journal), _Known(known, largest.failure))
    return recorded(job, design, again).outcome


class _Known:
    """A tape as a model. Of a search that failed, what is not on it is that failure."""

    name = "tape"

    def __init__(self, tape: Tape, failure: str) -> None:
        self.taped, self.failure = Taped(tape), failure

    def answer(self, request: Request) -> Answer:
        try:
            return self.taped.answer(request)
        except NotOnTape:
            if self.failure:
                raise ModelFailure(self.failure) from None
            raise


def play(job: Job, design: Design, model: Model, tape: Tape | None = None) -> Done:
    """The whole job with a synchronous model, the simulated one; ``tape`` is where its answers are left."""
    known = Tape() if tape is None else tape
    steps = playing(job, design, known)
    try:
        current = next(steps)
        while True:
            current = steps.send((run(current, Taped(known, model)), 0))
    except StopIteration as stop:
        done = stop.value
        assert isinstance(done, Done)
        return done
