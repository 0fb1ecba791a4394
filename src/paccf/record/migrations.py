"""How a record of an older schema moves forward: a step from each version to the next, within one transaction.

A step names tables and columns as they were then, so that it goes on doing what it did when the schema moves on.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import ColumnClause, Connection, LargeBinary, column, inspect, select, table, update

from paccf.record import schema, texts

Step = Callable[[Connection], None]


def _add(connection: Connection, name: str, definition: str) -> None:
    blob = "BYTEA" if connection.dialect.name == "postgresql" else "BLOB"
    connection.exec_driver_sql(f"ALTER TABLE {name} ADD COLUMN {definition.replace('BLOB', blob)}")


def _seal() -> ColumnClause[bytes]:
    return column("seal", LargeBinary)


def _seals_everywhere(connection: Connection) -> None:
    """2: runs, exclusions, the tape's counts and failures are sealed too, and labels with the search they belong to.
    Runs have caveats; the earliest records of version 1 had none."""
    if "caveats" not in {found["name"] for found in inspect(connection).get_columns("runs")}:
        _add(connection, "runs", "caveats TEXT NOT NULL DEFAULT '[]'")
    _add(connection, "runs", "seal BLOB")
    _add(connection, "exclusions", "seal BLOB")
    _add(connection, "tape", "tally BIGINT" if connection.dialect.name == "postgresql" else "tally INTEGER")
    foreign = schema.Foreign()
    names = ("name", "spec", "model", "simulated", "caveats", "versions", "begun")
    runs = table("runs", column("id"), *[column(n, foreign) if n != "simulated" else column(n) for n in names], _seal())
    for row in connection.execute(select(runs)).all():
        sealed = texts.seal(*[getattr(row, name) for name in names])
        connection.execute(update(runs).where(runs.c.id == row.id).values(seal=sealed))
    gone = table("exclusions", column("run"), *[column(n, foreign) for n in ("domain", "task", "reason")], _seal())
    for row in connection.execute(select(gone)).all():
        same = (gone.c.run == row.run) & (gone.c.domain == row.domain) & (gone.c.task == row.task)
        sealed = texts.seal(row.domain, row.task, row.reason)
        connection.execute(update(gone).where(same).values(seal=sealed))
    tape = table("tape", column("key"), column("begun"), column("tally"), column("failure", foreign), _seal())
    connection.execute(update(tape).values(tally=tape.c.begun * 2654435761))
    for row in connection.execute(select(tape).where(tape.c.failure.is_not(None))).all():
        sealed = texts.seal(row.key, row.failure)
        connection.execute(update(tape).where(tape.c.key == row.key).values(seal=sealed))
    _seal_labels(connection)


def _seal_labels(connection: Connection) -> None:
    names = ("phase", "domain", "controller", "arm", "task", "seed")
    traces = table("traces", column("id"), *[column(n, schema.Foreign() if n == "task" else None) for n in names])
    labels = table("labels", column("trace"), column("mode"), column("protected"), _seal())
    joined = select(traces, labels.c.mode).join_from(traces, labels, traces.c.id == labels.c.trace)
    for row in connection.execute(joined).all():
        mine = (labels.c.trace == row.id) & (labels.c.mode == row.mode)
        protected = connection.execute(select(labels.c.protected).where(mine)).scalar_one()
        sealed = texts.seal(tuple(getattr(row, name) for name in names), row.mode, protected)
        connection.execute(update(labels).where(mine).values(seal=sealed))


STEPS: dict[int, Step] = {1: _seals_everywhere}
