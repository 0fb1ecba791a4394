"""What the writer does with searches, outcomes and labels: functions that write many items in one transaction.

What is there already is compared, never overwritten: equal is nothing to do, so that a command can be run again, and
a difference is a `Conflict` that names both.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, Table, bindparam, delete, insert, select, update

from paccf.record import rows, schema, texts
from paccf.record.errors import Conflict, Missing
from paccf.record.values import Exclusion, Key, Label, Outcome, Search

UNCOUNTED = ("sent",)  # what really went over the wire differs between a run and its resumption


class Labels(NamedTuple):
    key: Key
    mode: str
    labels: Sequence[Sequence[Label]]


class CertificateText(NamedTuple):
    domain: str
    controller: str
    text: str


Value = Search | Outcome | Labels | CertificateText | Exclusion
Entry = tuple[int, Sequence[Value]]  # the run's id, and what to write in one transaction


def write_entries(connection: Connection, entries: Sequence[Entry]) -> list[None]:
    """Write all of them, in order."""
    for run, given in entries:
        for value in given:
            _write(connection, run, value)
    return [None] * len(entries)


def _write(connection: Connection, run: int, value: Value) -> None:
    match value:
        case Search():
            write_search(connection, run, value)
        case Outcome():
            write_outcome(connection, run, value)
        case Labels():
            write_labels(connection, run, value)
        case CertificateText(domain, controller, text):
            row = {"run": run, "domain": domain, "controller": controller, "text": text}
            write_once(connection, schema.certificates, row | {"seal": texts.seal(domain, controller, text)})
        case Exclusion(domain, task, reason):
            row = {"run": run, "domain": domain, "task": task, "reason": reason}
            write_once(connection, schema.exclusions, row | {"seal": texts.seal(domain, task, reason)})


def write_search(connection: Connection, run: int, search: Search) -> None:
    """The search with its trace; a recorded trace of a smaller budget is replaced by its longer version."""
    new = _Trace(search)
    key = search.outcome.key
    found = find_trace(connection, run, key)
    if found is None:
        row = {"run": run, **new.row}
        trace = connection.execute(insert(schema.traces).values(row)).inserted_primary_key[0]  # type: ignore[index]
        new.write(connection, trace)
    else:
        trace = found.id
        new.compare(connection, found, key)
        if key.budget > found.budget:
            for table in (schema.frontiers, schema.candidates, schema.nodes, schema.labels):
                connection.execute(delete(table).where(table.c.trace == trace))
            connection.execute(update(schema.traces).where(schema.traces.c.id == trace).values(new.row))
            new.write(connection, trace)
    _put_outcome(connection, trace, search.outcome)


def write_outcome(connection: Connection, run: int, outcome: Outcome) -> None:
    """The outcome of a smaller budget, whose trace is there."""
    found = find_trace(connection, run, outcome.key)
    if found is None:
        raise Missing(f"{shown(outcome.key)}: the search at the largest budget comes first, and it is not recorded")
    if outcome.key.budget > found.budget or outcome.frontiers > found.frontiers:
        raise Conflict(
            f"{shown(outcome.key)} has {outcome.frontiers} frontiers at budget {outcome.key.budget}; the recorded "
            f"trace has {found.frontiers} at {found.budget}"
        )
    _put_outcome(connection, found.id, outcome)


def write_labels(connection: Connection, run: int, given: Labels) -> None:
    found = find_trace(connection, run, given.key)
    if found is None:
        raise Missing(f"{shown(given.key)} is not recorded, so it cannot be labelled")
    if given.key.budget < found.budget and len(given.labels) < found.frontiers:
        compare_labels(connection, found.id, given)
        return
    table = schema.frontiers
    sizes = connection.execute(select(table.c.size).where(table.c.trace == found.id).order_by(table.c.place)).scalars()
    if (there := list(sizes)) != (here := [len(frontier) for frontier in given.labels]):
        raise Conflict(f"{shown(given.key)}: labels for frontiers of {here} candidates, recorded are {there}")
    text = rows.labels_text(given.labels)
    row = {"trace": found.id, "mode": given.mode, "protected": text}
    write_once(connection, schema.labels, row | {"seal": rows.labels_seal(given.key, given.mode, text)})


def compare_labels(connection: Connection, trace: int, given: Labels) -> None:
    """Of the beginning of a recorded trace: nothing to write, but what is there must be the same."""
    table = schema.labels.c
    chosen = select(table.protected).where(table.trace == trace, table.mode == given.mode)
    text = connection.execute(chosen).scalar()
    here = rows.labels_text(given.labels)
    if text is not None and not text.startswith(here):
        raise Conflict(f"{shown(given.key)}, {given.mode} labels: recorded is {text[: len(here)]!r}, given is {here!r}")


def write_once(connection: Connection, table: Table, row: dict[str, Any]) -> None:
    """Insert ``row``; if its primary key is there, it must say the same."""
    where = [column == row[column.name] for column in table.primary_key]
    there = connection.execute(select(table).where(*where)).mappings().first()
    if there is None:
        connection.execute(insert(table).values(row))
    elif different := [name for name in row if there[name] != row[name] and name != "seal"]:
        name = different[0]
        what = " ".join(str(row[c.name]) for c in table.primary_key)
        raise Conflict(f"{table.name} {what}, {name}: recorded is {there[name]!r:.200}, given is {row[name]!r:.200}")


def find_trace(connection: Connection, run: int, key: Key) -> Any:
    """The row of the trace that a key belongs to, whatever its budget; or `None`."""
    t = schema.traces
    return connection.execute(
        select(t).where(
            t.c.run == run,
            t.c.phase == key.phase,
            t.c.domain == key.domain,
            t.c.controller == key.controller,
            t.c.task == key.task,
            t.c.seed == key.seed,
            t.c.arm == key.arm,
        )
    ).first()


def shown(key: Key) -> str:
    """A key for people."""
    return f"{key.phase} {key.domain} {key.controller} {key.arm} B={key.budget} {key.task} seed {key.seed}"


_TABLES = (schema.frontiers, schema.candidates, schema.nodes)


class _Trace:
    """The rows of a search's trace."""

    def __init__(self, search: Search) -> None:
        key, frontiers = search.outcome.key, search.frontiers
        if len(frontiers) != search.outcome.frontiers:
            raise ValueError(f"{shown(key)}: {len(frontiers)} frontiers, its outcome says {search.outcome.frontiers}")
        self.tables = [rows.frontier_rows(frontiers), rows.candidate_rows(frontiers), rows.node_rows(search.nodes)]
        self.packed = dict([texts.pack("\n".join(search.effects))]) if search.effects else {}
        self.effects, self.asked = search.effects, search.asked
        effects = next(iter(self.packed), None)
        asked = b"".join(search.asked) or None
        self.row = {
            "phase": key.phase,
            "domain": key.domain,
            "controller": key.controller,
            "arm": key.arm,
            "task": key.task,
            "seed": key.seed,
            "budget": key.budget,
            "frontiers": len(frontiers),
            "nodes": len(search.nodes),
            "effects": effects,
            "asked": asked,
            "seal": rows.trace_seal(
                key, (effects, asked), *[[tuple(row.values()) for row in table] for table in self.tables]
            ),
        }

    def write(self, connection: Connection, trace: int) -> None:
        texts.put(connection, self.packed)
        for table, found in zip(_TABLES, self.tables, strict=True):
            if found:
                connection.execute(insert(table), [{"trace": trace, **row} for row in found])

    def compare(self, connection: Connection, found: Any, key: Key) -> None:
        """With the recorded trace ``found``: all of it at the same budget, the common part otherwise."""
        same = found.budget == key.budget
        if found.asked and self.asked:
            _agree(key, "request", rows.asked_of(found.asked), self.asked)
        if found.effects and self.effects:
            _agree(key, "effect", texts.get(connection, [found.effects])[found.effects].split("\n"), self.effects)
        for table, new in zip(_TABLES, self.tables, strict=True):
            if table is schema.nodes and not same:
                continue
            old = recorded(connection, table, found.id)
            for there, row in zip(old, new, strict=False):
                here = tuple(row.values())
                if tuple(there) != here:
                    raise Conflict(
                        f"{shown(key)}, {table.name}: recorded is {tuple(there)!r:.300}, given is {here!r:.300}"
                    )
            longer_new = len(new) > len(old)
            if len(new) != len(old) and (same or longer_new != (key.budget > found.budget)):
                raise Conflict(f"{shown(key)}: {len(old)} {table.name} are recorded, {len(new)} given")


def _agree(key: Key, what: str, old: Sequence[str | bytes], new: Sequence[str | bytes]) -> None:
    """The common part of a recorded and a given journal."""
    for place, (there, here) in enumerate(zip(old, new, strict=False)):
        if there != here:
            raise Conflict(f"{shown(key)}, {what} {place + 1}: recorded is {there!r:.300}, given is {here!r:.300}")


def recorded(connection: Connection, table: Table, trace: int) -> list[Any]:
    """The rows of a trace in ``table``, without the trace's id, in their order."""
    found = connection.execute(_of_a_trace(table), {"of": trace})
    return list(found.all())  # at once: row by row costs three times as much


@cache
def _of_a_trace(table: Table) -> Select[Any]:
    columns = [column for column in table.c if column.name != "trace"]
    order = [column for column in table.primary_key if column.name != "trace"]
    return select(*columns).where(table.c.trace == bindparam("of")).order_by(*order)


def _put_outcome(connection: Connection, trace: int, outcome: Outcome) -> None:
    row = rows.outcome_row(outcome)
    bill = dict(outcome.costs.requests)
    o = schema.outcomes
    there = connection.execute(select(o).where(o.c.trace == trace, o.c.budget == outcome.key.budget)).mappings().first()
    if there is None:
        sealed = rows.outcome_seal(outcome.key, row, bill)
        connection.execute(insert(o).values(trace=trace, **row, seal=sealed))
        lines = [{"trace": trace, "budget": row["budget"], **line} for line in rows.bill_rows(outcome.costs)]
        if lines:
            connection.execute(insert(schema.bills), lines)
        return
    b = schema.bills
    old = {
        row.kind: row.requests
        for row in connection.execute(
            select(b.c.kind, b.c.requests).where(b.c.trace == trace, b.c.budget == outcome.key.budget)
        )
    }
    for name in row:
        if name not in UNCOUNTED and there[name] != row[name]:
            raise Conflict(
                f"{shown(outcome.key)}, {name}: recorded is {there[name]!r:.200}, given is {row[name]!r:.200}"
            )
    if old != bill:
        raise Conflict(f"{shown(outcome.key)}, requests: recorded are {old}, given are {bill}")
