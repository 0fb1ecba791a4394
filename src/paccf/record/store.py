"""The record: what searches left behind, kept in a database. Writes are durable when they return; readers see whole
searches only."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, func, insert, select, update

from paccf.record import reading, rows, schema, texts
from paccf.record.database import Database
from paccf.record.errors import Conflict, Damaged, Skip, StoreError
from paccf.record.tape import Totals, billed, totals
from paccf.record.values import Costs, Exclusion, Key, Label, Outcome, RunInfo, Search
from paccf.record.writing import CertificateText, Entry, Labels, Value, find_trace, write_entries

Run = str | RunInfo


class Counts(NamedTuple):
    """How much a run holds, without reading it."""

    searches: int
    outcomes: int
    frontiers: int
    begun: str


class Begun(NamedTuple):
    """A run as it is entered: with every set of versions that wrote it, and when it was begun (UTC)."""

    run: RunInfo
    versions: tuple[Mapping[str, str], ...]
    begun: str


class Store:
    """The record in one database. Every method raises a `StoreError` that says what to do."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._ids: dict[str, int] = {}

    @classmethod
    def open(cls, place: str | os.PathLike[str], readonly: bool = False, damaged: bool = False) -> Store:
        """The record in a SQLite file or at a postgresql:// URL; for writing it is created if it is not there. One
        process writes a SQLite file. ``damaged``: read what can be read of a file that is not whole."""
        return cls(Database(place, readonly, damaged))

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # writing

    def begin(self, run: RunInfo) -> None:
        """Enter a run, or continue it: spec and model must be the same; other versions are noted beside the first."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self.begin_as(Begun(run, (run.versions,), now))

    def begin_as(self, entry: Begun) -> None:
        """Enter a run of another record, or add what that one knows to it."""
        self._ids[entry.run.name] = self.database.write(_begin, entry)

    def save(self, run: Run, search: Search) -> None:
        """Keep a search with its trace, in one transaction."""
        self.save_many(run, [search])

    def save_outcome(self, run: Run, outcome: Outcome) -> None:
        """Keep the outcome of a smaller budget, which shares the recorded trace of the largest."""
        self.save_many(run, [outcome])

    def put_labels(self, run: Run, key: Key, mode: str, labels: Sequence[Sequence[Label]]) -> None:
        """Label all frontiers of the recorded trace of ``key`` (whatever its budget), one label a candidate."""
        self.save_many(run, [Labels(key, mode, labels)])

    def put_certificate(self, run: Run, domain: str, controller: str, text: str) -> None:
        self.save_many(run, [CertificateText(domain, controller, text)])

    def exclude(self, run: Run, exclusion: Exclusion) -> None:
        self.save_many(run, [exclusion])

    def save_many(self, run: Run, values: Sequence[Value]) -> None:
        """Searches, outcomes, labels, certificates, exclusions: in order, in one transaction, all or none."""
        entry: Entry = (self._id(run), values)
        self.database.write(write_entries, entry)

    # reading

    def runs(self, *, skip: Skip | None = None) -> list[RunInfo]:
        """All runs, in the order they were begun."""
        found = []
        with self.database.read() as connection:
            for row in connection.execute(select(schema.runs).order_by(schema.runs.c.id)):
                try:
                    found.append(_run(row))
                except Damaged as error:
                    reading.report(skip, error)
        return found

    def run(self, name: Run) -> RunInfo:
        with self.database.read() as connection:
            found = reading.run_id(connection, _name(name))
            return _run(connection.execute(select(schema.runs).where(schema.runs.c.id == found)).one())

    def entry(self, name: Run) -> Begun:
        """The run as it was entered."""
        with self.database.read() as connection:
            found = reading.run_id(connection, _name(name))
            row = connection.execute(select(schema.runs).where(schema.runs.c.id == found)).one()
            return Begun(_run(row), tuple(json.loads(row.versions)), row.begun)

    def counts(self, run: Run) -> Counts:
        """The size of a run; costs no reading of traces."""
        t, o, r = schema.traces.c, schema.outcomes, schema.runs.c
        with self.database.read() as connection:
            at = reading.run_id(connection, _name(run))
            searches, frontiers = connection.execute(
                select(func.count(), func.coalesce(func.sum(t.frontiers), 0)).where(t.run == at)
            ).one()
            outcomes = connection.execute(
                select(func.count()).select_from(schema.traces.join(o)).where(t.run == at)
            ).scalar_one()
            begun = connection.execute(select(r.begun).where(r.id == at)).scalar_one()
        return Counts(searches, outcomes, int(frontiers), begun)

    def has(self, run: Run, key: Key) -> bool:
        """Whether the outcome of ``key`` is recorded."""
        o = schema.outcomes.c
        with self.database.read() as connection:
            found = find_trace(connection, self._id(run), key)
            if found is None:
                return False
            there = select(o.budget).where(o.trace == found.id, o.budget == key.budget)
            return connection.execute(there).first() is not None

    def outcomes(self, run: Run, *, skip: Skip | None = None, **where: Any) -> Iterator[Outcome]:
        """Searches without their traces, by phase, domain, controller, task, seed, arm and falling budget. ``where``
        takes phase, domain, controller, arm, budget, task and seed: a value, or several. What is damaged raises, or is
        handed to ``skip`` and left out."""
        with self.database.read() as connection:
            yield from reading.read_outcomes(connection, self._id(run), where, skip)

    def searches(
        self, run: Run, labels: str | None = None, *, skip: Skip | None = None, **where: Any
    ) -> Iterator[Search]:
        """Whole searches in the same order, labelled in the mode ``labels`` if they were; one in memory at a time."""
        with self.database.read() as connection:
            yield from reading.read_searches(connection, self._id(run), where, labels, skip)

    def whole(self, run: Run, *, skip: Skip | None = None, **where: Any) -> Iterator[list[Value]]:
        """Everything of one search after the other, as `save_many` takes it: the search, the outcomes of its smaller
        budgets, its labels in all modes."""
        with self.database.read() as connection:
            yield from reading.read_whole(connection, self._id(run), where, skip)

    def unlabelled(self, run: Run, mode: str, phase: str) -> list[Key]:
        """The searches of ``phase`` at their largest budget that have no labels in ``mode``."""
        t, mine = schema.traces.c, schema.labels.c
        columns = (t.phase, t.domain, t.controller, t.arm, t.budget, t.task, t.seed)
        joined = schema.traces.outerjoin(schema.labels, (mine.trace == t.id) & (mine.mode == mode))
        statement = select(*columns).select_from(joined).where(t.run == self._id(run), t.phase == phase)
        with self.database.read() as connection:
            return [Key(*row) for row in connection.execute(statement.where(mine.trace.is_(None)).order_by(t.id))]

    def modes(self, run: Run) -> list[str]:
        """The modes in which searches of the run are labelled."""
        mine, t = schema.labels.c, schema.traces
        chosen = select(mine.mode).distinct().join_from(schema.labels, t).where(t.c.run == self._id(run))
        with self.database.read() as connection:
            return list(connection.execute(chosen.order_by(mine.mode)).scalars())

    def certificates(self, run: Run, *, skip: Skip | None = None) -> dict[tuple[str, str], str]:
        """Certificate texts by domain and controller."""
        c = schema.certificates.c
        chosen = select(c.domain, c.controller, c.text, c.seal).order_by(c.domain, c.controller)
        found = self._sealed(chosen.where(c.run == self._id(run)), "certificate", skip)
        return {(domain, controller): text for domain, controller, text in found}

    def exclusions(self, run: Run, *, skip: Skip | None = None) -> list[Exclusion]:
        e = schema.exclusions.c
        chosen = select(e.domain, e.task, e.reason, e.seal).order_by(e.domain, e.task)
        found = self._sealed(chosen.where(e.run == self._id(run)), "exclusion", skip)
        return [Exclusion(*said) for said in found]

    def _sealed(self, chosen: Select[Any], what: str, skip: Skip | None) -> Iterator[Sequence[Any]]:
        """Rows whose last column is their seal, without it."""
        try:
            with self.database.read() as connection:
                for *said, seal in connection.execute(chosen):
                    if texts.seal(*said) == seal:
                        yield said
                    else:
                        name = " ".join(map(str, said[:2]))
                        wrong = Damaged(f"{self.database.name}: the {what} of {name!r:.80} is not what was written")
                        reading.report(skip, wrong)
        except StoreError as error:  # the rows after it cannot be read either
            reading.report(skip, error)

    def tape(self) -> Totals:
        """What the tape of this database holds in all."""
        with self.database.read() as connection:
            return totals(connection)

    def billed(self, run: Run, key: Key) -> Costs | None:
        """Requests and tokens of a search added up from the tape's rows that it asked for; `None` if its requests were
        not noted, or are not on this tape."""
        with self.database.read() as connection:
            found = find_trace(connection, self._id(run), key)
            if found is None or not found.asked:
                return None
            bill = schema.bills.c
            used = connection.execute(
                select(func.sum(bill.requests)).where(bill.trace == found.id, bill.budget == key.budget)
            ).scalar()
            counted = billed(connection, rows.asked_of(found.asked)[: int(used or 0)])
        return None if counted is None else Costs(**counted)

    def _id(self, run: Run) -> int:
        name = _name(run)
        if name not in self._ids:
            with self.database.read() as connection:
                self._ids[name] = reading.run_id(connection, name)
        return self._ids[name]


def _name(run: Run) -> str:
    return run if isinstance(run, str) else run.name


def _seal(row: Mapping[str, Any]) -> bytes:
    """Of a run, whose columns ``row`` holds."""
    return texts.seal(*[row[n] for n in ("name", "spec", "model", "simulated", "caveats", "versions", "begun")])


def _run(row: Any) -> RunInfo:
    if _seal(row._mapping) != row.seal:
        raise Damaged(f"the entry of run {row.name!r:.80} is not what was written")
    versions: Mapping[str, str] = json.loads(row.versions)[-1]
    return RunInfo(row.name, row.spec, row.model, bool(row.simulated), versions, tuple(json.loads(row.caveats)))


def _begin(connection: Connection, entries: Sequence[Begun]) -> list[int]:
    """The ids of runs, entered where they are new."""
    return [_begin_one(connection, entry) for entry in entries]


def _begin_one(connection: Connection, entry: Begun) -> int:
    r, run = schema.runs, entry.run
    there = connection.execute(select(r).where(r.c.name == run.name)).first()
    if there is None:
        row = {
            "name": run.name,
            "spec": run.spec,
            "model": run.model,
            "simulated": int(run.simulated),
            "caveats": json.dumps(run.caveats),
            "versions": json.dumps([dict(versions) for versions in entry.versions]),
            "begun": entry.begun,
        }
        row["seal"] = _seal(row)
        return int(connection.execute(insert(r).values(row)).inserted_primary_key[0])  # type: ignore[index]
    recorded = _run(there)
    for name in ("spec", "model", "simulated"):
        old, new = getattr(recorded, name), getattr(run, name)
        if old != new:
            raise Conflict(f"run {run.name}, {name}: recorded is {old!r:.300}, given is {new!r:.300}")
    known = json.loads(there.versions)
    versions = known + [dict(new) for new in entry.versions if dict(new) not in known]
    begun = min(there.begun, entry.begun)
    if versions != known or begun != there.begun:
        row = {"versions": json.dumps(versions), "begun": begun}
        row["seal"] = _seal(dict(there._mapping) | row)
        connection.execute(update(r).where(r.c.id == there.id).values(row))
    return int(there.id)
