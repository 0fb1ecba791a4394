"""The record as flat tables: typed rows one at a time, columns for NumPy, a frame for Polars.

Rows of searches are those at the largest budget, whose traces the smaller ones share; with ``budget`` among the
conditions they are what those searches saw. `outcomes` has a row for every budget in any case.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from paccf.record.errors import Skip
from paccf.record.rows import COSTS
from paccf.record.store import Run, Store
from paccf.record.tape import read_rows
from paccf.record.values import Key, Outcome, Search

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

# what a cell holds: text, int, float, bool, a list of texts, a list of floats, a mapping from texts to floats
Kind = Literal["text", "whole", "number", "flag", "texts", "numbers", "map"]
FlatRow = tuple[Any, ...]


class Column(NamedTuple):
    """``nullable``: a cell may be `None`."""

    name: str
    kind: Kind
    nullable: bool = False


class Flat(NamedTuple):
    """A table: its columns, and the rows that one search adds to it (`None` where rows do not come from searches)."""

    about: str
    columns: tuple[Column, ...]
    of_search: Callable[[Search], Iterable[FlatRow]] | None = None


_KEY = (
    Column("model", "text"),  # its fingerprint: whoever reads one file alone sees whether it was SIMULATED
    Column("phase", "text"),
    Column("domain", "text"),
    Column("controller", "text"),
    Column("arm", "text"),
    Column("budget", "whole"),
    Column("task", "text"),
    Column("seed", "whole"),
)
REQUESTS = ("propose", "evaluate", "appraise", "reflect")


def _key(key: Key) -> FlatRow:
    return (key.phase, key.domain, key.controller, key.arm, key.budget, key.task, key.seed)


def _outcome(outcome: Outcome) -> FlatRow:
    costs = outcome.costs
    answer = None if outcome.answer is None else list(outcome.answer)
    ended = (outcome.end, outcome.solved, outcome.utility, answer, outcome.solution, outcome.failure)
    requests = [costs.requests.get(kind, 0) for kind in REQUESTS]
    spent = [getattr(costs, name) for name in COSTS]
    return (*_key(outcome.key), *ended, outcome.frontiers, costs.total, *requests, *spent, dict(outcome.metrics))


def _frontiers(search: Search) -> Iterator[FlatRow]:
    key = _key(search.outcome.key)
    for place, f in enumerate(search.frontiers):
        kept = sum(c.kept for c in f.candidates)
        yield (*key, place, list(f.path), f.channel, f.spent, len(f.candidates), kept)


def _candidates(search: Search) -> Iterator[FlatRow]:
    key = _key(search.outcome.key)
    for frontier, f in enumerate(search.frontiers):
        for place, c in enumerate(f.candidates):
            seen = None if c.observations is None else list(c.observations)
            label = None if f.protected is None else f.protected[place]
            yield (
                *(*key, frontier, place, list(f.path), c.key, c.text, seen, c.score),
                *(c.eligible, c.native, c.gap, c.kept, label),
            )


def _nodes(search: Search) -> Iterator[FlatRow]:
    key = _key(search.outcome.key)
    for place, n in enumerate(search.nodes):
        state = (n.executed, n.terminal, n.solved, n.dead, n.pruned)
        yield (*key, place, list(n.path), n.score, n.visits, n.value, *state)


def _effects(search: Search) -> Iterator[FlatRow]:
    key = _key(search.outcome.key)
    yield from ((*key, place, line) for place, line in enumerate(search.effects))


TABLES: dict[str, Flat] = {
    "outcomes": Flat(
        "one row a search and budget: how it ended, its bill",
        (
            *_KEY,
            Column("end", "text"),
            Column("solved", "flag"),
            Column("utility", "number"),
            Column("answer", "texts", True),
            Column("solution", "text"),
            Column("failure", "text"),
            Column("frontiers", "whole"),
            Column("requests", "whole"),
            *[Column(kind, "whole") for kind in REQUESTS],
            *[Column(name, "whole") for name in COSTS],
            Column("metrics", "map"),
        ),
    ),
    "frontiers": Flat(
        "one row a frontier, in order of admission",
        (
            *_KEY,
            Column("frontier", "whole"),
            Column("path", "texts"),
            Column("channel", "text"),
            Column("spent", "whole"),
            Column("candidates", "whole"),
            Column("kept", "whole"),
        ),
        _frontiers,
    ),
    "candidates": Flat(
        "one row a candidate of a frontier: all observations, decisions, label",
        (
            *_KEY,
            Column("frontier", "whole"),
            Column("place", "whole"),
            Column("path", "texts"),
            Column("candidate", "text"),
            Column("text", "text"),
            Column("observations", "numbers", True),
            Column("score", "number", True),
            Column("eligible", "flag"),
            Column("native", "flag"),
            Column("gap", "flag", True),
            Column("kept", "flag"),
            Column("protected", "flag", True),
        ),
        _candidates,
    ),
    "nodes": Flat(
        "one row a node of the final tree, parents first",
        (
            *_KEY,
            Column("place", "whole"),
            Column("path", "texts"),
            Column("score", "number", True),
            Column("visits", "whole"),
            Column("value", "number"),
            Column("executed", "flag"),
            Column("terminal", "flag"),
            Column("solved", "flag", True),
            Column("dead", "flag"),
            Column("pruned", "flag"),
        ),
        _nodes,
    ),
    "effects": Flat(
        "one row an effect: what the controller asked and was told, where a journal was kept",
        (*_KEY, Column("place", "whole"), Column("effect", "text")),
        _effects,
    ),
    "exclusions": Flat(
        "tasks left out of both arms, and why",
        (Column("domain", "text"), Column("task", "text"), Column("reason", "text")),
    ),
    "certificates": Flat(
        "frozen margins", (Column("domain", "text"), Column("controller", "text"), Column("certificate", "text"))
    ),
    "tape": Flat(
        "one row a request of the whole tape, of all runs: what was asked and answered",
        (
            Column("key", "text"),
            Column("model", "text"),
            Column("parameters", "text"),
            Column("kind", "text"),
            Column("draw", "whole"),
            Column("prompt", "text"),
            Column("begun", "whole"),
            Column("answer", "text", True),
            Column("prompt_tokens", "whole", True),
            Column("completion_tokens", "whole", True),
            Column("finish", "text", True),
            Column("latency", "number", True),
            Column("attempts", "whole", True),
            Column("failure", "text", True),
        ),
    ),
}


def rows(
    store: Store, run: Run, table: str, *, labels: str | None = None, skip: Skip | None = None, **where: Any
) -> Iterator[FlatRow]:
    """The rows of ``table`` (one of `TABLES`), one at a time: memory does not grow with their number. ``labels`` is the
    mode that `protected` is filled from, ``where`` chooses searches as `Store.searches` does. What is damaged raises,
    or is handed to ``skip`` and left out."""
    flat = TABLES[table]
    if flat.of_search is not None:
        found = store.searches(run, labels, skip=skip, **where)
        chosen = found if "budget" in where else largest(found)
        model = store.run(run).model
        for search in chosen:
            yield from ((model, *row) for row in flat.of_search(search))
    elif table == "outcomes":
        model = store.run(run).model
        yield from ((model, *_outcome(outcome)) for outcome in store.outcomes(run, skip=skip, **where))
    elif table == "exclusions":
        yield from ((e.domain, e.task, e.reason) for e in store.exclusions(run))
    elif table == "certificates":
        yield from ((*cell, text) for cell, text in store.certificates(run).items())
    else:
        with store.database.read() as connection:
            for row in read_rows(connection, skip):
                q, reply = row.question, row.reply
                asked = (q.key.hex(), q.model, q.parameters, q.kind, q.draw, q.prompt, row.begun)
                yield (*asked, *((None,) * 6 if reply is None else reply), row.failure)


def largest(found: Iterable[Search]) -> Iterator[Search]:
    """Of searches that differ in their budget alone, in the order that a store gives them, the largest."""
    for _, same in groupby(found, key=lambda s: (_key(s.outcome.key)[:4], _key(s.outcome.key)[5:])):
        yield next(same)


def to_numpy(store: Store, run: Run, table: str, **how: Any) -> dict[str, NDArray[Any]]:
    """The table as one array a column; ``how`` as for `rows`. Whole numbers are int64 and flags are bool; where a cell
    may be missing, whole numbers are float64 with NaN, and flags are int8 with -1. Texts and lists are objects."""
    import numpy as np

    columns = TABLES[table].columns
    cells = _columns(rows(store, run, table, **how), len(columns))
    return {column.name: _array(np, column, values) for column, values in zip(columns, cells, strict=True)}


def _array(numpy: Any, column: Column, values: Sequence[Any]) -> NDArray[Any]:
    made: NDArray[Any]
    match column.kind:
        case "flag" if column.nullable:
            made = numpy.array([-1 if v is None else int(v) for v in values], numpy.int8)
        case "flag":
            made = numpy.array(values, numpy.bool_)
        case "whole" if not column.nullable:
            made = numpy.array(values, numpy.int64)
        case "whole" | "number":
            made = numpy.array([float("nan") if v is None else v for v in values], numpy.float64)
        case _:
            made = numpy.empty(len(values), object)
            made[:] = values
    return made


def to_polars(store: Store, run: Run, table: str, **how: Any) -> pl.DataFrame:
    """The table as a Polars frame; ``how`` as for `rows`. Texts are valid Unicode in it: lone surrogates are written
    out, and a mapping is JSON. Raises ModuleNotFoundError where Polars is not installed."""
    import polars as pl

    columns = TABLES[table].columns
    cells = _columns((unicode_row(columns, row) for row in rows(store, run, table, **how)), len(columns))
    schema = polars_schema(table)
    return pl.DataFrame({c.name: list(values) for c, values in zip(columns, cells, strict=True)}, schema=schema)


def polars_schema(table: str) -> dict[str, Any]:
    """The types of a table's columns."""
    import polars as pl

    types: dict[Kind, Any] = {
        "text": pl.String,
        "whole": pl.Int64,
        "number": pl.Float64,
        "flag": pl.Boolean,
        "texts": pl.List(pl.String),
        "numbers": pl.List(pl.Float64),
        "map": pl.String,
    }
    return {column.name: types[column.kind] for column in TABLES[table].columns}


def unicode_row(columns: Sequence[Column], row: FlatRow) -> FlatRow:
    """``row`` for what cannot hold every Python string: lone surrogates written out, mappings as JSON."""
    return tuple([_unicode(column, cell) for column, cell in zip(columns, row, strict=True)])


def _unicode(column: Column, cell: Any) -> Any:
    if cell is None or column.kind in ("whole", "number", "flag", "numbers"):
        return cell
    if column.kind == "map":
        return json.dumps(cell, sort_keys=True)
    if column.kind == "texts":
        return [written_out(text) for text in cell]
    return written_out(cell)


def written_out(text: str) -> str:
    """``text`` with lone surrogates as ``\\udXXX``: what a file in UTF-8 can hold."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _columns(found: Iterable[FlatRow], width: int) -> list[tuple[Any, ...]]:
    """Rows as columns."""
    return list(zip(*found, strict=True)) or [()] * width
