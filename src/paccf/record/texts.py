"""Long texts: compressed, and kept once under the digest of what they say."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from hashlib import blake2b
from typing import Any

from sqlalchemy import Connection, Insert, select
from sqlalchemy.dialects import postgresql, sqlite

from paccf.record.errors import Damaged
from paccf.record.schema import texts

_SHORT = 80  # ours: bytes below which compression gains nothing


def digest(data: bytes, size: int = 16) -> bytes:
    """What a text is filed under; also the seal of rows, with ``size`` 8."""
    return blake2b(data, digest_size=size).digest()


def seal(*values: Any) -> bytes:
    """A digest of plain values: `None`, numbers, texts, bytes, and tuples and lists of them."""
    return digest(repr(values).encode("utf-8", "surrogatepass"), 8)


@lru_cache(1024)  # a prompt is packed when it is sent and again when it is answered
def pack(text: str) -> tuple[bytes, bytes]:
    """(digest, body) of any Python string, lone surrogates included."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) >= _SHORT:
        small = zlib.compress(data, 6)
        if len(small) < len(data):
            return digest(data), b"z" + small
    return digest(data), b"=" + data


def unpack(name: bytes, body: bytes) -> str:
    """The text. Raises `Damaged` if it is not what it was filed as."""
    try:
        data = zlib.decompress(body[1:]) if body[:1] == b"z" else body[1:]
        if digest(data) == name:
            return data.decode("utf-8", "surrogatepass")
    except (zlib.error, UnicodeDecodeError):
        pass
    raise Damaged(f"the text {name.hex()} does not read as it was written")


def put(connection: Connection, packed: Mapping[bytes, bytes]) -> None:
    """Keep texts that are not there yet."""
    if packed:
        rows = [{"digest": name, "body": packed[name]} for name in sorted(packed)]  # one order: no deadlocks
        connection.execute(_entering(connection.dialect.name), rows)


@cache
def _entering(dialect: str) -> Insert:
    return (postgresql.insert if dialect == "postgresql" else sqlite.insert)(texts).on_conflict_do_nothing()


def get(connection: Connection, names: Iterable[bytes]) -> dict[bytes, str]:
    """Texts by their digests. Raises `Damaged` for one that is missing or not what it was."""
    wanted = set(names)
    found: dict[bytes, str] = {}
    for part in _parts(sorted(wanted)):
        for row in connection.execute(select(texts).where(texts.c.digest.in_(part))):
            found[row.digest] = unpack(row.digest, row.body)
    if missing := wanted - found.keys():
        raise Damaged(f"the text {min(missing).hex()} is missing")
    return found


def _parts(names: list[bytes], size: int = 500) -> Iterable[list[bytes]]:
    return (names[i : i + size] for i in range(0, len(names), size))
