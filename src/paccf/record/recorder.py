"""The recorder: a few lines in somebody's own search loop that earn the frontier log a margin is calibrated on.

    recorder = Recorder("train.jsonl")
    with recorder.task("t-17") as task:
        ...
        for i in task.admit(path, ids, scores): ...    # one scored frontier: logged, decided
        ...
        task.solved(path)                              # a path that a verifier accepted

A task is held in memory until it closes; then all of its frontiers are labelled and written at once. A task whose
process died, or whose block ended in an exception, is absent from the log. It is never there by half, see `growing`.
Threads and asyncio tasks may share one recorder; processes share one log, each with a recorder of its own.
"""

from __future__ import annotations

import contextlib
import json
import math
import operator
import os
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from paccf.method.scores import align
from paccf.record.frontier_log import GATED
from paccf.record.growing import alone, append, mend
from paccf.record.ids import POOL, Path, id_of, joined, path_of, whole_path

if TYPE_CHECKING:
    from types import TracebackType

    from paccf.gate import Gate
    from paccf.method.scores import Score

# Whether a solution can be reached through the candidate ``id`` of the node at ``path``; None if nobody can tell.
Oracle = Callable[[Path, str], bool | None]


class _Line(msgspec.Struct):
    """All that is read of a log that goes on."""

    task: str


class Recorder:
    """Writes the frontier log at ``path``, appending to what is there; the tasks that closed are safe on disk.

    Without a ``gate`` the search goes on as it is: `Task.admit` gives back what its own rule keeps, all if it has none.
    With ``shadow`` too, and what the gate would have dropped is written down. Otherwise the gate decides, and the log
    is marked as that of a pruned search: what was dropped was never seen again, so it is no evidence for a margin, and
    is refused as such.

    Labels are *found* ones (below a solution path of this very search) unless an ``oracle`` gives them, which is asked
    after the task has closed and never before. Say the same to ``paccf calibrate --labels``.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        gate: Gate | None = None,
        shadow: bool = False,
        oracle: Oracle | None = None,
        group: str | None = None,
    ) -> None:
        if shadow and gate is None:
            raise ValueError(
                "shadow says what a gate would drop, so it needs one: Recorder(path, gate=..., shadow=True)"
            )
        if gate is not None and not hasattr(gate, "keep"):
            raise ValueError(f"gate is a gate, not {gate!r:.80}: Recorder(path, gate=Gate.load(...))")
        self.path = os.fspath(path)
        if not os.path.isdir(os.path.dirname(self.path) or "."):
            raise FileNotFoundError(f"{self.path}: there is no folder {os.path.dirname(self.path)}; make it first")
        if self.path.endswith(".gz"):
            raise ValueError(
                f"{self.path}: a growing log is plain text; name a .jsonl file and pack it when it is done"
            )
        self.gate, self.shadow, self.oracle, self.group = gate, shadow, oracle, group
        self._open: set[str] = set()
        self._lock = threading.Lock()
        #: Whether what is recorded is a pruned search.
        self.prunes = gate is not None and not shadow and not math.isinf(gate.rule.reach)
        #: The tasks that the log holds: what a run that is taken up again can leave out.
        self.written: set[str] = set()
        self._warned = False
        self._known = 0  # the bytes of the log whose tasks are in ``written``
        with alone(self.path):
            mend(self.path)
            self._catch_up()

    def task(self, id: str) -> Task:
        """Begin a task; use it in ``with`` or ``async with``, or call `Task.close`. A task is recorded once: raises
        ValueError if the log has it already."""
        id_of(id)
        with self._lock:
            if id in self.written:
                raise ValueError(
                    f"{self.path} has task {id!r} already: leave out what `recorder.written` holds, or name a new log"
                )
            if id in self._open:
                raise ValueError(f"task {id!r} is open already: give every task an id of its own")
            self._open.add(id)
        return Task(self, id)

    def _write(self, id: str, lines: Sequence[str]) -> None:
        data = "".join(line + "\n" for line in lines).encode()
        with self._lock, alone(self.path):
            mend(self.path)
            self._catch_up()
            if id in self.written:
                raise ValueError(
                    f"another process has written task {id!r} to {self.path} meanwhile; a task counts once"
                )
            self._known = append(self.path, data)
            self._open.discard(id)
            self.written.add(id)

    def _catch_up(self) -> None:
        """Learn the tasks that the log has beyond what is known of it. To be called `alone`. Lines that are no
        frontiers are left for whoever reads it."""
        decode = msgspec.json.Decoder(_Line).decode
        if not os.path.exists(self.path):
            return
        with open(self.path, "rb") as log:
            log.seek(self._known)
            for line in log:
                with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    self.written.add(decode(line).task)
            self._known = log.tell()

    def _drop(self, id: str) -> None:
        with self._lock:
            self._open.discard(id)

    def _warn(self, stray: str) -> None:
        """Say it of the first task only: what is wrong with one path is as a rule wrong with all of them."""
        with self._lock:
            first, self._warned = not self._warned, True
        if first:
            warnings.warn(f"{stray}. This is said once a recorder", stacklevel=4)


class Occurrence:
    """One frontier that was logged: its place in the log, and what was decided on it."""

    __slots__ = ("_fields", "_task", "id", "kept")

    def __init__(self, task: Task, fields: dict[str, Any], id: str) -> None:
        self._task, self._fields, self.id = task, fields, id
        self.kept: list[int] | None = None

    def decided(self, kept: Iterable[int]) -> list[int]:
        """The candidates, by index, that the search went on with: its own rule's word, for ``paccf what-if``. They come
        back as they were given."""
        self._task._still_open()
        kept = [operator.index(i) for i in kept]
        if any(not 0 <= i < len(self._fields["scores"]) for i in kept):
            raise ValueError(f"kept {kept}, but the frontier has {len(self._fields['scores'])} candidates")
        self.kept = kept
        return kept


class Task:
    """One task while it is searched. Frontiers may come from several threads. A task that is let go without `close` or
    `abandon` is not in the log, and a warning says so."""

    def __init__(self, recorder: Recorder, id: str) -> None:
        self.id = id
        self._recorder = recorder
        self._frontiers: list[tuple[list[Path], Occurrence]] = []  # the path of every candidate
        self._visits: dict[Path | None, int] = {}
        self._solutions: list[Path] = []
        self._lock = threading.Lock()
        self._closed = False

    def frontier(
        self,
        path: Sequence[str] | None,
        candidates: Sequence[str] | Sequence[Sequence[str]],
        scores: Sequence[Score],
        *,
        eligible: Sequence[bool] | None = None,
        requests: int | None = None,
        group: str | None = None,
    ) -> Occurrence:
        """Log one scored frontier: the ids from the root to its node, its complete candidates by canonical id, one
        score each (a mean, the list of its observations, or None). ``requests`` is what scoring it and getting its
        candidates cost.

        ``path`` is None where one decision is taken over candidates of several parents, such as a beam's level: each
        candidate is then given by its whole path. Raises ValueError for what could not be read back."""
        where = None if path is None else path_of("path", path)
        if where is None:
            paths = [whole_path(c) for c in candidates]
        else:
            paths = [(*where, id) for id in path_of("candidates", candidates)]
        if len(paths) != len(scores) or (eligible is not None and len(eligible) != len(scores)):
            raise ValueError(f"{len(paths)} candidates, {len(scores)} scores: give one entry a candidate, in one order")
        align(scores)  # refuses infinities and what is no number
        if requests is not None and (requests := operator.index(requests)) < 0:
            raise ValueError(f"requests is what this frontier cost, a count; not {requests}")
        with self._lock:
            self._still_open()
            visit = self._visits.get(where, 0)
            self._visits[where] = visit + 1
            id = (POOL if where is None else "/" + joined(where)) + (f"#{visit + 1}" if visit else "")
            fields: dict[str, Any] = {
                "scores": [_plain(s) for s in scores],
                "candidates": [joined(p) if where is None else p[-1] for p in paths],
            }
            if len(depths := {len(p) - 1 for p in paths} if where is None else {len(where)}) == 1:
                fields["depth"] = depths.pop()
            if eligible is not None:
                fields["eligible"] = [bool(e) for e in eligible]
            if (group or self._recorder.group) is not None:
                fields["group"] = group or self._recorder.group
            fields["meta"] = {"paths": [list(p) for p in paths]} if where is None else {"path": list(where)}
            if requests is not None:
                fields["meta"]["requests"] = requests
            if self._recorder.prunes:
                fields["meta"][GATED] = True
            occurrence = Occurrence(self, fields, id)
            self._frontiers.append((paths, occurrence))
            return occurrence

    def admit(
        self,
        path: Sequence[str] | None,
        candidates: Sequence[str] | Sequence[Sequence[str]],
        scores: Sequence[Score],
        *,
        native: Iterable[int] | None = None,
        eligible: Sequence[bool] | None = None,
        requests: int | None = None,
        group: str | None = None,
    ) -> list[int]:
        """Log a frontier and decide it: the indices to go on with. With a gate they are the gate's; without one, or in
        shadow, they are ``native``, what the search's own rule keeps, or all (eligible) candidates if it has none.
        The rest is as in `frontier`."""
        occurrence = self.frontier(path, candidates, scores, eligible=eligible, requests=requests, group=group)
        gate, shadow = self._recorder.gate, self._recorder.shadow
        places = [i for i in range(len(scores)) if eligible is None or eligible[i]]
        kept = places if native is None else list(native)
        if gate is not None:
            admitted = gate.keep(scores, eligible)
            if shadow:
                occurrence._fields["meta"]["would_drop"] = sorted(set(places) - set(admitted))
            else:
                kept = admitted
        return occurrence.decided(kept)

    def solved(self, path: Sequence[str]) -> None:
        """A verifier accepted the solution at ``path``, the ids from the root to its last action, as `frontier` and
        `admit` were given them. A path that leaves a logged frontier by none of its candidates is warned of when the
        task closes: it labels nothing below."""
        with self._lock:
            self._still_open()
            self._solutions.append(path_of("path", path))

    def close(self) -> None:
        """The search has ended: label and write. Closing twice is an error; leaving ``with`` closes."""
        with self._lock:
            self._still_open()
            self._closed = True
        try:
            if self._recorder.oracle is None and (stray := self._stray()):
                self._recorder._warn(stray)
            self._recorder._write(self.id, list(self._lines()))
        except BaseException:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Forget the task, as if it had never begun: what leaving ``with`` by an exception does."""
        self._closed = True
        self._recorder._drop(self.id)

    def _stray(self) -> str | None:
        """What is odd about the accepted paths: ids that do not fit those of the frontiers label nothing."""
        seen: dict[Path, set[str]] = {}
        pooled: set[Path] = set()
        for paths, occurrence in self._frontiers:
            if occurrence.id.startswith(POOL):
                pooled.update(paths)
                continue
            for path in paths:
                seen.setdefault(path[:-1], set()).add(path[-1])
        for path in self._solutions:
            on = [n for n in range(len(path)) if path[:n] in seen]
            accepted = f"task {self.id!r}: the accepted path {list(path)}"
            met = on or any(path[: n + 1] in pooled for n in range(len(path)))
            if (seen or pooled) and path and not met:
                return f"{accepted} meets no logged frontier, so it labels nothing. {_FIT}"
            for n in on:
                if path[n] not in seen[path[:n]]:
                    there = ", ".join(sorted(seen[path[:n]]))
                    return (
                        f"{accepted} goes on from {list(path[:n])} by {path[n]!r}, none of the candidates logged "
                        f"there ({there:.200}). {_FIT}"
                    )
        return None

    def _lines(self) -> Iterator[str]:
        oracle = self._recorder.oracle
        below = {solution[:n] for solution in self._solutions for n in range(1, len(solution) + 1)}
        if not self._frontiers:  # a task without exposure counts as one
            empty = {"task": self.id, "frontier": "/", "scores": [], "protected": []}
            yield json.dumps(empty, ensure_ascii=False)
        for paths, occurrence in self._frontiers:
            if oracle is None:
                labels: list[bool | None] = [path in below for path in paths]
            else:
                labels = [_label(oracle(path[:-1], path[-1]), path[:-1], path[-1]) for path in paths]
            fields = occurrence._fields
            if occurrence.kept is not None:
                fields["meta"]["kept"] = occurrence.kept
            line = {"task": self.id, "frontier": occurrence.id, **fields, "protected": labels}
            yield json.dumps(line, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    def _still_open(self) -> None:
        if self._closed:
            raise ValueError(
                f"task {self.id!r} is closed: it was written, or abandoned. Log while it is open, and close it once"
            )

    def __del__(self) -> None:
        if not getattr(self, "_closed", True) and self._frontiers:
            warnings.warn(
                f"task {self.id!r} was never closed, so its {len(self._frontiers)} frontiers are not in the log; use "
                "`with recorder.task(id) as task:`",
                stacklevel=2,
            )

    def __enter__(self) -> Task:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.abandon()
        elif not self._closed:
            self.close()

    async def __aenter__(self) -> Task:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Like `__exit__`, with the wait for the disk in a thread of its own."""
        import asyncio

        await asyncio.to_thread(self.__exit__, kind, error, trace)


_FIT = "Begin at the root and use the ids that admit() was given; log complete candidate sets"


def _label(said: object, path: Path, id: str) -> bool | None:
    """What an oracle said, as JSON has it; NumPy's truth values are truth values."""
    if said is None or isinstance(said, bool):
        return said
    if type(said).__name__ in ("bool", "bool_") and hasattr(said, "dtype"):
        return bool(said)
    raise ValueError(f"the oracle says True, False or None; not {said!r:.80}, for {id!r} at {list(path)}")


def _plain(score: Any) -> Any:
    """A score as JSON has it: NaN and None are null, NumPy's numbers are numbers."""
    if score is None or isinstance(score, (int, float)):
        return None if score is None or score != score else score
    if hasattr(score, "tolist"):
        score = score.tolist()
    if hasattr(score, "__len__"):
        return [y if isinstance(y, (int, float)) else float(y) for y in score]
    return _plain(float(score))
