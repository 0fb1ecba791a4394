"""What `paccf doctor` finds: whether a record is whole, and what to do where it is not. Reads everything once, in the
memory of one search; changes nothing."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from sqlalchemy import ColumnElement, Connection, Table, exists, func, select

from paccf.record import schema
from paccf.record.database import Database
from paccf.record.errors import Damaged, StoreError
from paccf.record.place import REMOTE, WriterLock, file_system
from paccf.record.rows import asked_of
from paccf.record.store import Store
from paccf.record.tape import read_rows, totals

State = Literal["ok", "note", "wrong"]
SHOWN = 5  # ours: damaged places that a finding names

# sqlite.org/wal.html, "The WAL-Reset Bug": fixed in 3.51.3, and in these later versions of older branches
_BUG = ((3, 7, 0), (3, 51, 3))
_MENDED = {(3, 44): 6, (3, 50): 7}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. ``remedy`` says what to do, where there is anything to do."""

    what: str
    state: State
    said: str
    remedy: str = ""


@dataclass(slots=True)
class _Lost:
    """What could not be read."""

    count: int = 0
    first: list[str] = field(default_factory=list)

    def __call__(self, error: StoreError) -> None:
        self.count += 1
        if len(self.first) < SHOWN:
            self.first.append(str(error))


def library(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> Finding:
    """SQLite's version."""
    text = ".".join(map(str, version))
    if not _BUG[0] <= version < _BUG[1] or version[2] >= _MENDED.get((version[0], version[1]), 1 << 30):
        return Finding("SQLite", "ok", f"{text}, without the WAL-reset bug")
    return Finding(
        "SQLite",
        "note",
        f"{text} has the WAL-reset bug: two connections that write a file at the same instant may damage it. A record "
        "is written by one connection of one process, so it is safe from it while nothing else writes the file",
        "let no other program write the file; a Python whose sqlite3 is 3.51.3 or newer does not have the bug",
    )


def examined(place: str) -> Iterator[Finding]:
    """Everything that can be said of the record at ``place``, from the outside in. Raises `StoreError` for what is no
    record or cannot be reached."""
    try:
        whole = Database(place, readonly=True)
    except Damaged as error:
        yield Finding("pages", "wrong", _short(error), _save(place))
        try:
            database = Database(place, readonly=True, damaged=True)
        except StoreError:
            return
    else:
        database = whole
    store = Store(database)
    try:
        if database.path is not None:
            yield from _file(database.path)
            if not database.damaged:
                yield _pages(database)
        yield Finding("schema", "ok", f"version {schema.VERSION}")
        for what, part in (("searches", _searches), ("tape", _tape), ("orphans", _orphans)):
            try:
                yield from part(store)
            except StoreError as error:  # not even a row at a time
                yield Finding(what, "wrong", _short(error), _save(database.name))
    finally:
        store.close()


def _file(path: str) -> Iterator[Finding]:
    kind = file_system(path)
    if REMOTE.match(kind):
        yield Finding(
            "place", "wrong", f"on a network file system ({kind}), where databases lose data", "move it to a local disk"
        )
    else:
        yield Finding("place", "ok", f"{kind or 'an unknown file system'}, {os.path.getsize(path):,} bytes")
    try:
        lock = WriterLock(path) if os.path.exists(f"{path}.lock") and os.access(f"{path}.lock", os.W_OK) else None
    except StoreError as error:
        yield Finding("writer", "note", str(error).partition(":")[0])
    else:
        if lock is not None:
            lock.release()
        left = os.path.exists(f"{path}-wal") and os.path.getsize(f"{path}-wal") > 0
        said = (
            "nobody writes it; what a killed writer left in the -wal file is read with it"
            if left
            else "nobody writes it"
        )
        remedy = "keep both files together; the next command that writes brings them into one" if left else ""
        yield Finding("writer", "note" if left else "ok", said, remedy)


def _pages(database: Database) -> Finding:
    """SQLite's own check of every page, index and reference."""
    with database.read() as connection:
        wrong = [str(row[0]) for row in connection.exec_driver_sql(f"PRAGMA integrity_check({SHOWN})")]
        loose = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchmany(SHOWN)
    wrong = [line for line in wrong if line != "ok"] + [f"a row of {row[0]} hangs on nothing" for row in loose]
    if wrong:
        return Finding("pages", "wrong", "; ".join(wrong), _save(database.name))
    return Finding("pages", "ok", "every page, index and reference is sound")


def _short(error: StoreError) -> str:
    """Without what to do, which a finding says by itself."""
    return str(error).partition(". Restore")[0]


def _save(name: str) -> str:
    return f"restore it from a copy, or save what can be read: paccf import {name} -o NEW.sqlite --skip-bad"


def _searches(store: Store) -> Iterator[Finding]:
    lost, searches, frontiers = _Lost(), 0, 0
    runs = store.runs(skip=lost)
    for run in runs:
        store.certificates(run, skip=lost)
        store.exclusions(run, skip=lost)
        for first, *_ in store.whole(run, skip=lost):
            searches += 1
            frontiers += len(getattr(first, "frontiers", ()))
    said = f"{searches:,} of {len(runs)} runs, {frontiers:,} frontiers, all as they were written"
    yield _read("searches", lost, said, store.database.name)


def _tape(store: Store) -> Iterator[Finding]:
    lost = _Lost()
    with store.database.read() as connection:
        count = sum(1 for _ in read_rows(connection, lost))
        yield _read("tape", lost, f"{count:,} requests, all as they were written", store.database.name)
        if maybe := totals(connection).maybe_billed:
            yield Finding(
                "tape",
                "note",
                f"{maybe:,} requests were begun and never answered; perhaps they were billed",
                "the same run asks them again; the provider's bill is what counts",
            )
        missing, there = _replayable(connection)
        if missing:
            yield Finding(
                "tape",
                "note",
                f"{missing:,} of {missing + there:,} searches asked for answers that are not on this tape: they cannot "
                "be replayed here",
                "bring the tape that they were made on: paccf import OTHER -o THIS --tape-only",
            )


def _read(what: str, lost: _Lost, said: str, name: str) -> Finding:
    if not lost.count:
        return Finding(what, "ok", said)
    more = f" and {lost.count - len(lost.first):,} more" if lost.count > len(lost.first) else ""
    return Finding(what, "wrong", "; ".join(lost.first) + more, _save(name))


def _replayable(connection: Connection) -> tuple[int, int]:
    """Searches with noted requests: of how many some are not on the tape, of how many all are."""
    keys = set(connection.execute(select(schema.tape.c.key).where(schema.tape.c.answer.is_not(None))).scalars())
    missing = there = 0
    asked = select(schema.traces.c.asked).where(schema.traces.c.asked.is_not(None))
    for joined in connection.execution_options(yield_per=500).execute(asked).scalars():
        if keys.issuperset(asked_of(joined)):
            there += 1
        else:
            missing += 1
    return missing, there


def _orphans(store: Store) -> Iterator[Finding]:
    """Rows that nothing leads to. A transaction leaves none of a search; texts may stay behind a trace that a longer
    one replaced."""
    with store.database.read() as connection:
        yield from _loose(connection, store.database.name)
        yield from _unused(connection, store.database.name)


def _loose(connection: Connection, name: str) -> Iterator[Finding]:
    t = schema.traces.c
    loose = {}
    for table in (schema.outcomes, schema.frontiers, schema.candidates, schema.nodes, schema.labels, schema.bills):
        loose[table.name] = _count(connection, table, ~exists().where(t.id == table.c.trace))
    ended = (schema.outcomes.c.trace == t.id) & (schema.outcomes.c.budget == t.budget)
    loose["traces"] = _count(
        connection, schema.traces, ~exists().where(schema.runs.c.id == t.run) | ~exists().where(ended)
    )
    if found := {table: count for table, count in loose.items() if count}:
        said = ", ".join(f"{count:,} rows of {table}" for table, count in found.items())
        yield Finding("orphans", "wrong", f"{said} belong to no search", _save(name))
    else:
        yield Finding("orphans", "ok", "every row belongs to a search")


def _unused(connection: Connection, name: str) -> Iterator[Finding]:
    tape, body = schema.tape.c, schema.texts.c.body
    used = [
        select(column) for column in (tape.model, tape.parameters, tape.prompt, tape.answer, schema.traces.c.effects)
    ]
    unused = select(schema.texts.c.digest).except_(*used)
    count, size = connection.execute(
        select(func.count(), func.coalesce(func.sum(func.length(body)), 0)).where(schema.texts.c.digest.in_(unused))
    ).one()
    if count:
        yield Finding(
            "texts",
            "note",
            f"{count:,} are used by nothing, {int(size):,} bytes: harmless",
            f"paccf import {name} -o NEW leaves them behind",
        )


def _count(connection: Connection, table: Table, condition: ColumnElement[bool]) -> int:
    return int(connection.execute(select(func.count()).select_from(table).where(condition)).scalar_one())


def migrated(place: str) -> int:
    """Move an older record forward; the version it has now. Raises `StoreError`."""
    with Store.open(place):
        return schema.VERSION
