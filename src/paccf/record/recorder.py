"""The recorder: a few lines in somebody's own search loop that earn the frontier log a margin is calibrated on.

    recorder = Recorder("train.jsonl")
    with recorder.task("t-17") as task:
        ...
        for i in task.admit(path, ids, scores): ...    # one scored frontier: logged, decided
        ...
        task.solved(path)                              # a path that a verifier accepted

A task is held in memory until it closes; then all of its frontiers are labelled and written at once. A task whose
process died, or whose block ended in an exception, is absent from the log. It is never there by half: while the file
grows, ``LOG.pending`` beside it holds the size up to which it is whole, readers stop there, and the next writer cuts
off what a dead one left behind. Threads, asyncio tasks and processes may share one log.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from paccf.method.scores import align

if TYPE_CHECKING:
    from types import TracebackType

    from paccf.gate import Gate
    from paccf.method.scores import Score

Path = tuple[str, ...]
# Whether a solution can be reached through the candidate ``id`` of the node at ``path``; None if nobody can tell.
Oracle = Callable[[Path, str], bool | None]

PENDING = ".pending"


class _Line(msgspec.Struct):
    task: str


class Recorder:
    """Writes the frontier log at ``path``, appending to what is there; the tasks that closed are safe on disk.

    Without a ``gate`` nothing is decided: `Task.admit` keeps all. With one it decides, or with ``shadow`` only writes
    down what it would have dropped. Labels are *found* ones (below a solution path of this very search) unless an
    ``oracle`` gives them, which is asked after the task has closed and never before. Say the same to
    ``paccf calibrate --labels``.
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
        self.path = os.fspath(path)
        if self.path.endswith(".gz"):
            raise ValueError(
                f"{self.path}: a growing log is plain text; name a .jsonl file and pack it when it is done"
            )
        self.gate, self.shadow, self.oracle, self.group = gate, shadow, oracle, group
        self._open: set[str] = set()
        self._lock = threading.Lock()
        with self._lock, _alone(self.path):
            _mend(self.path)
        #: The tasks that the log holds: what a run that is taken up again can leave out.
        self.written: set[str] = _tasks(self.path)

    def task(self, id: str) -> Task:
        """Begin a task; use it in ``with`` or ``async with``, or call `Task.close`. A task is recorded once: raises
        ValueError if the log has it already."""
        _id(id)
        with self._lock:
            if id in self.written or id in self._open:
                raise ValueError(f"task {id!r} was recorded already; run it under another id, or not twice")
            self._open.add(id)
        return Task(self, id)

    def _write(self, id: str, lines: Sequence[str]) -> None:
        data = "".join(line + "\n" for line in lines).encode()
        with self._lock, _alone(self.path):
            _mend(self.path)
            _append(self.path, data)
            self._open.discard(id)
            self.written.add(id)

    def _drop(self, id: str) -> None:
        with self._lock:
            self._open.discard(id)


class Occurrence:
    """One frontier that was logged: its place in the log, and what was decided on it."""

    __slots__ = ("_fields", "id", "kept")

    def __init__(self, fields: dict[str, Any], id: str) -> None:
        self._fields, self.id = fields, id
        self.kept: list[int] | None = None

    def decided(self, kept: Iterable[int]) -> None:
        """The candidates, by index, that the search went on with: its own rule's word, for ``paccf what-if``."""
        kept = [int(i) for i in kept]
        if any(not 0 <= i < len(self._fields["scores"]) for i in kept):
            raise ValueError(f"kept {kept}, but the frontier has {len(self._fields['scores'])} candidates")
        self.kept = kept


class Task:
    """One task while it is searched. Frontiers may come from several threads."""

    def __init__(self, recorder: Recorder, id: str) -> None:
        self.id = id
        self._recorder = recorder
        self._frontiers: list[tuple[Path, tuple[str, ...], Occurrence]] = []
        self._visits: dict[Path, int] = {}
        self._solutions: list[Path] = []
        self._lock = threading.Lock()
        self._closed = False

    def frontier(
        self,
        path: Sequence[str],
        candidates: Sequence[str],
        scores: Sequence[Score],
        *,
        eligible: Sequence[bool] | None = None,
        requests: int | None = None,
        group: str | None = None,
    ) -> Occurrence:
        """Log one scored frontier: the ids from the root to its node, its complete candidates by canonical id, one
        score each (a mean, the list of its observations, or None). ``requests`` is what scoring it and getting its
        candidates cost. Raises ValueError for what could not be read back."""
        where, ids = tuple(map(_id, path)), tuple(map(_id, candidates))
        if len(ids) != len(scores) or (eligible is not None and len(eligible) != len(scores)):
            raise ValueError(f"{len(ids)} candidates, {len(scores)} scores: give one entry a candidate, in one order")
        align(scores)  # refuses infinities and what is no number
        with self._lock:
            self._still_open()
            visit = self._visits.get(where, 0)
            self._visits[where] = visit + 1
            id = "/" + "/".join(step.translate(_ESCAPED) for step in where) + (f"#{visit + 1}" if visit else "")
            fields: dict[str, Any] = {
                "scores": [_plain(s) for s in scores],
                "candidates": list(ids),
                "depth": len(where),
            }
            if eligible is not None:
                fields["eligible"] = [bool(e) for e in eligible]
            if (group or self._recorder.group) is not None:
                fields["group"] = group or self._recorder.group
            fields["meta"] = {"path": list(where)} | ({} if requests is None else {"requests": requests})
            occurrence = Occurrence(fields, id)
            self._frontiers.append((where, ids, occurrence))
            return occurrence

    def admit(
        self,
        path: Sequence[str],
        candidates: Sequence[str],
        scores: Sequence[Score],
        *,
        eligible: Sequence[bool] | None = None,
        requests: int | None = None,
        group: str | None = None,
    ) -> list[int]:
        """Log a frontier and decide it: the indices to go on with. Without a gate, or in shadow, that is all of the
        eligible ones."""
        occurrence = self.frontier(path, candidates, scores, eligible=eligible, requests=requests, group=group)
        gate = self._recorder.gate
        places = [i for i in range(len(scores)) if eligible is None or eligible[i]]
        kept = places if gate is None else gate.keep(scores, eligible)
        if self._recorder.shadow:
            occurrence._fields["meta"]["would_drop"] = sorted(set(places) - set(kept))
            kept = places
        occurrence.decided(kept)
        return kept

    def solved(self, path: Sequence[str]) -> None:
        """A verifier accepted the solution at ``path``, the ids from the root to its last action."""
        with self._lock:
            self._still_open()
            self._solutions.append(tuple(map(_id, path)))

    def close(self) -> None:
        """The search has ended: label and write. Closing twice is an error; leaving ``with`` closes."""
        with self._lock:
            self._still_open()
            self._closed = True
        try:
            self._recorder._write(self.id, list(self._lines()))
        except BaseException:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Forget the task, as if it had never begun: what leaving ``with`` by an exception does."""
        self._closed = True
        self._recorder._drop(self.id)

    def _lines(self) -> Iterator[str]:
        oracle = self._recorder.oracle
        below = {solution[:n] for solution in self._solutions for n in range(1, len(solution) + 1)}
        if not self._frontiers:  # a task without exposure counts as one
            empty = {"task": self.id, "frontier": "/", "scores": [], "protected": []}
            yield json.dumps(empty, ensure_ascii=False)
        for path, ids, occurrence in self._frontiers:
            if oracle is None:
                labels: list[bool | None] = [(*path, id) in below for id in ids]
            else:
                labels = [oracle(path, id) for id in ids]
            fields = occurrence._fields
            if occurrence.kept is not None:
                fields["meta"]["kept"] = occurrence.kept
            line = {"task": self.id, "frontier": occurrence.id, **fields, "protected": labels}
            yield json.dumps(line, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    def _still_open(self) -> None:
        if self._closed:
            raise ValueError(f"task {self.id!r} is closed; its frontiers are labelled and written")

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


_ESCAPED = str.maketrans({"~": "~0", "/": "~1", "#": "~2"})


def _id(text: object) -> str:
    """An id that can be read back: a text that is not empty, and UTF-8."""
    if not isinstance(text, str) or not text:
        raise ValueError(f"ids are texts that are not empty, the same for the same thing every time; not {text!r:.80}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"the id {text!r:.80} is not UTF-8") from None
    return text


def _tasks(path: str) -> set[str]:
    """The tasks of a log. Lines that are no frontiers are left for whoever reads it."""
    decode = msgspec.json.Decoder(_Line).decode
    found = set()
    if os.path.exists(path):
        with open(path, "rb") as log:
            for line in log:
                with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    found.add(decode(line).task)
    return found


def _plain(score: Any) -> Any:
    """A score as JSON has it: NaN and None are null, NumPy's numbers are numbers."""
    if score is None or isinstance(score, (int, float)):
        return None if score is None or score != score else score
    if hasattr(score, "tolist"):
        score = score.tolist()
    if hasattr(score, "__len__"):
        return [y if isinstance(y, (int, float)) else float(y) for y in score]
    return _plain(float(score))


def _mend(path: str) -> None:
    """Cut off what a writer left behind that died while it appended."""
    try:
        with open(path + PENDING, "rb") as note:
            whole = note.read()
    except FileNotFoundError:
        return
    if whole.strip().isdigit():  # else it died before the note was whole, hence before it appended
        with open(path, "r+b") as log:
            if log.seek(0, os.SEEK_END) > int(whole):
                log.truncate(int(whole))
                os.fsync(log.fileno())
    os.unlink(path + PENDING)


def _append(path: str, data: bytes) -> None:
    """Note how long the file is, append, take the note away; each step is on disk before the next."""
    created = not os.path.exists(path)
    with open(path, "ab") as log:
        size = log.seek(0, os.SEEK_END)
        if size and not _ends_in_newline(path):
            data = b"\n" + data  # somebody else's last line lacks its end
        with open(path + PENDING, "wb") as note:
            note.write(b"%d\n" % size)
            note.flush()
            os.fsync(note.fileno())
        try:
            log.write(data)
            log.flush()
            os.fsync(log.fileno())
        except BaseException:
            with contextlib.suppress(OSError):  # a full disk: the file is as it was, and the error is told
                log.truncate(size)
                os.unlink(path + PENDING)
            raise
    os.unlink(path + PENDING)
    if created:
        _sync_folder(path)


def _ends_in_newline(path: str) -> bool:
    with open(path, "rb") as log:
        log.seek(-1, os.SEEK_END)
        return log.read(1) == b"\n"


def _sync_folder(path: str) -> None:
    folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextlib.contextmanager
def _alone(path: str) -> Iterator[None]:
    """One writing process at a time, where the system knows locks on files."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with open(path + ".lock", "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
