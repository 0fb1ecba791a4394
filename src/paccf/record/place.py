"""Where a record lies: a path or a URL, on a file system that keeps a database's promises, with one writer."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from pathlib import Path
from typing import IO

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from paccf.record.errors import Foreign, Locked

if sys.platform != "win32":
    import fcntl

# locks or shared memory do not hold on these (SQLite: "How To Corrupt", section 2.1; WAL needs one machine)
REMOTE = re.compile(
    r"^(nfs\d?|cifs|smb\w*|9p|ceph|lustre|gpfs|beegfs|glusterfs|afs|ncpfs|fuse\.(sshfs|s3fs|gcsfuse|rclone|glusterfs|ceph\S*))$"
)


def url_of(place: str | os.PathLike[str]) -> URL:
    """A SQLAlchemy URL: of the path of a SQLite file, or of a URL such as ``postgresql://user@host/name``."""
    text = os.fspath(place)
    if "://" not in text:
        return URL.create("sqlite", database=os.path.abspath(text))
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise Foreign("the storage URL cannot be read: give a path, or postgresql://user@host/database") from None
    kind = url.get_backend_name()
    if kind in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if kind == "sqlite" and url.database and url.database != ":memory:":
        return URL.create("sqlite", database=os.path.abspath(url.database))
    raise Foreign(f"a record is kept in a SQLite file or in PostgreSQL, not in {kind}")


def named(url: URL) -> str:
    """The place for people: never a password."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    return url.set(query={}).render_as_string(hide_password=True)


def file_system(path: str, mounts: str | None = None) -> str:
    """The type of the file system that ``path`` is on, `""` if it cannot be told."""
    if mounts is None:
        try:
            mounts = Path("/proc/self/mountinfo").read_text()
        except OSError:
            return ""
    real = os.path.realpath(path)
    best, kind = "", ""
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        fields = left.split()
        if len(fields) < 5 or not right:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), fields[4])
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, right.split()[0]
    return kind


def refuse_remote(path: str, mounts: str | None = None) -> None:
    """Raises `Foreign` for a file on a network file system."""
    kind = file_system(path, mounts)
    if REMOTE.match(kind):
        raise Foreign(
            f"{path} is on a network file system ({kind}), where databases lose data. Put the run on a local disk, "
            "or give a postgresql:// URL if several machines write"
        )


class WriterLock:
    """The right to write a SQLite file, held by one process; the system takes it back when the process ends, however
    it ends."""

    def __init__(self, path: str) -> None:
        self._file: IO[str] | None = None
        if sys.platform == "win32":
            return
        file = open(f"{path}.lock", "a+", encoding="ascii")  # noqa: SIM115  held until `release`
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            owner = file.read(20).strip()
            file.close()
            who = f"process {owner}" if owner.isdigit() else "another process"
            raise Locked(
                f"{path} is being written by {who}: wait until it has ended, or end it. One process writes a SQLite "
                "record; several need a postgresql:// URL"
            ) from None
        with contextlib.suppress(OSError):  # a full disk: the name is only for people
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
        self._file = file

    def release(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
