"""Flat tables as files: JSON lines, CSV, Parquet. Rows are written as they are read, so memory stays that of one
search; a file is there whole or not at all."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any, Literal

from paccf.method.certificate import whole_file
from paccf.record.flat import TABLES, Column, FlatRow, polars_schema, unicode_row, written_out

Format = Literal["jsonl", "csv", "parquet"]


def json_line(columns: Sequence[Column], row: FlatRow) -> bytes:
    """A row as an object in ASCII: any Python string comes back from it as it was."""
    return json.dumps({c.name: cell for c, cell in zip(columns, row, strict=True)}, allow_nan=False).encode() + b"\n"


def write_jsonl(file: IO[bytes], table: str, rows: Iterable[FlatRow]) -> int:
    """Returns how many rows."""
    columns, count = TABLES[table].columns, 0
    for row in rows:
        file.write(json_line(columns, row))
        count += 1
    return count


def write_csv(file: IO[bytes], table: str, rows: Iterable[FlatRow]) -> int:
    """UTF-8, a line of names first; an empty cell is missing, lists and mappings are JSON. Returns how many rows."""
    columns, count = TABLES[table].columns, 0
    writer = csv.writer(_Utf8(file), lineterminator="\n")
    writer.writerow([c.name for c in columns])
    for row in rows:
        writer.writerow([_cell(c, cell) for c, cell in zip(columns, row, strict=True)])
        count += 1
    return count


class _Utf8:
    """A text that is written goes into ``file`` as UTF-8."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        return self._file.write(text.encode())


def _cell(column: Column, cell: Any) -> str:
    if cell is None:
        return ""
    match column.kind:
        case "text":
            return written_out(cell)
        case "flag":
            return "true" if cell else "false"
        case "whole" | "number":
            return repr(cell)
        case _:
            return json.dumps(cell, sort_keys=column.kind == "map")


def write_parquet(path: str | os.PathLike[str], table: str, rows: Iterable[FlatRow]) -> int:
    """By way of JSON lines in a file beside it, so that Polars need not hold the table. Returns how many rows. Raises
    ModuleNotFoundError where Polars is not installed."""
    import polars as pl

    columns, target = TABLES[table].columns, Path(path)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f"{target.name}.") as folder:
        lines, made = Path(folder) / "rows.jsonl", Path(folder) / "made.parquet"
        with lines.open("wb") as file:
            count = write_jsonl(file, table, (unicode_row(columns, row) for row in rows))
        schema = polars_schema(table)
        if count:
            pl.scan_ndjson(lines, schema=schema).sink_parquet(made)
        else:
            pl.DataFrame(schema=schema).write_parquet(made)
        os.replace(made, target)
    return count


def write(path: str | os.PathLike[str], table: str, rows: Iterable[FlatRow], form: Format) -> int:
    """The rows of ``table`` as a file; how many they were."""
    if form == "parquet":
        return write_parquet(path, table, rows)
    with whole_file(path) as file:
        return (write_csv if form == "csv" else write_jsonl)(file, table, rows)
