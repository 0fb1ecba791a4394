"""Hands to play, generated or from the Tree-of-Thoughts file. Says which are solvable, so it is not for the online
path."""

from __future__ import annotations

import csv
import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from itertools import combinations_with_replacement
from pathlib import Path

from paccf.domains.data import DataFile, Files
from paccf.domains.game24.oracle import reachable
from paccf.domains.game24.world import CARDS, LARGEST, hand, task_of
from paccf.domains.sources import Finite, Parted, Pool, Source
from paccf.search.tree import Task

TOT = "game24/24.csv"
TEST = "901-1000"  # ranks; the harder hundred of Tree of Thoughts, section 4.1
NEAR = "821-900,1001-1080"  # ours: as many ranks before as behind the test set, so neither easier nor harder


def hands() -> list[Task]:
    """All 1,820 hands of four numbers from 1 to 13, in order of their numbers."""
    return [hand(numbers) for numbers in combinations_with_replacement(range(1, LARGEST + 1), CARDS)]


@cache
def solvable() -> tuple[Task, ...]:
    """The 1,362 hands that 24 can be made of, in the same order. About a second when called first."""
    return tuple(task for task in hands() if reachable(task.data))


def ranked(path: Path) -> dict[int, Task]:
    """The puzzles of the Tree-of-Thoughts file by rank, the easiest first by the time that people took. Raises
    ValueError that names file and line."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path}: no CSV file in UTF-8: {error}") from None
    if not rows or [cell.strip() for cell in rows[0][:2]] != ["Rank", "Puzzles"]:
        raise ValueError(f"{path}, line 1: the columns have to begin with Rank,Puzzles")
    found: dict[int, Task] = {}
    for line, row in enumerate(rows[1:], 2):
        if not row:
            continue
        where = f"{path}, line {line}"
        if len(row) < 2 or not re.fullmatch("[0-9]{1,6}", row[0].strip()):
            raise ValueError(f"{where}: a rank and a puzzle are needed, like 901,4 5 6 10; not {','.join(row)!r:.80}")
        try:
            task = task_of(row[1])
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        if int(row[0]) in found:
            raise ValueError(f"{where}: the rank {int(row[0])} is there twice")
        found[int(row[0])] = task
    if not found:
        raise ValueError(f"{path}: no puzzles")
    return found


def irregular(path: Path) -> list[str]:
    """What is odd about the puzzles of a file."""
    puzzles = ranked(path)
    odd = [f"rank {rank}: 24 cannot be made of {task.id}" for rank, task in puzzles.items() if not reachable(task.data)]
    if sorted(puzzles) != list(range(1, len(puzzles) + 1)):
        odd.append(f"the ranks are not 1 to {len(puzzles)}")
    seen: dict[str, int] = {}
    for rank, task in puzzles.items():
        if task.id in seen:
            odd.append(f"ranks {seen[task.id]} and {rank} are one hand, {task.id}")
        seen[task.id] = rank
    return odd


def _tot(files: Files, argument: str) -> Pool:
    """``901-1000/821-900,1001-1080``: test and calibration by rank; ``821-1080``: one pool; nothing: all ranks."""
    path = files.path(TOT)
    puzzles = {rank: task for rank, task in ranked(path).items() if reachable(task.data)}
    if not argument:
        return Finite(tuple(puzzles.values()))
    test, slash, calibration = argument.partition("/")
    first = _ranks(test, puzzles)
    if not slash:
        return Finite([puzzles[rank] for rank in first])
    second = _ranks(calibration, puzzles)
    if both := sorted(set(first) & set(second)):
        raise ValueError(
            f"the ranks {test} and {calibration} overlap, first at {both[0]}: a task calibrates a margin or tests it"
        )
    ordered = sorted(second)
    easier = sum(bisect_left(ordered, rank) for rank in first) / (len(first) * len(second))
    if not 1 / 3 <= easier <= 2 / 3:  # ours
        share = "all" if easier in (0, 1) else f"in {max(easier, 1 - easier):.0%} of all pairs (at most 67% may be)"
        raise ValueError(
            f"the ranks {calibration} are {share} {'easier' if easier > 0.5 else 'harder'} than {test}: "
            f"such tasks are not exchangeable, and the margin promises nothing. Take neighbours on both sides, like "
            f"{TEST}/{NEAR}, or one pool that the seed cuts, like {min(*first, *second)}-{max(*first, *second)}"
        )
    return Parted([puzzles[rank] for rank in second], [puzzles[rank] for rank in first])


def _ranks(text: str, puzzles: dict[int, Task]) -> Sequence[int]:
    found: list[int] = []
    for word in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,6})(?:\s*-\s*([0-9]{1,6}))?\s*", word)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last:
            raise ValueError(f"{text!r:.80} are no ranks: write {TEST} or {NEAR}")
        if first not in puzzles or last not in puzzles:
            raise ValueError(
                f"the ranks {word.strip()} are not all there: they go from {min(puzzles)} to {max(puzzles)}"
            )
        found += [rank for rank in range(first, last + 1) if rank in puzzles]
    if len(set(found)) < len(found):
        raise ValueError(f"the ranks {text:.80} overlap among themselves")
    return found


SOURCES = {
    "generated": Source("all 1,362 hands of 1 to 13 that 24 can be made of", lambda files, _: Finite(solvable())),
    "tot": Source(
        "the Tree-of-Thoughts puzzles; as they are, one pool",
        _tot,
        (TOT,),
        takes="ranks: one pool like 821-1080, or test and calibration like 901-1000/821-900,1001-1080",
    ),
    "tot-test": Source(
        f"test: ranks {TEST}, as in Tree of Thoughts; calibration: the neighbours {NEAR}",
        lambda files, _: _tot(files, f"{TEST}/{NEAR}"),
        (TOT,),
    ),
    "tot-hard": Source(
        "the ranks 821-1080, around the Tree-of-Thoughts test set, as one pool: exchangeable to the letter",
        lambda files, _: _tot(files, "821-1080"),
        (TOT,),
    ),
}

FILES = (
    DataFile(
        TOT,
        "1,362 puzzles of the Game of 24, ranked by the time that people took",
        "MIT",
        "https://github.com/princeton-nlp/tree-of-thought-llm",
        "b9f12b3e36d987a3c714c4cef17d89a137d7c59da26532fcfb93b4821d8111b5",
        48_235,
        ("princeton-nlp/tree-of-thought-llm/ab400345c5ea39d28ea6d7d3be0e417b11113c87/src/tot/data/24/24.csv",),
        irregular,
    ),
)
