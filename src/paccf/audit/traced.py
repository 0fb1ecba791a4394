"""One pass over the traces of a domain and controller: everything an audit wants from them, as small values.

Native test traces give coverage, the threshold diagnostic and the evaluator's quality; Native and PAC-CF traces of one
task give the gross views; PAC-CF traces give survival; calibration traces give the deficits a certificate is held
against. And every search is checked for contradictions with itself, see `consistency`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import TYPE_CHECKING

import msgspec

from paccf.audit import consistency
from paccf.audit.coverage import Coverage
from paccf.audit.evaluator import Evaluator
from paccf.audit.pairs import Pairs
from paccf.audit.run import Elsewhere, Run
from paccf.audit.views import Gross, gross
from paccf.method.admission import ScoreGap
from paccf.method.deficit import TaskDeficits, shared_labels
from paccf.record.frontier_log import Frontier as Line
from paccf.record.values import Candidate, Frontier, Outcome, Search

if TYPE_CHECKING:
    from paccf.method.scores import Score

_LINE = msgspec.json.Decoder(Line)


@dataclass(slots=True)
class Survival:
    """Adaptive-trajectory oracle diagnostic of one controller at one budget, by task. Post-intervention, so no
    proposition covers it: an inspected protected frontier is lost if it retains none of its protected candidates."""

    exposed: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)
    unresolved: set[str] = field(default_factory=set)  # an open label stands at a frontier that has no true one
    tasks: set[str] = field(default_factory=set)

    @property
    def survived(self) -> int:
        """Exposed tasks that lost nothing for certain."""
        return len(self.exposed - self.lost)

    def add(self, task: str, frontiers: Sequence[Frontier]) -> None:
        self.tasks.add(task)
        for frontier in frontiers:
            if frontier.protected is None:
                continue
            keys = [c.key for c in frontier.candidates]
            labels = shared_labels(frontier.protected, keys)
            fit = [(c, label) for c, label in zip(frontier.candidates, labels, strict=True) if c.eligible]
            if any(label for _, label in fit):
                self.exposed.add(task)
                if not any(label and c.kept for c, label in fit):
                    self.lost.add(task)
            elif any(label is None for _, label in fit):
                self.unresolved.add(task)


@dataclass(slots=True)
class Traced:
    """What the traces of one (domain, controller) show."""

    coverage: Coverage | None  # of the test tasks at ``coverage_budget``; `None` without a certificate or labels
    coverage_budget: int | None
    calibration: TaskDeficits  # recomputed from the calibration traces
    deficits: TaskDeficits  # of the Native test traces
    evaluator: Evaluator
    survival: dict[int, Survival]
    gross: dict[tuple[int, str], Gross]  # (budget, task)
    contradictions: list[str]
    searches: int = 0
    frontiers: int = 0
    candidates: int = 0
    labelled: int = 0  # Native test frontiers with labels
    checked: int = 0  # decisions of the margin that were taken again
    rule: ScoreGap | None = None  # the certificate's
    logged: Coverage | None = None  # the same coverage, after a round trip through the lines of a frontier log
    lost: set[str] = field(default_factory=set)  # Native test tasks where the rule itself retains nothing protected
    open: set[str] = field(default_factory=set)  # and those that an open label leaves undecided


def scores_of(frontier: Frontier) -> list[Score]:
    """The observations of every candidate, or its bare mean where no observations were recorded."""
    return [c.score if c.observations is None else c.observations for c in frontier.candidates]


def feed(task: str, frontier: Frontier, *accumulators: Coverage | TaskDeficits) -> None:
    """Give one labelled frontier to accumulators."""
    assert frontier.protected is not None
    found: tuple[Candidate, ...] = frontier.candidates
    eligible = None if all(c.eligible for c in found) else [c.eligible for c in found]
    scores: list[Score] = [list(s) if isinstance(s, tuple) else s for s in scores_of(frontier)]
    keys = [c.key for c in found]
    for into in accumulators:
        into.add(task, scores, frontier.protected, eligible, None if len(set(keys)) == len(keys) else keys)


def traced(run: Run, domain: str, controller: str, pairs: Pairs | None) -> Traced:
    """The pass over one cell, in the memory of that cell's traces. Without ``pairs`` every task takes part whose
    search ended and that nothing excluded."""
    certificate = run.certificates.get((domain, controller))
    own = [o for o in run.outcomes if (o.key.domain, o.key.controller) == (domain, controller)]
    budgets = pairs.budgets if pairs is not None else sorted({o.key.budget for o in own if o.key.phase == "test"})
    excluded = {e.task for e in run.exclusions if e.domain == domain}
    at = _coverage_budget(budgets, certificate.budget if certificate is not None else None)
    repeats = 1 if certificate is None else certificate.observations or 1
    promised = at is not None or not budgets
    found = Traced(
        Coverage(certificate, promised=promised) if certificate is not None else None,
        at,
        TaskDeficits(repeats),
        TaskDeficits(repeats),
        Evaluator(),
        {b: Survival() for b in budgets},
        {},
        [],
    )
    if certificate is not None:
        found.logged = Coverage(certificate, promised=promised)
        found.rule = ScoreGap(certificate.limit, certificate.epsilon, certificate.observations or 1)
    outcomes: dict[tuple[str, str, str], list[Outcome]] = {}
    for o in own:
        outcomes.setdefault((o.key.phase, o.key.arm, o.key.task), []).append(o)
    waiting: dict[tuple[str, str], Search] = {}
    native = _native_arm(outcomes)
    for search in run.traces(domain, controller):
        key = search.outcome.key
        found.searches += 1
        found.frontiers += len(search.frontiers)
        found.candidates += sum(len(f.candidates) for f in search.frontiers)
        budgeted = outcomes.get((key.phase, key.arm, key.task), [search.outcome])
        if run.trees:
            problems, taken = consistency.of_search(search, budgeted, certificate)
            found.contradictions += problems
            found.checked += taken
        if key.phase == "calibration":
            _calibrate(found, search)
        elif key.phase == "test" and (
            key.task in pairs.tasks if pairs is not None else key.task not in excluded and _ended(budgeted)
        ):
            if key.arm == native:
                _native(found, run, search, budgeted)
            elif key.arm == "paccf":
                for o in budgeted:
                    if o.key.budget in found.survival:
                        found.survival[o.key.budget].add(key.task, search.frontiers[: o.frontiers])
            if pairs is not None and run.trees and key.arm in (native, "paccf"):
                other = waiting.pop((key.task, "paccf" if key.arm == native else native), None)
                if other is None:
                    waiting[key.task, key.arm] = search
                else:
                    both = (search, other) if key.arm == native else (other, search)
                    _gross(found, pairs, controller, *both)
    if found.coverage is not None and not found.labelled:
        found.coverage = None
    return found


def traced_elsewhere(
    run: Run, opened: Elsewhere, cells: Sequence[tuple[str, str]], paired: Mapping[str, Pairs], processes: int
) -> dict[tuple[str, str], Traced]:
    """The pass over every cell, in processes of their own; what is found does not depend on how many."""
    own: dict[tuple[str, str], list[Outcome]] = {}
    for o in run.outcomes:
        own.setdefault((o.key.domain, o.key.controller), []).append(o)
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        waiting = [
            pool.submit(_elsewhere, opened, cell, tuple(own.get(cell, ())), paired.get(cell[0])) for cell in cells
        ]
        return {cell: one.result() for cell, one in zip(cells, waiting, strict=True)}


def _elsewhere(opened: Elsewhere, cell: tuple[str, str], outcomes: tuple[Outcome, ...], pairs: Pairs | None) -> Traced:
    with opened(outcomes) as run:
        return traced(run, *cell, pairs)


def _ended(budgeted: Sequence[Outcome]) -> bool:
    """Whether the search came to its end at every budget."""
    return all(o.end != "failure" for o in budgeted)


def _native_arm(outcomes: Mapping[tuple[str, str, str], object]) -> str:
    arms = {arm for phase, arm, _ in outcomes if phase == "test"}
    return "shadow" if "native" not in arms and "shadow" in arms else "native"


def _coverage_budget(budgets: Sequence[int], calibrated: int | None) -> int | None:
    """The largest test budget that the margin was calibrated for; deficits only grow with the budget."""
    fit = [b for b in budgets if calibrated is None or b <= calibrated]
    return max(fit, default=None)


def _calibrate(found: Traced, search: Search) -> None:
    task = search.outcome.key.task
    if not search.frontiers:
        found.calibration.add(task, [], [])
    for frontier in search.frontiers:
        if frontier.protected is not None:
            feed(task, frontier, found.calibration)


def _native(found: Traced, run: Run, search: Search, budgeted: Sequence[Outcome]) -> None:
    task = search.outcome.key.task
    at = {o.key.budget: o.frontiers for o in budgeted}
    inside = len(search.frontiers)
    if found.coverage_budget is not None:
        inside = at.get(found.coverage_budget, inside)
    if not search.frontiers:
        for into in (found.deficits, found.coverage, found.logged):
            if into is not None:
                into.add(task, [], [])
    for place, frontier in enumerate(search.frontiers):
        asked = None
        if run.asked is not None and frontier.candidates:
            asked = run.asked(search.outcome.key, frontier.path, len(frontier.candidates))
        found.evaluator.add(task, frontier, asked)
        if frontier.protected is not None:
            found.labelled += 1
            if found.coverage is None or place >= inside:
                feed(task, frontier, found.deficits)
            else:
                feed(task, frontier, found.deficits, found.coverage)
                _again(found, task, place, frontier)


def _again(found: Traced, task: str, place: int, frontier: Frontier) -> None:
    """Coverage by two other ways: through the frontier log, and by asking the rule what it would retain."""
    rule = found.rule
    assert found.logged is not None
    assert rule is not None
    assert frontier.protected is not None
    if True not in frontier.protected and None not in frontier.protected:
        found.logged.add(task, [], [])  # decides nothing, by whatever way
        return
    line = _LINE.decode(_log_line(task, place, frontier))
    found.logged.add(line.task, line.scores, line.protected, line.eligible, line.candidates)
    labels = shared_labels(frontier.protected, [c.key for c in frontier.candidates])
    eligible = [c.eligible for c in frontier.candidates]
    if any(label and fit for label, fit in zip(labels, eligible, strict=True)):
        if not any(labels[i] for i in rule.keep(scores_of(frontier), eligible)):
            found.lost.add(task)
    elif not math.isinf(rule.reach) and any(label is None and fit for label, fit in zip(labels, eligible, strict=True)):
        found.open.add(task)


def _log_line(task: str, place: int, frontier: Frontier) -> bytes:
    """A frontier as a line of the frontier log."""
    return msgspec.json.encode(
        {
            "task": task,
            "frontier": str(place),
            "scores": scores_of(frontier),
            "protected": frontier.protected,
            "candidates": [c.key for c in frontier.candidates],
            "eligible": [c.eligible for c in frontier.candidates],
        }
    )


def _gross(found: Traced, pairs: Pairs, controller: str, native: Search, paccf: Search) -> None:
    """The gross views of one pair at every budget; budgets that reach equally far are counted once."""
    task = native.outcome.key.task
    done: dict[tuple[int, int], Gross] = {}
    for budget in pairs.budgets:
        reach = (
            pairs.outcomes["native", budget, controller, task].frontiers,
            pairs.outcomes["paccf", budget, controller, task].frontiers,
        )
        if reach not in done:
            done[reach] = gross(native.frontiers[: reach[0]], paccf.frontiers[: reach[1]])
        found.gross[budget, task] = done[reach]
