"""A file that several writers append whole pieces to, and that may be read meanwhile.

While a piece is appended, ``FILE.pending`` beside it holds the size up to which the file is whole. Readers stop
there (`WholePart`), and the next writer cuts off what a dead one left behind (`mend`). ``FILE.lock`` lets one process
write at a time; it stays, empty.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import BinaryIO

PENDING = ".pending"


@contextlib.contextmanager
def alone(path: str) -> Iterator[None]:
    """One writing process at a time, where the system knows locks on files."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with open(path + ".lock", "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def mend(path: str) -> None:
    """Cut off what a writer left behind that died while it appended. To be called `alone`."""
    whole = whole_size(path)
    if whole is not None:
        with open(path, "r+b") as file:
            if file.seek(0, os.SEEK_END) > whole:
                file.truncate(whole)
                os.fsync(file.fileno())
    with contextlib.suppress(FileNotFoundError):  # a note that is not whole: its writer died before it appended
        os.unlink(path + PENDING)


def append(path: str, data: bytes) -> int:
    """Note how long the file is, append, take the note away; each step is on disk before the next. Returns the new
    size. What cannot be appended whole (a full disk, Ctrl-C) is not there, and the error is told. `alone`."""
    created = not os.path.exists(path)
    with open(path, "ab", buffering=0) as file:  # nothing is left in a buffer that closing would write after all
        size = file.seek(0, os.SEEK_END)
        if size and not _ends_in_newline(path):
            data = b"\n" + data  # somebody else's last line lacks its end
        with open(path + PENDING, "wb") as note:
            note.write(b"%d\n" % size)
            note.flush()
            os.fsync(note.fileno())
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[file.write(rest) :]
            os.fsync(file.fileno())
        except BaseException:
            with contextlib.suppress(OSError):
                file.truncate(size)
                os.unlink(path + PENDING)
            raise
    os.unlink(path + PENDING)
    if created:
        _sync_folder(path)
    return size + len(data)


def whole_size(path: str) -> int | None:
    """Up to where the file is whole while somebody appends, or died appending; None if all of it is."""
    try:
        with open(path + PENDING, "rb") as note:
            text = note.read().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


class WholePart:
    """A file that may be growing, as a reader may see it: what is being appended, or was left by a dead writer, is
    absent."""

    def __init__(self, file: BinaryIO, path: str) -> None:
        self._file, self._path = file, path

    def read1(self, size: int) -> bytes:
        before = whole_size(self._path)
        block: bytes = self._file.read1(size)  # type: ignore[attr-defined]
        # afterwards too, since an append may have begun; and before, since a dead writer's part may be cut off by now
        known = [whole for whole in (before, whole_size(self._path)) if whole is not None]
        if not known:
            return block
        begin = self._file.tell() - len(block)
        return block[: max(0, min(known) - begin)]


def _ends_in_newline(path: str) -> bool:
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _sync_folder(path: str) -> None:
    if os.name == "nt":  # a folder cannot be opened there
        return
    folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
