"""The paper's printed figures for the places of a table of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paccf.audit.tables.table import Column, Printed, Value
from paccf.published import table as published_table
from paccf.published.tables import written

# our column -> the paper's column, or the two ends of an interval
Match = Mapping[str, str | tuple[str, str]]


def beside(
    published: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[Value]],
    keys: Mapping[str, str],
    match: Match,
    fixed: Mapping[str, str] | None = None,
) -> tuple[Printed, ...]:
    """The printed figures of the paper's table ``published`` for these rows. ``keys`` says which of our columns name a
    row and what the paper calls them; ``fixed`` are keys of the paper that our rows do not carry."""
    theirs = published_table(published)
    places = {column.key: place for place, column in enumerate(columns)}
    by_key = {}
    for row in theirs.rows:
        if all(written(getattr(row, k)) == text for k, text in (fixed or {}).items()):
            by_key[tuple(written(getattr(row, column)) for column in keys.values())] = row
    found = []
    for place, ours in enumerate(rows):
        other = by_key.get(tuple(str(ours[places[key]]) for key in keys))
        if other is None:
            continue
        for key, column in match.items():
            if key not in places:
                continue
            if isinstance(column, str):
                text = written(getattr(other, column))
            else:
                text = f"[{written(getattr(other, column[0]))}, {written(getattr(other, column[1]))}]"
            found.append(Printed(place, key, text))
    return tuple(found)
