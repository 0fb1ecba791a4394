"""From one record into another: what `paccf import` and `paccf merge` are made of.

What both have must be equal, and a difference is a `Conflict` that names both; so copying again copies nothing, and
parts of one run come together in any order. A batch is one transaction: what was copied before a fault stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from paccf.record.errors import Foreign, Skip
from paccf.record.store import Begun, Store
from paccf.record.tape import Kept, read_rows, write_rows
from paccf.record.values import Outcome, Search
from paccf.record.writing import CertificateText, Value

Item = TypeVar("Item")

BATCH = 500  # ours: rows of the tape a transaction
TRACES = 16  # ours: searches a transaction


@dataclass(slots=True)
class Copied:
    """What the source has and the target has now. ``answers`` and ``open`` are the tape's rows with and without an
    answer; ``new`` those of them that were not there."""

    searches: int = 0
    outcomes: int = 0
    labels: int = 0
    certificates: int = 0
    exclusions: int = 0
    answers: int = 0
    open: int = 0
    new: int = 0
    kept: int = 0  # answers that differ, where the target's stayed

    def add(self, other: Copied) -> None:
        """Count what was copied from another source too."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


def copy_run(source: Store, target: Store, run: str, skip: Skip | None = None, begun: Begun | None = None) -> Copied:
    """Bring the run ``run`` with its searches at all budgets, labels in all modes, certificates and exclusions; not the
    tape. Of a task that both exclude, the target's reason stands. What is damaged raises, or is handed to ``skip`` and
    left out. ``begun``: how the target enters it, if not as the source did."""
    _apart(source, target)
    target.begin_as(begun or source.entry(run))
    copied = Copied()
    there = {(e.domain, e.task) for e in target.exclusions(run)}
    small: list[Value] = [e for e in source.exclusions(run, skip=skip) if (e.domain, e.task) not in there]
    copied.exclusions = len(small)
    certificates = source.certificates(run, skip=skip)
    copied.certificates = len(certificates)
    small += [CertificateText(*cell, text) for cell, text in certificates.items()]
    target.save_many(run, small)
    for batch in _batches(source.whole(run, skip=skip), TRACES):
        values = [value for trace in batch for value in trace]
        target.save_many(run, values)
        copied.searches += sum(isinstance(value, Search) for value in values)
        copied.outcomes += sum(isinstance(value, Search | Outcome) for value in values)
        copied.labels += sum(not isinstance(value, Search | Outcome) for value in values)
    return copied


def copy_tape(
    source: Store, target: Store, *, keep: bool = False, skip: Skip | None = None, into: Copied | None = None
) -> Copied:
    """Bring the whole tape, of all runs. An answer that differs from the target's is a `Conflict`, or with ``keep`` the
    target's stays. Attempts that both have counted are not added up: the larger count stands."""
    _apart(source, target)
    copied = Copied() if into is None else into
    with source.database.read() as connection:
        for batch in _batches(read_rows(connection, skip), BATCH):
            how = target.database.write(write_rows, (batch, keep))
            copied.answers += sum(row.reply is not None for row in batch)
            copied.open += sum(row.reply is None for row in batch)
            copied.new += how.count(Kept.NEW)
            copied.kept += how.count(Kept.THEIRS)
    return copied


def _apart(source: Store, target: Store) -> None:
    if source.database.url == target.database.url:
        raise Foreign(f"{source.database.name} is both what to copy and where to; name two records")


def _batches(items: Iterable[Item], size: int) -> Iterator[Sequence[Item]]:
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch
