"""What the commands about records share: where a record is, and what cannot be read of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from paccf.cli.output import BadInput, lab, say

if TYPE_CHECKING:
    from paccf.record.errors import StoreError
    from paccf.record.store import Store
    from paccf.record.values import RunInfo

RECORD = "run.sqlite"  # the record in a run folder
SHOWN = 5

SKIP_BAD = click.option("--skip-bad", is_flag=True, help="Leave out what is damaged, count it, name the first.")
RUN_NAME = click.option("--run", "run_name", metavar="NAME", help="Which run, if the record holds several.")


def record_of(place: str) -> str:
    """The database of a run folder, a file or a URL; `BadInput` if there is none."""
    if "://" in place:
        return place
    path = Path(place) / RECORD if Path(place).is_dir() else Path(place)
    if not path.is_file():
        raise BadInput(f"there is no record at {place}", "Name a run folder, a record's file, or a postgresql:// URL.")
    return str(path)


@contextmanager
def reading(place: str, damaged: bool = False) -> Iterator[Store]:
    """The record at ``place``, for reading. What it refuses is `BadInput`."""
    lab("sqlalchemy", "reading a record")
    from paccf.record.errors import StoreError
    from paccf.record.store import Store

    try:
        with Store.open(record_of(place), readonly=True, damaged=damaged) as store:
            yield store
    except StoreError as error:
        raise BadInput(str(error)) from None


def chosen(runs: list[RunInfo], name: str | None, place: str) -> RunInfo:
    """The run ``name``, or the only one."""
    names = [run.name for run in runs]
    if name is not None and name not in names:
        raise BadInput(f"{place} holds no run {name}; it holds {', '.join(names) or 'none'}")
    if not runs or (name is None and len(runs) > 1):
        raise BadInput(f"{place} holds {len(runs)} runs" + (f" ({', '.join(names)}): say --run NAME" if runs else ""))
    return next(run for run in runs if name in (None, run.name))


class Lost:
    """Counts what cannot be read, and says so at the end; also that of a damaged file more may be missing."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[str] = []
        self.problem = ""

    def __call__(self, error: StoreError) -> None:
        self.count += 1
        if len(self.first) < SHOWN:
            self.first.append(str(error))

    def __bool__(self) -> bool:
        return bool(self.count or self.problem)

    def tell(self) -> None:
        """On stderr, if there is anything."""
        if self.problem:
            say(f"The file is damaged: {self.problem}", err=True)
        if self.count:
            say(f"Left out, because it cannot be read: {self.count:,}. The first:", err=True)
            for line in self.first:
                say(f"  {line}", err=True)
