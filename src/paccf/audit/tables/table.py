"""A table as a value: typed cells, how they are written, and where they come from.

Cells keep full precision; how many digits are shown is the column's business and that of `paccf.report.tables`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from paccf.audit.resample import Interval

FINEST = 6  # decimals of an observation, see `paccf.method.scores`

# text, a count, a figure, an interval, or nothing to show ("--")
Value = str | int | float | Interval | None


@dataclass(frozen=True, slots=True)
class Column:
    """One column. ``key`` names it in CSV and JSON, ``head`` on paper. ``unit`` is "%" or "" (said in the head's place
    of a cell, as the paper does), ``signed`` writes a plus, ``exact`` writes further decimals
    where they are not zero, up to ``FINEST`` (a margin rounded down is not the margin)."""

    key: str
    head: str
    decimals: int = 2
    unit: str = ""
    signed: bool = False
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """Where a table comes from: the query in words, and how many records it was counted over."""

    query: str
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Printed:
    """The published figure at a place of the table, digit for digit."""

    row: int
    column: str
    text: str


@dataclass(frozen=True)
class Table:
    """One table of the audit. ``breaks`` are rows before which a rule is drawn; ``printed`` are the paper's figures for
    the same places, where the paper has them."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    source: Source
    notes: tuple[str, ...] = ()
    breaks: frozenset[int] = frozenset()
    printed: tuple[Printed, ...] = ()
    simulated: bool = False
    caveats: tuple[str, ...] = ()  # of the run, shown in every format
    of: str = ""  # the record: name of the run and where it is

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"{self.name}: a row has not one cell a column")

    def column(self, key: str) -> int:
        """The place of a column."""
        return next(i for i, column in enumerate(self.columns) if column.key == key)

    def values(self, key: str) -> list[Value]:
        """One column."""
        place = self.column(key)
        return [row[place] for row in self.rows]

    def find(self, **keys: Value) -> dict[str, Value]:
        """The row with these cells, by column key; LookupError if there is none."""
        places = {self.column(key): value for key, value in keys.items()}
        for row in self.rows:
            if all(row[place] == value for place, value in places.items()):
                return {column.key: value for column, value in zip(self.columns, row, strict=True)}
        raise LookupError(f"the table {self.name} has no row with {keys}")


def written(value: Value, column: Column) -> str:
    """A cell as it is shown, without its unit."""
    if value is None:
        return "--"
    if isinstance(value, str):
        return value
    if isinstance(value, Interval):
        return f"[{value.lo:.{column.decimals}f}, {value.hi:.{column.decimals}f}]".replace("-0.00,", "0.00,")
    if isinstance(value, int):
        return f"{value:+,}" if column.signed else f"{value:,}"
    text = f"{value:.{column.decimals}f}"
    if column.exact:
        whole, _, part = f"{value:.{FINEST}f}".partition(".")
        text = f"{whole}.{part.rstrip('0').ljust(column.decimals, '0')}"
    if float(text) == 0:
        text = text.lstrip("-")
    return f"+{text}" if column.signed and not text.startswith("-") else text
