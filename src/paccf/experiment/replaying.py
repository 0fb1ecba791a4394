"""A what-if on the tape: the test tasks at another budget or under another margin, from recorded answers alone.

A replay goes as far as the tape does. Native at a budget that was run, or at a smaller one, is always on it. Another
margin keeps other candidates, so its search may ask what nobody asked: there the replay of that task ends, and says
which requests are missing. The simulated model computes what a tape of it would hold, so there nothing is missing.
Where the run itself searched under the same rule, the replay has to do what is recorded, effect by effect.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from paccf.audit.audit import Audit
from paccf.audit.cells import Cell as Figures
from paccf.audit.names import REALIZED
from paccf.audit.run import Run, Unsupported
from paccf.experiment.design import Cell, Design
from paccf.experiment.folder import Folder
from paccf.experiment.processes import design_of, model_of
from paccf.experiment.schedule import fair
from paccf.experiment.work import Job, Margin, begun, recorded
from paccf.method.conformal import margin as margin_of
from paccf.method.scores import exact, plain
from paccf.models.opening import parameters
from paccf.models.tape import DurableTape, NotOnTape, Taped
from paccf.record.journal import Diverged, Journal
from paccf.record.values import ArmName, Outcome, RunInfo, Search
from paccf.record.writing import shown
from paccf.search.driver import Search as Requests
from paccf.search.trace import Trace
from paccf.search.world import Model, Request

ARMS = ("native", "paccf")


@dataclass(frozen=True, slots=True)
class Lacking:
    """Where a replay ended: the requests that the tape has no answer to, after ``spent`` that it has. What would have
    been asked after them nobody can know."""

    spent: int
    requests: tuple[tuple[str, int, str], ...]  # kind, draw, prompt


@dataclass(frozen=True, slots=True)
class Replayed:
    """A task of a cell at the budget of its job; an entry an arm, Native first."""

    job: Job
    arms: tuple[Outcome | Lacking, ...]

    @property
    def outcomes(self) -> tuple[Outcome, ...] | None:
        """Of both arms, if the tape could answer both."""
        found = tuple(arm for arm in self.arms if isinstance(arm, Outcome))
        return found if len(found) == len(self.arms) else None

    @property
    def lacking(self) -> tuple[tuple[str, int, str], ...]:
        return tuple(request for arm in self.arms if isinstance(arm, Lacking) for request in arm.requests)


class Mapper(Protocol):
    """Who computes; see `processes.Processes`."""

    def compute(self, function: Callable[[Any], Any], work: Sequence[Any]) -> AsyncIterator[Any]: ...


def jobs(folder: Folder, budget: int, margins: Mapping[Cell, Margin]) -> list[Job]:
    """Every test task that is recorded and not excluded, of the cells that have one of ``margins``."""
    out = {(e.domain, e.task) for e in folder.store.exclusions(folder.run)}
    there = {
        (Cell(o.key.domain, o.key.controller), o.key.task) for o in folder.store.outcomes(folder.run, phase="test")
    }
    groups = []
    for cell, margin in margins.items():
        tasks = [
            t for t in folder.design.tests[cell.domain] if (cell, t.id) in there and (cell.domain, t.id) not in out
        ]
        groups.append([Job("test", cell, task, ARMS, (budget,), margin) for task in tasks])  # type: ignore[arg-type]
    return fair(groups)


def refrozen(folder: Folder, q: str) -> dict[Cell, Margin]:
    """The margins that the calibration searches give at another coverage ``q``. Raises ValueError."""
    found: dict[Cell, Margin] = {}
    for cell, c in folder.certificates().items():
        deficits = [float("inf") if text == "inf" else exact(text) for _, text in c.deficits]
        value = margin_of(deficits, q, c.delta).value
        found[cell] = None if value == float("inf") else plain(exact(value))
    return found


async def replays(folder: Folder, work: Sequence[Job], spec: str, mapper: Mapper) -> AsyncIterator[Replayed]:
    """Each job replayed, in any order. What the run did under the same rule is held against it, effect by effect:
    raises `Diverged`, which names both."""
    taped = not folder.design.spec.model.simulated or folder.store.tape().answers > 0
    place = str(folder.path.resolve())
    frozen = {cell: c.margin_exact for cell, c in folder.certificates().items()}
    due = [(spec, place, taped, job, frozen.get(job.cell, "none") == job.margin) for job in work]
    async for done in mapper.compute(_replay, due):
        yield done


def offline(search: Requests, model: Model) -> Trace | Lacking:
    """Drive ``search`` with a model that raises `NotOnTape`, up to the first batch that is not all there."""
    spent = 0
    try:
        batch = next(search)
        while True:
            answers, lacking = [], []
            for request in batch:
                try:
                    answers.append(model.answer(request))
                except NotOnTape:
                    lacking.append(request)
            if lacking:
                search.close()
                return Lacking(spent + len(answers), tuple(map(_named, lacking)))
            spent += len(answers)
            batch = search.send(answers)
    except StopIteration as stop:
        trace = stop.value
        assert isinstance(trace, Trace)
        return trace


def _named(request: Request) -> tuple[str, int, str]:
    return request.kind, request.draw, request.prompt


@lru_cache(2)
def _looking(place: str) -> Folder:
    return Folder.look(Path(place))


@lru_cache(16)
def _model(spec: str, place: str, domain: str) -> Model:
    """The tape of the folder at ``place``; without one the simulated model, which is a tape of itself."""
    if not place:
        return model_of(spec, domain)
    design = design_of(spec)
    s = design.spec
    said = parameters(s.model, domain, s.seed, s.domains[domain].settings)
    return Taped(DurableTape(_looking(place).store, design.model, said))


def _replay(given: tuple[str, str, bool, Job, bool]) -> Replayed:
    spec, place, taped, job, same = given
    design, model = design_of(spec), _model(spec, place if taped else "", job.cell.domain)
    arms = []
    for arm in job.arms:
        there = _recorded(_looking(place), job, arm, design) if same or arm == "native" else []
        arms.append(_arm(job, arm, design, model, there))
    return Replayed(job, tuple(arms))


def _recorded(folder: Folder, job: Job, arm: str, design: Design) -> list[Search]:
    """What the run recorded of this search: at its largest budget, and at that of the job."""
    key = asdict(job.key(arm, job.budgets[-1], design.spec.seed))
    del key["budget"]
    found = list(folder.store.searches(folder.run, **key))
    return found[:1] + [search for search in found[1:] if search.outcome.key.budget == job.budgets[-1]]


def _arm(job: Job, arm: ArmName, design: Design, model: Model, there: Sequence[Search]) -> Outcome | Lacking:
    key = job.key(arm, job.budgets[-1], design.spec.seed)
    journal = Journal(there[0].effects, there[0].asked) if there and there[0].effects else None
    steps = begun(job, design, arm, key.budget, journal)
    if journal is not None and isinstance(model, Taped):
        steps = journal.asking(steps, model.key)
    try:
        found = offline(steps, model)
        if isinstance(found, Lacking):
            return found
        search = recorded(job, design, found)
        for before in there:
            compare_prefix(before, search)
    except Diverged as error:
        raise Diverged(f"{shown(key)}: {error}") from None
    return search.outcome


def compare_prefix(recorded: Search, replayed: Search) -> None:
    """Raises `Diverged` where two searches that follow one rule on the same answers differ: their frontiers as far as
    both go, and at one budget all that is known of their end."""
    for place, (old, new) in enumerate(zip(recorded.frontiers, replayed.frontiers, strict=False), 1):
        if replace(old, protected=None) != new:
            raise Diverged(f"frontier {place}: recorded is {old!r:.500}, replayed is {new!r:.500}")
    if recorded.outcome.key.budget == replayed.outcome.key.budget:
        for name in Outcome.__slots__:
            old, new = (_without_sent(s.outcome, name) for s in (recorded, replayed))
            if old != new:
                raise Diverged(f"{name}: recorded is {old!r:.300}, replayed is {new!r:.300}")


def _without_sent(outcome: Outcome, name: str) -> Any:
    """A field of it; what went over the wire is no part of a replay."""
    return replace(outcome.costs, sent=0) if name == "costs" else getattr(outcome, name)


def figures(info: RunInfo, done: Sequence[Replayed]) -> Figures | None:
    """What the margin saved and cost in one cell, over the tasks that the tape could answer in both arms."""
    outcomes = [outcome for one in done for outcome in one.outcomes or ()]
    if not outcomes:
        return None
    (found,) = Audit(_run(info, outcomes)).cells.values()
    return found


def means(info: RunInfo, done: Sequence[Replayed]) -> tuple[int, dict[str, float | None]]:
    """Complete cases (tasks answered in both arms of all controllers), and the macro of each quantity over them."""
    outcomes = [outcome for one in done for outcome in one.outcomes or ()]
    answered = {one.job.cell for one in done if one.outcomes is not None}
    if answered < {one.job.cell for one in done}:
        return 0, {}  # one cell has no figure
    audit = Audit(_run(info, outcomes))
    try:
        cases = sum(len(p.tasks) for p in audit.pairs.values())
        (budget,) = audit.budgets
    except Unsupported:
        return 0, {}
    return cases, {what: audit.macro(what, budget).value for what in ("utility", *REALIZED)}


def _run(info: RunInfo, outcomes: Sequence[Outcome]) -> Run:
    return Run(info, tuple(sorted(outcomes, key=lambda o: o.key)), lambda domain, controller, tasks=None: ())
