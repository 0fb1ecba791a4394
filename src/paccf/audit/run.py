"""What an audit reads: a run as plain values, wherever it was recorded.

A run comes from a store, from frontier logs alone (then most audits are `Unsupported`, each saying why), or from
values in memory. Traces are handed out a cell at a time, so that a run of any length is audited in the memory of one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Protocol

from paccf.method.certificate import Certificate
from paccf.record.frontier_log import Frontier as Line
from paccf.record.frontier_log import Skipped, caveats, read_frontiers
from paccf.record.values import Candidate, Costs, Exclusion, Frontier, Key, Outcome, RunInfo, Search

Cell = tuple[str, str]  # domain, controller

# given the key of a search: its requests by kind and its tokens as counted again from the tape; `None` if the tape
# cannot say
Recount = Callable[[Key], Costs | None]
# given a search and a frontier of c candidates: for every draw, the microbatches as candidates in the order asked
Asked = Callable[[Key, Sequence[str], int], Sequence[tuple[int, Sequence[int]]]]


class Store(Protocol):
    """What is read of a record database (`paccf.record.store.Store`)."""

    def run(self, name: str) -> RunInfo: ...
    def outcomes(self, run: str) -> Iterator[Outcome]: ...
    def searches(self, run: str, labels: str | None = None, **where: Any) -> Iterator[Search]: ...
    def certificates(self, run: str) -> Mapping[Cell, str]: ...
    def exclusions(self, run: str) -> Sequence[Exclusion]: ...
    def billed(self, run: str, key: Key) -> Costs | None: ...
    def tape(self) -> Any: ...


class Traces(Protocol):
    """Gives the searches of one domain and controller, each once, at its largest budget, with its labels; of all tasks,
    or of ``tasks``."""

    def __call__(self, domain: str, controller: str, tasks: Collection[str] | None = None) -> Iterable[Search]: ...


class Elsewhere(Protocol):
    """Opens the same record in another process, of which these outcomes are known already. It can be pickled."""

    def __call__(self, outcomes: tuple[Outcome, ...]) -> AbstractContextManager[Run]: ...


class Unsupported(Exception):
    """This record does not carry what the audit needs; the message says what is missing."""


@dataclass(frozen=True)
class Run:
    """A run to audit. ``outcomes`` has one entry a search and budget."""

    info: RunInfo
    outcomes: tuple[Outcome, ...]
    traces: Traces
    certificates: Mapping[Cell, Certificate] = field(default_factory=dict)
    exclusions: Sequence[Exclusion] = ()
    labels: str = "unstated"  # how the labels were found
    where: str = "values in memory"  # what "where this comes from" calls the record
    trees: bool = True  # whether frontiers know their paths; those of a frontier log do not
    logged: tuple[Cell, ...] = ()  # cells of which there are traces without outcomes
    recount: Recount | None = None
    asked: Asked | None = None
    elsewhere: Elsewhere | None = None

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every (domain, controller) there is anything of."""
        found = {(o.key.domain, o.key.controller) for o in self.outcomes}
        return tuple(sorted({*found, *self.certificates, *self.logged}))


def of_searches(
    info: RunInfo,
    searches: Iterable[Search],
    outcomes: Iterable[Outcome] = (),
    certificates: Mapping[Cell, Certificate] | None = None,
    exclusions: Sequence[Exclusion] = (),
    labels: str = "unstated",
) -> Run:
    """A run by hand: searches at their largest budgets, and ``outcomes`` of smaller budgets that share their traces."""
    whole = sorted(searches, key=lambda s: s.outcome.key)
    every = [*(s.outcome for s in whole), *outcomes]
    if len({o.key for o in every}) < len(every):
        raise ValueError("a search stands twice at one budget")

    def traces(domain: str, controller: str, tasks: Collection[str] | None = None) -> Iterator[Search]:
        mine = (s for s in whole if (s.outcome.key.domain, s.outcome.key.controller) == (domain, controller))
        return (s for s in mine if tasks is None or s.outcome.key.task in tasks)

    ordered = tuple(sorted(every, key=lambda o: o.key))
    return Run(info, ordered, traces, dict(certificates or {}), tuple(exclusions), labels)


def of_store(store: Store, name: str, where: str = "", known: Iterable[Outcome] | None = None) -> Run:
    """The run ``name`` of a store that stays open while the audit reads. Outcomes that are ``known`` are not read."""
    certificates = {cell: Certificate.parse(text.encode()) for cell, text in store.certificates(name).items()}
    stated = {c.labels for c in certificates.values()} - {"unstated"}
    mode = min(stated) if stated else "oracle"

    outcomes = tuple(sorted(store.outcomes(name) if known is None else known, key=lambda o: o.key))

    def traces(domain: str, controller: str, tasks: Collection[str] | None = None) -> Iterator[Search]:
        only = {} if tasks is None else {"task": sorted(tasks)}
        largest: dict[str, set[int]] = {}  # budgets at which there are whole traces, by phase
        for (phase, *_), same in groupby(
            sorted(_of(outcomes, domain, controller), key=_without_budget), key=_without_budget
        ):
            largest.setdefault(phase, set()).add(max(key.budget for key in same))
        for phase, budgets in sorted(largest.items()):
            where = {"phase": phase, "domain": domain, "controller": controller, "budget": sorted(budgets), **only}
            found = store.searches(name, mode, **where)
            for _, same_search in groupby(found, key=lambda s: _without_budget(s.outcome.key)):
                yield max(same_search, key=lambda s: s.outcome.key.budget)

    return Run(
        store.run(name),
        outcomes,
        traces,
        certificates,
        tuple(store.exclusions(name)),
        mode,
        where or f"run {name}",
        recount=(lambda key: store.billed(name, key)) if store.tape().answers else None,
    )


def _of(outcomes: Iterable[Outcome], domain: str, controller: str) -> list[Key]:
    return [o.key for o in outcomes if (o.key.domain, o.key.controller) == (domain, controller)]


def _without_budget(k: Key) -> tuple[str, str, str, str, str, int]:
    return k.phase, k.domain, k.controller, k.arm, k.task, k.seed


def of_logs(
    logs: Sequence[str],
    certificates: Sequence[Certificate],
    calibration: Sequence[str] = (),
    skipped: Skipped | None = None,
) -> Run:
    """A foreign run, of which there are frontier logs and certificates only.

    A frontier belongs to the domain and controller that its ``meta`` names, else to those of the single certificate.
    Raises OSError and `BadLine` as `read_frontiers` does, and ValueError where it is not clear which certificate is
    meant.
    """
    by_cell = {_matched(c): c for c in certificates}
    if len(by_cell) < len(certificates):
        raise ValueError("two certificates are matched to the same domain and controller; give one of each")
    only = None if len(by_cell) > 1 else next(iter(by_cell), ("-", "-"))
    found: dict[Cell, dict[tuple[str, str], list[Frontier]]] = {}
    said: dict[str, None] = {}
    for phase, paths in (("calibration", calibration), ("test", logs)):
        seen: set[int] = set()
        for path in paths:
            for line in read_frontiers(path, skipped, seen):
                said |= dict.fromkeys(caveats(line))
                cell = _named(line, only, path)
                tasks = found.setdefault(cell, {}).setdefault((phase, line.task), [])
                if line.scores:
                    tasks.append(_frontier(line))

    def traces(domain: str, controller: str, tasks: Collection[str] | None = None) -> Iterator[Search]:
        for (phase, task), frontiers in sorted(found.get((domain, controller), {}).items()):
            if tasks is not None and task not in tasks:
                continue
            key = Key(phase, domain, controller, "native", 0, task, 0)
            yield Search(Outcome(key, "finished", False, 0.0, None, "", Costs(), len(frontiers)), frontiers)

    info = RunInfo(", ".join(logs), "{}", "unstated", False, {}, caveats=tuple(said))
    labels = {c.labels for c in certificates}
    mode = labels.pop() if len(labels) == 1 else "unstated"
    where = f"frontier log {', '.join((*calibration, *logs))}"
    cells = {cell: by_cell[cell] for cell in by_cell}
    return Run(info, (), traces, cells, (), mode, where, trees=False, logged=tuple(sorted(found)))


def _matched(certificate: Certificate) -> Cell:
    return certificate.matched_to.get("domain", "-"), certificate.matched_to.get("controller", "-")


def _named(line: Line, only: Cell | None, path: str) -> Cell:
    if only is not None:
        return only
    import msgspec

    meta = {name: line.meta[name] for name in ("domain", "controller") if line.meta and name in line.meta}
    try:
        return msgspec.json.decode(meta["domain"], type=str), msgspec.json.decode(meta["controller"], type=str)
    except (KeyError, msgspec.DecodeError):
        raise ValueError(
            f"{path}: frontier {line.frontier!r} of task {line.task!r} does not say in meta which domain and "
            "controller it is of, and there is more than one certificate; audit one certificate's log at a time"
        ) from None


def _frontier(line: Line) -> Frontier:
    keys = line.candidates or [str(i) for i in range(len(line.scores))]
    eligible = line.eligible or [True] * len(keys)
    candidates = []
    for key, score, fit in zip(keys, line.scores, eligible, strict=True):
        draws = tuple(float(y) for y in score) if isinstance(score, list) else None
        mean = sum(draws) / len(draws) if draws else (None if isinstance(score, list) else score)
        candidates.append(Candidate(key, "", draws, mean, fit, fit, None, fit))
    return Frontier((line.frontier,), line.group or "", tuple(candidates), 0, tuple(line.protected))
