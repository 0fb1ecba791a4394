"""Timing and printing for the scripts beside this file.

Machines are shared, so everything is CPU time of this process (user + system) and the best of several repeats.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass

Cell = int | float | str | None


@dataclass(frozen=True)
class Table:
    """``note`` says what was measured; every row has the same keys."""

    title: str
    note: str
    rows: list[dict[str, Cell]]


def best(call: Callable[[], object], repeats: int = 5) -> float:
    """CPU seconds of the fastest of ``repeats`` calls."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def per_call(call: Callable[[], object], repeats: int = 5, seconds: float = 0.1) -> float:
    """CPU seconds of one call, where one is too short to be timed: as many a repeat as fill ``seconds``."""

    def many(calls: int) -> float:
        start = time.process_time()
        for _ in range(calls):
            call()
        return time.process_time() - start

    calls = 1
    while (spent := many(calls)) < seconds:
        calls = calls * 2 if spent < seconds / 100 else max(calls + 1, int(calls * 1.2 * seconds / spent))
    return min([spent, *(many(calls) for _ in range(repeats - 1))]) / calls


def emit(tables: list[Table], as_json: bool) -> None:
    """The tables for a person, or one JSON object."""
    machine = f"{os.cpu_count()} x {_processor()}, Python {platform.python_version()}, {platform.system()}"
    if as_json:
        shown = [{"title": t.title, "note": t.note, "rows": t.rows} for t in tables]
        print(json.dumps({"machine": machine, "tables": shown}, indent=1))
        return
    print(machine)
    for table in tables:
        print(f"\n{table.title}\n{table.note}\n")
        cells = [list(table.rows[0]), *([_text(c) for c in row.values()] for row in table.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for line in cells:
            first, *others = (c.rjust(w) for c, w in zip(line, widths, strict=True))
            print("  ".join([first.strip().ljust(widths[0]), *others]))


def _text(cell: Cell) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:,.3g}" if abs(cell) < 1000 else f"{cell:,.0f}"


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()
