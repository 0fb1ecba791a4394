"""Reading searches back, one at a time: memory does not grow with their number. Every row is held against its seal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import count, groupby
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, func, select
from sqlalchemy.exc import DatabaseError

from paccf.record import rows, schema, texts
from paccf.record.errors import Damaged, Missing, Skip, StoreError
from paccf.record.values import Frontier, Key, Label, Outcome, Search
from paccf.record.writing import Labels, Value, recorded, shown

WHERE = ("phase", "domain", "controller", "arm", "budget", "task", "seed")

_TRACE = schema.traces.c
_KEY = (_TRACE.phase, _TRACE.domain, _TRACE.controller, _TRACE.arm, _TRACE.budget, _TRACE.task, _TRACE.seed)


def selected(statement: Select[Any], run: int, where: dict[str, Any]) -> Select[Any]:
    """``statement`` over traces and outcomes, of one run, filtered and ordered."""
    statement = statement.where(_TRACE.run == run)
    for name, value in where.items():
        if name not in WHERE:
            raise TypeError(f"searches are chosen by {', '.join(WHERE)}, not by {name}")
        column = schema.outcomes.c.budget if name == "budget" else _TRACE[name]
        if isinstance(value, str | int):
            statement = statement.where(column == value)
        else:
            statement = statement.where(column.in_(list(value)))
    order = (_TRACE.phase, _TRACE.domain, _TRACE.controller, _TRACE.task, _TRACE.seed, _TRACE.arm)
    return statement.order_by(*order, schema.outcomes.c.budget.desc())


def read_outcomes(connection: Connection, run: int, where: dict[str, Any], skip: Skip | None) -> Iterator[Outcome]:
    for _, _, outcome in _outcomes(connection, run, where, skip):
        yield outcome


def _outcomes(
    connection: Connection, run: int, where: dict[str, Any], skip: Skip | None
) -> Iterator[tuple[int, Key, Outcome]]:
    """(trace, its key with the largest budget, outcome), checked. With ``skip``, a trace at a time, so that what
    cannot be read costs nothing but itself."""
    if skip is None:
        yield from _matching(connection, selected(_joined(), run, where), run, None)
        return
    unread: list[Damaged] = []  # since the last one that could be read
    told: list[StoreError] = []

    def tell(error: StoreError) -> None:
        told.append(error)
        skip(error)

    ids = _ids(connection, run, where, tell)
    listed = not told
    for trace in ids:
        told.clear()
        try:
            found = list(_matching(connection, selected(_joined().where(_TRACE.id == trace), run, where), run, tell))
            if listed and not found and not told:
                tell(Damaged(f"search {trace} is in the list of the run, and not in it"))
        except _UNREADABLE as error:
            unread.append(Damaged(f"search {trace} cannot be read: {_cause(error)}"))
            found = []
        if found:
            for one in unread:
                skip(one)
            unread = []
            yield from found
        elif len(unread) >= MISSES:
            break
    if unread:
        skip(Damaged(f"{unread[0]}; nor can those after it, if there were any"))


MISSES = 20_000  # ours: searches in a row that cannot be read, after which no other is looked for
_UNREADABLE = (DatabaseError, UnicodeDecodeError, json.JSONDecodeError, msgspec.DecodeError)


def _cause(error: BaseException) -> str:
    return str(error.orig if isinstance(error, DatabaseError) else error)


def _joined() -> Select[Any]:
    keys = [column.label(f"key_{column.name}") for column in _KEY]
    return select(_TRACE.id.label("trace_id"), *keys, schema.outcomes).join_from(schema.traces, schema.outcomes)


def _ids(connection: Connection, run: int, where: dict[str, Any], skip: Skip) -> Iterable[int]:
    """The traces that are asked for, in their order; where that cannot be read, all that there may be."""
    try:
        chosen = selected(select(_TRACE.id).join_from(schema.traces, schema.outcomes), run, where)
        return dict.fromkeys(connection.execute(chosen).scalars())
    except _UNREADABLE as error:
        skip(Damaged(f"the list of searches cannot be read ({_cause(error)}); each is looked for"))
    try:
        return range(1, 1 + (connection.execute(select(func.max(_TRACE.id))).scalar() or 0))
    except _UNREADABLE:
        return count(1)


def _matching(
    connection: Connection, statement: Select[Any], run: int, skip: Skip | None
) -> Iterator[tuple[int, Key, Outcome]]:
    bills = _Bills(connection, run)
    for row in connection.execution_options(yield_per=500).execute(statement).mappings():
        key = Key(*[row[f"key_{column.name}"] for column in _KEY])
        bill = bills.of(row["trace_id"], row["budget"])
        if rows.outcome_seal(key, row, bill) != row["seal"]:
            report(skip, Damaged(f"the outcome of {shown(key)} at {row['budget']} is not what was written"))
            continue
        yield row["trace_id"], key, rows.outcome_of(key, row, bill)


class _Bills:
    """Requests by kind; those of one controller's task are read together."""

    def __init__(self, connection: Connection, run: int) -> None:
        b = schema.bills.c
        self._connection = connection
        self._statement = select(b.budget, b.kind, b.requests)
        self._trace: int | None = None
        self._found: dict[int, dict[str, int]] = {}

    def of(self, trace: int, budget: int) -> dict[str, int]:
        if trace != self._trace:
            self._trace, self._found = trace, {}
            for at, kind, count in self._connection.execute(self._statement.where(schema.bills.c.trace == trace)):
                self._found.setdefault(at, {})[kind] = count
        return self._found.get(budget, {})


def _lost(key: Key, error: BaseException) -> StoreError:
    return error if isinstance(error, StoreError) else Damaged(f"{shown(key)} cannot be read: {_cause(error)}")


def read_searches(
    connection: Connection, run: int, where: dict[str, Any], mode: str | None, skip: Skip | None
) -> Iterator[Search]:
    at: int | None = None
    whole: Search | None = None
    for trace, key, outcome in _outcomes(connection, run, where, skip):
        if trace != at:
            at = trace
            try:
                whole = read_trace(connection, trace, key, outcome, mode)
            except (StoreError, *_UNREADABLE) as error:
                whole = None
                if skip is None:
                    raise
                skip(_lost(key, error))
        if whole is None:
            continue
        if outcome.key.budget == key.budget:
            yield Search(outcome, whole.frontiers, whole.nodes, whole.effects, whole.asked)
        else:
            yield Search(outcome, whole.frontiers[: outcome.frontiers])


def read_whole(connection: Connection, run: int, where: dict[str, Any], skip: Skip | None) -> Iterator[list[Value]]:
    """A list a trace: the search at its largest budget, the outcomes of the smaller ones, the labels in all modes. If
    that outcome is damaged and skipped, the largest one that can be read stands for it, with the frontiers it saw."""
    for (trace, key), group in groupby(_outcomes(connection, run, where, skip), key=lambda found: found[:2]):
        outcomes = [outcome for _, _, outcome in group]
        first = outcomes[0]
        try:
            whole = read_trace(connection, trace, key, first, None)
            labels = [Labels(first.key, mode, found) for mode, found in read_all_labels(connection, trace, key)]
        except (StoreError, *_UNREADABLE) as error:
            if skip is None:
                raise
            skip(_lost(key, error))
            continue
        if first.key.budget != key.budget:
            whole = Search(first, whole.frontiers[: first.frontiers])
            labels = [Labels(k, mode, found[: first.frontiers]) for k, mode, found in labels]
        yield [whole, *outcomes[1:], *labels]


def read_trace(connection: Connection, trace: int, key: Key, outcome: Outcome, mode: str | None) -> Search:
    """A whole search. Raises `Damaged` if it is not what was written."""
    head = connection.execute(select(_TRACE.seal, _TRACE.effects, _TRACE.asked).where(_TRACE.id == trace)).one()
    tables = [recorded(connection, table, trace) for table in (schema.frontiers, schema.candidates, schema.nodes)]
    if rows.trace_seal(key, (head.effects, head.asked), *tables) != head.seal:
        raise Damaged(f"the trace of {shown(key)} is not what was written")
    labels = None if mode is None else read_labels(connection, trace, mode, key)
    candidates = [rows.candidate_of(row[2:]) for row in tables[1]]
    frontiers: list[Frontier] = []
    start = 0
    for place, path, channel, spent, size in tables[0]:
        protected = None if labels is None else labels[place]
        frontiers.append(
            Frontier(rows.path_of(path), channel, tuple(candidates[start : start + size]), spent, protected)
        )
        start += size
    effects = () if head.effects is None else tuple(texts.get(connection, [head.effects])[head.effects].split("\n"))
    return Search(outcome, tuple(frontiers), tuple(rows.nodes_of(tables[2])), effects, rows.asked_of(head.asked))


def read_labels(connection: Connection, trace: int, mode: str, key: Key) -> list[tuple[Label, ...]] | None:
    """The labels of a trace in ``mode``, or `None` if there are none."""
    table = schema.labels.c
    row = connection.execute(
        select(table.protected, table.seal).where(table.trace == trace, table.mode == mode)
    ).first()
    if row is None:
        return None
    if rows.labels_seal(key, mode, row.protected) != row.seal:
        raise Damaged(f"the {mode} labels of {shown(key)} are not what was written")
    return rows.labels_of(row.protected)


def read_all_labels(connection: Connection, trace: int, key: Key) -> list[tuple[str, list[tuple[Label, ...]]]]:
    """The labels of a trace by mode."""
    table = schema.labels.c
    modes = connection.execute(select(table.mode).where(table.trace == trace).order_by(table.mode)).scalars().all()
    return [(mode, read_labels(connection, trace, mode, key) or []) for mode in modes]


def run_id(connection: Connection, name: str) -> int:
    """Raises `Missing` with the runs that there are."""
    r = schema.runs.c
    found = connection.execute(select(r.id).where(r.name == name)).scalar()
    if found is None:
        there = list(connection.execute(select(r.name).order_by(r.id).limit(5)).scalars())
        known = f"there are: {', '.join(there)}" if there else "there is none"
        raise Missing(f"there is no run {name!r}; {known}")
    return int(found)


def report(skip: Skip | None, error: StoreError) -> None:
    """Raise ``error``, or hand it to ``skip``."""
    if skip is None:
        raise error
    skip(error)
