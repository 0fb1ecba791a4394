"""The frontier log: one JSON line per scored frontier, read as a stream.

A line that cannot be used is an error that names file, line, field and remedy; with a `Skipped` ledger it is left
out, counted and named instead. Nothing is guessed. What grows with the file is one hash a frontier, which tells a
repeated one: some 70 bytes.
"""

from __future__ import annotations

import gzip
import json
import math
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Annotated, TypeVar

import msgspec

from paccf.method.scores import BOUND
from paccf.record.growing import WholePart

_BLOCK = 1 << 20
GATED = "gated"  # under meta: a margin decided this frontier, so its search was pruned
CAVEATS = "caveats"  # under meta: what has to be said of every figure that comes of this log, a list of texts
LINE_LIMIT = 32 * 2**20  # ours: bytes; a frontier of 10,000 candidates with 100 observations fits

Observation = Annotated[int, msgspec.Meta(ge=-BOUND, le=BOUND)] | Annotated[float, msgspec.Meta(ge=-BOUND, le=BOUND)]
Draws = Annotated[list[Observation], msgspec.Meta(min_length=1)]


class Scored(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A frontier that waits for a decision: only its scores are needed."""

    scores: list[Observation | Draws | None]  # a mean, its R observations, or null: unscored
    task: str | None = None
    frontier: str | None = None
    protected: list[bool | None] | None = None
    candidates: list[str] | None = None  # canonical ids; copies of one id share their label
    eligible: list[bool] | None = None  # false: the search's own check ruled it out before admission
    depth: int | None = None
    group: str | None = None
    meta: dict[str, msgspec.Raw] | None = None  # anything; of it only ``gated`` and ``caveats`` are read


class Frontier(Scored, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A frontier of the record: who it belongs to, and which candidates turned out to be protected."""

    task: str
    frontier: str  # unique within the task
    protected: list[bool | None]


Kind = TypeVar("Kind", bound=Scored)


class BadLine(ValueError):
    """A line of a frontier log that cannot be used."""

    def __init__(self, name: str, line: int, field: str, problem: str, remedy: str) -> None:
        super().__init__(f"{name}, line {line}, {field}: {problem}. {remedy}")
        self.name, self.line, self.field, self.problem, self.remedy = name, line, field, problem, remedy


@dataclass(slots=True)
class Skipped:
    """A ledger of the lines that were left out: how many, and the first few by name."""

    count: int = 0
    first: list[str] = field(default_factory=list)
    named: int = 20

    def add(self, bad: BadLine) -> None:
        self.count += 1
        if len(self.first) < self.named:
            self.first.append(str(bad))


def read_frontiers(path: str, skipped: Skipped | None = None, seen: set[int] | None = None) -> Iterator[Frontier]:
    """The labelled frontiers of a `.jsonl`, a `.jsonl.gz` or `-` (stdin), in file order.

    A log in several files passes one ``seen`` set to all of them, so that repeats are told across files.

    Raises OSError if the file cannot be opened and `BadLine` at the first line that cannot be used, at a frontier
    that was there before, or at one that a gate decided; with ``skipped``, such lines go there.
    """
    seen = set() if seen is None else seen  # 64-bit hashes: among a million frontiers two collide once in 10**7 logs
    for line, frontier in _records(path, Frontier, skipped):
        key = hash((frontier.task, frontier.frontier))
        if key in seen:
            _report(skipped, BadLine(path, line, "frontier", *_repeated(frontier)))
            continue
        if frontier.meta is not None and bytes(frontier.meta.get(GATED, b"")) == b"true":
            _report(skipped, BadLine(path, line, "meta.gated", *_PRUNED))
            continue
        seen.add(key)
        yield frontier


def caveats(frontier: Scored) -> list[str]:
    """What has to be said of every figure that this frontier is part of."""
    raw = None if frontier.meta is None else frontier.meta.get(CAVEATS)
    try:
        return [] if raw is None else msgspec.json.decode(raw, type=list[str])
    except (msgspec.DecodeError, RecursionError):
        return []


def read_scored(path: str, skipped: Skipped | None = None) -> Iterator[tuple[int, Scored]]:
    """Frontiers to decide, each with its line number, as they arrive; labels and ids are optional."""
    return _records(path, Scored, skipped)


def _records(path: str, kind: type[Kind], skipped: Skipped | None) -> Iterator[tuple[int, Kind]]:
    decode = msgspec.json.Decoder(kind).decode
    with _open(path) as file:
        for first, lines in _lines(file, path, skipped):
            for number, text in enumerate(lines, first):
                try:
                    found = decode(text)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                    if text and not text.isspace():
                        _report(skipped, _explain(error, text, path, number))
                    continue
                size = len(found.scores)
                if (
                    ((values := found.protected) is not None and len(values) != size)
                    or ((names := found.candidates) is not None and len(names) != size)
                    or ((flags := found.eligible) is not None and len(flags) != size)
                ):
                    _report(skipped, BadLine(path, number, *_length_problem(found)))
                    continue
                yield number, found


@contextmanager
def _open(path: str) -> Iterator[IO[bytes]]:
    if path == "-":
        yield sys.stdin.buffer
    elif path.endswith(".gz"):
        with gzip.open(path, "rb") as file:
            yield file  # type: ignore[misc]
    else:
        with open(path, "rb") as file:
            yield WholePart(file, path)  # type: ignore[misc]


def _lines(file: IO[bytes], path: str, skipped: Skipped | None) -> Iterator[tuple[int, list[bytes]]]:
    """Blocks of lines as they arrive, each with the number of its first line; the last one may lack its newline.
    A line over the limit is let go without being held in memory."""
    number, rest, gone = 1, b"", 0
    read: Callable[[int], bytes] = file.read1  # type: ignore[attr-defined]
    while True:
        try:
            block = read(_BLOCK)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            problem = f"the compressed file is cut or damaged here ({error})"
            remedy = "Write it again, or --skip-bad uses what came before"
            _report(skipped, BadLine(path, number, "file", problem, remedy))
            return
        end = not block
        if number == 1 and not rest:
            block = block.removeprefix(b"\xef\xbb\xbf")
        if gone:
            before, newline, block = block.partition(b"\n")
            gone += len(before)
            if not newline and not end:
                continue
            problem = f"{gone / 2**20:.0f} MiB long, more than the {LINE_LIMIT >> 20} MiB of any real frontier"
            _report(skipped, BadLine(path, number, "line", problem, "Write one frontier a line"))
            number, gone = number + 1, 0
        head, newline, tail = block.rpartition(b"\n")
        if newline:
            lines = (rest + head).split(b"\n")
            yield number, lines
            number, rest = number + len(lines), tail
        else:
            rest += tail
        if end:
            if rest:
                yield number, [rest]
            return
        if len(rest) > LINE_LIMIT:
            gone, rest = len(rest), b""


def _report(skipped: Skipped | None, bad: BadLine) -> None:
    if skipped is None:
        raise bad
    skipped.add(bad)


def _length_problem(found: Scored) -> tuple[str, str, str]:
    """Which list is not as long as ``scores``; there is one."""
    size = len(found.scores)
    lists = {"protected": found.protected, "candidates": found.candidates, "eligible": found.eligible}
    name, entries = next((name, len(v)) for name, v in lists.items() if v is not None and len(v) != size)
    return name, f"{entries} entries for {size} scores", "Give one entry a candidate, in the same order"


def _repeated(found: Frontier) -> tuple[str, str]:
    return (
        f"{found.frontier!r} of task {found.task!r} was there before",
        "Give every frontier of a task its own id, also when the search comes back to a node",
    )


def _explain(error: Exception, text: bytes, path: str, number: int) -> BadLine:
    """The line's problem in the reader's words."""
    problem = str(error)
    where = re.search(r" - at `\$\.?([^`]*)`", problem)
    name = where[1] if where and where[1] else "line"
    problem = problem[: where.start()] if where else problem
    known = ", ".join(Frontier.__struct_fields__)
    if isinstance(error, UnicodeDecodeError):
        return BadLine(path, number, name, f"not UTF-8 ({error.reason})", "Write the log as UTF-8")
    if isinstance(error, RecursionError):
        return BadLine(path, number, name, "nested too deeply", "A frontier is flat; what else you log goes under meta")
    if "unknown field" in problem:
        field_name = problem.rpartition(" ")[2].strip("`")
        return BadLine(path, number, field_name, "unknown field", f"The fields are {known}; put others under meta")
    if "missing required" in problem:
        return BadLine(path, number, problem.rpartition(" ")[2].strip("`"), "missing", _REMEDY["missing"])
    if isinstance(error, msgspec.ValidationError):
        if name.startswith("scores"):
            name, problem = _worst_score(text, name, problem)
            return BadLine(path, number, name, problem, _REMEDY["scores"])
        return BadLine(path, number, name, problem, _REMEDY.get(name.partition("[")[0], _REMEDY["line"]))
    if number == 1 and text.startswith(b"\x1f\x8b"):
        return BadLine(path, number, "file", "packed with gzip", "Name it .jsonl.gz, or pipe it through zcat")
    if b"\0" in text:
        return BadLine(path, number, name, "zero bytes: UTF-16, or a crash while writing", "Write the log as UTF-8")
    if re.search(rb"\b(NaN|Infinity)\b", text):
        name = _not_a_number(text) or name
        return BadLine(path, number, name, "NaN and Infinity are not JSON", "Write null for an unscored candidate")
    if "truncated" in problem:
        remedy = "A frontier is one line; a killed writer leaves a part of one at the end, --skip-bad leaves it out"
        return BadLine(path, number, name, "ends in the middle", remedy)
    return BadLine(path, number, name, problem, _REMEDY["line"])


_PRUNED = (
    "a gate dropped candidates of this search, so it is no evidence: what was dropped was never seen again",
    "Record without a gate, or with shadow=True",
)
_REMEDY = {
    "line": "A line is one JSON object with at least task, frontier, scores and protected",
    "missing": "Calibration needs task, frontier, scores and protected on every line",
    "scores": f"A score is a number within ±{BOUND:.0e}, the list of its R observations, or null for unscored",
    "protected": "A label is true, false, or null if nobody could tell",
    "task": "Ids are strings",
    "frontier": "Ids are strings",
    "candidates": "Ids are strings, one a candidate",
    "eligible": "Eligibility is true or false, one a candidate",
}


def _not_a_number(text: bytes) -> str | None:
    """The first score, or draw of one, that is NaN or infinite."""
    try:
        scores = json.loads(text)["scores"]
        for i, score in enumerate(scores):
            if not all(map(math.isfinite, score if isinstance(score, list) else [score or 0])):
                return f"scores[{i}]"
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        pass
    return None


def _worst_score(text: bytes, name: str, problem: str) -> tuple[str, str]:
    """The first score that cannot be read, with its index: the decoder does not say which."""
    try:
        scores = msgspec.json.decode(text)["scores"]
        for i, score in enumerate(scores if isinstance(scores, list) else []):
            try:
                msgspec.convert(score, Observation | Draws | None)
            except msgspec.ValidationError as error:
                return f"scores[{i}]", str(error).partition(" - at ")[0]
    except (msgspec.DecodeError, TypeError, KeyError, RecursionError):
        pass
    return name.replace("[...]", ""), problem
