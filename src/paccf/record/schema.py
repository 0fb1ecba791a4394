"""The tables of a record, for SQLite and PostgreSQL alike, and how an older one moves forward.

A search at a smaller budget is a prefix of the same search at the largest, so `traces` holds each search once, and
`outcomes` one row a budget. A ``seal`` is a digest of the row's own values and of all that hangs from it: a flipped
bit is seen when the row is read. Foreign text (tasks, actions, answers, failures) is `Foreign`: any Python string comes
back as it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    REAL,
    BigInteger,
    Column,
    Connection,
    Double,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    insert,
    inspect,
    select,
    update,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

from paccf.record.errors import Damaged
from paccf.record.errors import Foreign as NotOurs

VERSION = 2  # of the tables; raised with a step in migrations.py
APPLICATION = 0x70616363  # "pacc", in the header of the SQLite file

# one order everywhere: by code point
_TEXT = Text().with_variant(Text(collation="C"), "postgresql")
_HOSTILE = re.compile("[\x00\ud800-\udfff]|\\A\x01")


class Foreign(TypeDecorator[str]):
    """Text from anywhere. What a database cannot hold (NUL, lone surrogates) is written as JSON behind a \\x01."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[str]:
        return dialect.type_descriptor(Text(collation="C") if dialect.name == "postgresql" else Text())

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        if value is not None and _HOSTILE.search(value):
            return "\x01" + json.dumps(value)
        return value

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        if isinstance(value, str) and value[:1] == "\x01":  # of a damaged file it may be anything; its seal tells
            text = json.loads(value[1:])
            assert isinstance(text, str)
            return text
        return value


TALLY = 2654435761  # Knuth's multiplier; two counts that differ by a flipped bit have tallies that differ by many

METADATA = MetaData()
# the types of a STRICT table, and their like
_BIG = Integer().with_variant(BigInteger(), "postgresql")
_BIT = Integer().with_variant(SmallInteger(), "postgresql")
_REAL: TypeEngine[float] = REAL().with_variant(Double(), "postgresql")


def _table(name: str, *parts: Any, rowid: bool = True) -> Table:
    return Table(name, METADATA, *parts, sqlite_strict=True, sqlite_with_rowid=rowid)


schema = _table("paccf_schema", Column("version", Integer, nullable=False))

runs = _table(
    "runs",
    Column("id", _BIG, primary_key=True),
    Column("name", Foreign, nullable=False, unique=True),
    Column("spec", Foreign, nullable=False),
    Column("model", Foreign, nullable=False),
    Column("simulated", _BIT, nullable=False),
    Column("caveats", Foreign, nullable=False),  # JSON: a list of sentences
    Column("versions", Foreign, nullable=False),  # JSON: a list, one entry for each set of versions that wrote
    Column("begun", Text, nullable=False),  # UTC
    Column("seal", LargeBinary),
)

traces = _table(
    "traces",
    Column("id", _BIG, primary_key=True),
    Column("run", ForeignKey("runs.id"), nullable=False),
    Column("phase", _TEXT, nullable=False),
    Column("domain", _TEXT, nullable=False),
    Column("controller", _TEXT, nullable=False),
    Column("arm", _TEXT, nullable=False),
    Column("task", Foreign, nullable=False),
    Column("seed", _BIG, nullable=False),
    Column("budget", _BIG, nullable=False),  # the largest
    Column("frontiers", Integer, nullable=False),
    Column("nodes", Integer, nullable=False),
    Column("effects", LargeBinary),  # the journal, see journal.py; in `texts`
    Column("asked", LargeBinary),  # the tape's keys, 16 bytes each, one after the other
    Column("seal", LargeBinary, nullable=False),
    UniqueConstraint("run", "phase", "domain", "controller", "task", "seed", "arm"),
)

outcomes = _table(
    "outcomes",
    Column("trace", ForeignKey("traces.id", ondelete="CASCADE"), primary_key=True),
    Column("budget", _BIG, primary_key=True),
    Column("end", Text, nullable=False),
    Column("solved", _BIT, nullable=False),
    Column("utility", _REAL, nullable=False),
    Column("answer", Text),  # JSON: the path
    Column("solution", Foreign, nullable=False),
    Column("failure", Foreign, nullable=False),
    Column("metrics", Text, nullable=False),  # JSON
    Column("frontiers", Integer, nullable=False),
    Column("prompt_tokens", _BIG, nullable=False),
    Column("completion_tokens", _BIG, nullable=False),
    Column("unknown_tokens", _BIG, nullable=False),
    Column("nodes", _BIG, nullable=False),
    Column("expansions", _BIG, nullable=False),
    Column("scored", _BIG, nullable=False),
    Column("illegal", _BIG, nullable=False),
    Column("unparsable", _BIG, nullable=False),
    Column("malformed", _BIG, nullable=False),
    Column("unscored", _BIG, nullable=False),
    Column("sent", _BIG, nullable=False),
    Column("seal", LargeBinary, nullable=False),
    rowid=False,
)

bills = _table(
    "bills",
    Column("trace", _BIG, primary_key=True),
    Column("budget", _BIG, primary_key=True),
    Column("kind", _TEXT, primary_key=True),
    Column("requests", _BIG, nullable=False),
    rowid=False,
)

frontiers = _table(
    "frontiers",
    Column("trace", ForeignKey("traces.id", ondelete="CASCADE"), primary_key=True),
    Column("place", Integer, primary_key=True),  # 0, 1, ... in order of admission
    Column("path", Text, nullable=False),  # JSON
    Column("channel", Text, nullable=False),
    Column("spent", _BIG, nullable=False),
    Column("size", Integer, nullable=False),
    rowid=False,
)

candidates = _table(
    "candidates",
    Column("trace", ForeignKey("traces.id", ondelete="CASCADE"), primary_key=True),
    Column("frontier", Integer, primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("key", Foreign, nullable=False),
    Column("text", Foreign, nullable=False),
    Column("observations", Text),  # JSON
    Column("score", _REAL),
    Column("eligible", _BIT, nullable=False),
    Column("native", _BIT, nullable=False),
    Column("gap", _BIT),
    Column("kept", _BIT, nullable=False),
    rowid=False,
)

nodes = _table(
    "nodes",
    Column("trace", ForeignKey("traces.id", ondelete="CASCADE"), primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("parent", Integer),  # the parent's place; parents come first
    Column("key", Foreign, nullable=False),  # the last step of the path
    Column("score", _REAL),
    Column("visits", _BIG, nullable=False),
    Column("value", _REAL, nullable=False),
    Column("executed", _BIT, nullable=False),
    Column("terminal", _BIT, nullable=False),
    Column("solved", _BIT),
    Column("dead", _BIT, nullable=False),
    Column("pruned", _BIT, nullable=False),
    rowid=False,
)

labels = _table(
    "labels",
    Column("trace", ForeignKey("traces.id", ondelete="CASCADE"), primary_key=True),
    Column("mode", _TEXT, primary_key=True),
    Column("protected", Text, nullable=False),  # a character a candidate: 1, 0, ?; frontiers separated by a comma
    Column("seal", LargeBinary, nullable=False),
    rowid=False,
)

certificates = _table(
    "certificates",
    Column("run", ForeignKey("runs.id"), primary_key=True),
    Column("domain", _TEXT, primary_key=True),
    Column("controller", _TEXT, primary_key=True),
    Column("text", Foreign, nullable=False),
    Column("seal", LargeBinary, nullable=False),
    rowid=False,
)

exclusions = _table(
    "exclusions",
    Column("run", ForeignKey("runs.id"), primary_key=True),
    Column("domain", _TEXT, primary_key=True),
    Column("task", Foreign, primary_key=True),
    Column("reason", Foreign, nullable=False),
    Column("seal", LargeBinary),
    rowid=False,
)

# long texts, stored once under the digest of what they say
texts = _table("texts", Column("digest", LargeBinary, primary_key=True), Column("body", LargeBinary, nullable=False))

# one row a logical request: begun before the first attempt is sent, answered before the search sees the answer
tape = _table(
    "tape",
    Column("key", LargeBinary, primary_key=True),
    Column("model", LargeBinary, nullable=False),  # the fingerprint, in `texts`
    Column("parameters", LargeBinary, nullable=False),  # in `texts`
    Column("kind", _TEXT, nullable=False),
    Column("draw", Integer, nullable=False),
    Column("prompt", LargeBinary, nullable=False),  # in `texts`
    Column("begun", Integer, nullable=False),  # attempts that were about to be sent, over all processes
    Column("tally", _BIG),  # begun * TALLY: seals what is counted up in place
    Column("answer", LargeBinary),  # in `texts`; NULL: not answered, perhaps billed
    Column("prompt_tokens", _BIG),
    Column("completion_tokens", _BIG),
    Column("finish", Foreign),
    Column("latency", _REAL),
    Column("attempts", Integer),  # of the process that got the answer
    Column("failure", Foreign),  # the model's last word, if it was no answer
    Column("seal", LargeBinary),
)


def version(connection: Connection) -> int | None:
    """The schema's version; `None` in an empty database. Raises `Foreign` if it is somebody else's."""
    there = set(inspect(connection).get_table_names())
    if "paccf_schema" not in there:
        if there:
            raise NotOurs(f"it holds other tables ({', '.join(sorted(there)[:3])}); give a database of its own")
        return None
    rows = connection.execute(select(schema.c.version)).scalars().all()
    if len(rows) != 1:
        raise Damaged(f"the schema version stands {len(rows)} times, not once; restore the file from a copy")
    return int(rows[0])


def prepare(connection: Connection, steps: Mapping[int, Callable[[Connection], None]], target: int = VERSION) -> bool:
    """Create the tables, or move older ones forward by ``steps``, within the caller's transaction; whether they were
    created. Raises `Foreign` for a newer version."""
    found = version(connection)
    if found is None:
        METADATA.create_all(connection)
        connection.execute(insert(schema).values(version=target))
        return True
    check(found, target)
    for step in range(found, target):
        if step not in steps:
            raise NotOurs(f"it has schema {step}, which no step leads out of; export it with the paccf that wrote it")
        steps[step](connection)
        connection.execute(update(schema).values(version=step + 1))
    return False


def check(found: int, target: int = VERSION) -> None:
    """Refuse a database from the future."""
    if found > target:
        raise NotOurs(f"it has schema {found}, and this paccf knows up to {target}: use a newer paccf")


def tables() -> Sequence[Table]:
    """All tables, parents before children."""
    return METADATA.sorted_tables
