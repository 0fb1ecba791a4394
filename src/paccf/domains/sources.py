"""Where tasks come from, and how they are dealt out for calibration and for test.

A draw is a value: (domain, source, split, seed) decides the tasks and their order. One seed cuts a source once, so that
calibration and test never share a task, however many of each are asked for; and because the cut is a uniform
permutation by that seed, both are draws of one pool, exchangeable. Sources of the same tasks are cut alike.

Offline: sources say which tasks can be solved.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count as counting
from pathlib import Path
from typing import Literal, cast, get_args

from paccf.domains.data import Files
from paccf.domains.registry import part, unknown
from paccf.search.chance import chance
from paccf.search.tree import Task

Split = Literal["calibration", "test", "all"]
PATIENCE = 1_000  # ours: so many repeats in a row, and a stream is dry


@dataclass(frozen=True, slots=True)
class Finite:
    """A pool of tasks, cut in halves by the seed. ``excluded`` says why tasks of the benchmark are left out of it:
    decided before any run, for both arms alike."""

    tasks: Sequence[Task]
    excluded: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _distinct(self.tasks, "the pool")
        if also := {task.id for task in self.tasks} & set(self.excluded):
            raise ValueError(f"the task {min(also)} is in the pool and excluded from it")


@dataclass(frozen=True, slots=True)
class Stream:
    """Tasks without end: ``draw(seed, i)``. Equal content has to have an equal id: a repeat is dropped, and what is
    left is dealt out by the toss of a coin."""

    draw: Callable[[int, int], Task]


@dataclass(frozen=True, slots=True)
class Parted:
    """Two pools that the source keeps apart, like the test set of a publication and its neighbours; the seed decides
    the order in each. Refused if they share a task."""

    calibration: Sequence[Task]
    test: Sequence[Task]

    def __post_init__(self) -> None:
        _distinct([*self.calibration, *self.test], "calibration and test together")


def _distinct(tasks: Sequence[Task], where: str) -> None:
    seen: set[str] = set()
    for task in tasks:
        if task.id in seen:
            raise ValueError(f"the task {task.id} is twice in {where}")
        seen.add(task.id)


Pool = Finite | Stream | Parted


@dataclass(frozen=True, slots=True)
class Source:
    """A source of tasks. ``pool`` is given the files of benchmarks and what the user wrote after ``name:``; ``takes``
    says what that may be, empty if nothing; ``files`` are the data files it reads."""

    about: str
    pool: Callable[[Files, str], Pool]
    files: tuple[str, ...] = ()
    takes: str = ""


def sources(domain: str) -> Mapping[str, Source]:
    """The sources of ``domain`` by name; the first is the default and needs no files."""
    return cast("Mapping[str, Source]", part(domain, "tasks").SOURCES)


def pool(domain: str, source: str = "", data: str | Path | None = None) -> Pool:
    """The tasks of a source, uncut. Raises ValueError for a source that is not known or cannot be read."""
    name, colon, argument = source.partition(":")
    there = sources(domain)
    name = name or next(iter(there))
    if name not in there:
        raise unknown(f"source of {domain} called", name, there)
    found = there[name]
    if colon and not found.takes:
        raise ValueError(f"the source {name} of {domain} takes nothing after its name, not {source!r:.80}")
    return found.pool(Files(data), argument.strip())


def tasks(
    domain: str,
    source: str,
    split: Split,
    seed: int,
    count: int | None = None,
    *,
    skip: int = 0,
    without: Collection[str] = (),
    data: str | Path | None = None,
) -> tuple[Task, ...]:
    """``count`` tasks of a split in the order that the seed decides, all of them if `None`; the first ``skip`` are left
    out, and those whose ids are in ``without``.

    One seed is one cut: its calibration and its test never share a task. Who tests a margin that was calibrated at
    another seed, or on another source of the same tasks, passes the ids that calibrated it as ``without``: what is left
    is disjoint from them, and still a uniform draw of the rest. Raises ValueError if there are not enough.
    """
    if split not in get_args(Split):
        raise unknown("split", split, get_args(Split))
    found = dealt(pool(domain, source, data), split, domain, seed)
    if isinstance(found, Iterator) and count is None:
        raise ValueError(f"the source {source or 'generated'} of {domain} has no end: say how many tasks")
    left = set(without)
    chosen: list[Task] = []
    wanted = None if count is None else skip + count
    for task in found:
        if wanted is not None and len(chosen) >= wanted:
            break
        if task.id not in left:
            chosen.append(task)
    if wanted is not None and len(chosen) < wanted:
        kind = "" if split == "all" else f" for {split}"
        after = f" after {skip:,} skipped" if skip else ""
        less = f" that are not among the {len(left):,} left out" if left else ""
        raise ValueError(
            f"{count:,} tasks{kind}{after}: the source {source or 'by default'} of {domain} has {len(chosen):,}{less}"
        )
    return tuple(chosen[skip:])


def dealt(pool: Pool, split: Split, domain: str, seed: int) -> Sequence[Task] | Iterator[Task]:
    """The tasks of a split, in order. Where a task comes depends on nothing but its id, the domain and the seed: not on
    the order of a file, nor on the name of a source."""

    def place(task: Task) -> tuple[float, str]:
        return chance(seed, domain, task.id, "split"), task.id

    if isinstance(pool, Stream):
        return _dealt_out(pool, split, seed, place)
    if isinstance(pool, Parted):
        low, high = sorted(pool.calibration, key=place), sorted(pool.test, key=place, reverse=True)
    else:
        order = sorted(pool.tasks, key=place)
        middle = len(order) // 2
        low, high = order[:middle], order[middle:][::-1]
    return low if split == "calibration" else high if split == "test" else low + high[::-1]


def _dealt_out(stream: Stream, split: Split, seed: int, place: Callable[[Task], tuple[float, str]]) -> Iterator[Task]:
    """The different tasks of a stream that belong to a split."""
    seen: set[str] = set()
    repeats = 0
    for i in counting():
        task = stream.draw(seed, i)
        if task.id not in seen:
            seen.add(task.id)
            repeats = 0
            if split == "all" or (place(task)[0] < 0.5) == (split == "calibration"):
                yield task
        elif (repeats := repeats + 1) >= PATIENCE:
            return


def excluded(domain: str, source: str = "", data: str | Path | None = None) -> Mapping[str, str]:
    """The tasks that are left out of a source, and why."""
    found = pool(domain, source, data)
    return found.excluded if isinstance(found, Finite) else {}


def digest_of(tasks: Sequence[Task]) -> str:
    """A hash of the ids in their order: what a record says about which tasks it is of."""
    return sha256("\n".join(task.id for task in tasks).encode()).hexdigest()[:16]
