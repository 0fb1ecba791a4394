"""What can go wrong with a record: one type for each way a person can react. Every message says what to do."""

from __future__ import annotations

from collections.abc import Callable


class StoreError(Exception):
    """A record cannot be used as asked."""


class Missing(StoreError):
    """There is no such record, run or search."""


class Locked(StoreError):
    """Another process is writing; wait or end it."""


class Full(StoreError):
    """Nothing can be written: the disk is full, a limit is reached, or the place is read-only. What was written before
    is intact."""


class Foreign(StoreError):
    """Not a record of ours, one of a newer version, or one on a file system where databases break."""


class Damaged(StoreError):
    """The file was changed by something that is not a database. What can still be read, can be exported."""


class Conflict(StoreError):
    """What is to be written differs from what is recorded in its place; both are named."""


Skip = Callable[[StoreError], None]  # told of what cannot be read, which is then left out
