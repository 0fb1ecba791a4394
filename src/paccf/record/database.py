"""One database: a single writing connection with group commit, and reading connections that cannot write.

Whoever writes waits until what was written is durable. Writes that arrive while a commit is under way go into the next
one together, so that thousands a second cost some hundred commits.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import chain
from typing import Any, TypeVar
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.exc import DBAPIError, OperationalError

from paccf.record import migrations, schema
from paccf.record.errors import Damaged, Foreign, Full, Locked, Missing, StoreError
from paccf.record.place import WriterLock, named, refuse_remote, url_of

Item = TypeVar("Item")
Result = TypeVar("Result")
# writes many items at once, in the order given; one result each
Write = Callable[[Connection, Sequence[Item]], Sequence[Result]]

GROUP = 2000  # ours: writes a commit, at most
BUSY = 10.0  # ours: seconds that a SQLite lock is waited for
CHECKED = 64 * 2**20  # ours: bytes up to which a SQLite file is checked whole when it is opened (some .1 s)
RETRIES = 5  # ours: of a group that PostgreSQL ended for a deadlock, a lost connection, or somebody else's row


class Database:
    """An open record database. Raises a `StoreError` that says what to do if it cannot be used. ``damaged`` opens a
    file for reading although its pages may not fit together; every row that is read is still held against its seal."""

    def __init__(self, place: str | os.PathLike[str], readonly: bool = False, damaged: bool = False) -> None:
        self.url = url_of(place)
        self.name = named(self.url)
        self.readonly = readonly
        self.damaged = damaged
        self.problem = ""  # of a damaged file: what SQLite says of its pages
        self.path = str(self.url.database) if self.url.get_backend_name() == "sqlite" else None
        self._file = self.path or ""
        self._padded: tempfile.TemporaryDirectory[str] | None = None
        self._lock: WriterLock | None = None
        self._writer: _Writer | None = None
        self._engines: list[Engine] = []
        self._standing: list[Connection] = []
        self._local = threading.local()
        with self.translated():
            try:
                self._open()
            except BaseException:
                self.close()
                raise

    def _open(self) -> None:
        if self.path is not None:
            self._look_at_file(self.path)
            if self.damaged:
                self._pad(self.path)
        if not self.readonly:
            if self.path is not None:
                refuse_remote(self.path)
                self._lock = WriterLock(self.path)
            engine = self._engine(readonly=False)
            with engine.begin() as connection:
                if self.path is not None and os.path.getsize(self.path):
                    sound(connection, self.path)
                if self.path is None:  # one process at a time makes or moves the tables
                    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({schema.APPLICATION})")
                new = schema.prepare(connection, migrations.STEPS)
                if new and self.path is not None:
                    connection.exec_driver_sql(f"PRAGMA application_id = {schema.APPLICATION}")
            self._writer = _Writer(engine, self.translated)
        self.reading = self._engine(readonly=True)
        with self.reading.connect() as connection:
            if self.readonly and self.path is not None:
                self._check(connection, self.path)
            found = schema.version(connection)
            if found is None:
                raise Missing("it is an empty database; a run creates what is missing")
            schema.check(found)
            if found < schema.VERSION:
                raise Foreign(
                    f"it has the older schema {found}; move it forward with: paccf doctor {self.name} --migrate"
                )

    def _pad(self, path: str) -> None:
        """Of a file that was cut SQLite refuses all; of a copy that is filled up with nothing, the nothing."""
        with open(path, "rb") as file:
            head = file.read(100)
        size = int.from_bytes(head[16:18], "big") * int.from_bytes(head[28:32], "big")  # page size, pages
        if os.path.getsize(path) < size <= 64 * os.path.getsize(path):
            self._padded = tempfile.TemporaryDirectory(prefix="paccf")
            self._file = os.path.join(self._padded.name, "padded.sqlite")
            shutil.copyfile(path, self._file)
            os.truncate(self._file, size)
            if os.path.exists(f"{path}-wal"):
                shutil.copyfile(f"{path}-wal", f"{self._file}-wal")

    def _check(self, connection: Connection, path: str) -> None:
        try:
            sound(connection, path)
        except Damaged as error:
            if not self.damaged:
                raise
            self.problem = str(error)
        except (DBAPIError, UnicodeDecodeError) as error:
            if not self.damaged:
                raise
            self.problem = f"its pages cannot be checked ({error})"

    def _look_at_file(self, path: str) -> None:
        if os.path.isdir(path):
            raise Missing(f"{path} is a folder; name the file in it")
        if not os.path.exists(path):
            if self.readonly:
                raise Missing(f"there is no {path}")
            if not os.path.isdir(os.path.dirname(path)):
                raise Missing(f"there is no folder {os.path.dirname(path)}")
            return
        with open(path, "rb") as file:
            head = file.read(100)
        if head and not head.startswith(b"SQLite format 3\x00"):
            raise Damaged(f"{path} is no SQLite database, or its beginning is lost; restore it from a copy")

    def _engine(self, readonly: bool) -> Engine:
        if self.path is not None:
            engine = _sqlite(self._file, readonly)
        else:
            engine = _postgres(self.url, readonly)
        self._engines.append(engine)
        return engine

    def submit(self, write: Write[Item, Result], item: Item) -> Future[Result]:
        """Hand ``item`` to the writer; the future is done when it is durable, or holds the `StoreError`."""
        if self._writer is None:
            raise StoreError(f"{self.name} was opened for reading")
        return self._writer.submit(write, item)

    def write(self, write: Write[Item, Result], item: Item) -> Result:
        """Write ``item`` and wait until it is durable."""
        return self.submit(write, item).result()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that cannot write; one snapshot."""
        with self.translated(), self.reading.connect() as connection:
            connection.begin()
            yield connection  # and rolled back: there is nothing to commit, and of a damaged file SQLite refuses to

    def standing(self) -> Any:
        """The driver's own reading connection of this thread, which stays open until `close`; every query is a snapshot
        of its own."""
        held = getattr(self._local, "held", None)
        if held is None:
            held = self.reading.connect()
            if self.path is None:  # SQLite's driver is in this mode anyway
                held = held.execution_options(isolation_level="AUTOCOMMIT")
            self._standing.append(held)
            self._local.held = held
        return held.connection.driver_connection

    @contextmanager
    def translated(self) -> Iterator[None]:
        """What the database refuses, in the reader's words."""
        try:
            yield
        except StoreError as error:
            if self.name not in str(error):
                raise type(error)(f"{self.name}: {error}") from None
            raise
        except DBAPIError as error:
            raise explained(error.orig or error, self.name) from error
        except (sqlite3.Error, OSError) as error:
            raise explained(error, self.name) from error
        except (UnicodeDecodeError, json.JSONDecodeError) as error:  # no text of ours, though its page was read
            raise Damaged(f"{self.name} is damaged ({error}). {rescue(self.name)}") from error

    def close(self) -> None:
        """Write what is under way, and let go of everything. A second time does nothing. Raises `StoreError` if not all
        that was handed over was written."""
        writer, self._writer = self._writer, None
        try:
            if writer is not None:
                writer.close()
        finally:
            self._let_go(written=writer is not None)

    def _let_go(self, written: bool) -> None:
        for connection in self._standing:
            connection.close()
        if written and self.path is not None:
            _settle(self._engines[0])
        for engine in reversed(self._engines):  # the writing one last: it moves what is in the -wal file into the file
            engine.dispose()
        if self._lock is not None:
            self._lock.release()
        self._engines, self._lock, self._standing = [], None, []
        self._local = threading.local()
        if self._padded is not None:
            self._padded.cleanup()


_Entry = tuple[Write[Any, Any], Any, Future[Any]]


class _Writer:
    """A thread that owns the writing connection. What was handed over cannot be taken back: cancelling a future of it
    does nothing."""

    def __init__(self, engine: Engine, translated: Callable[[], Any]) -> None:
        self._engine, self._translated = engine, translated
        self._due: queue.SimpleQueue[_Entry | None] = queue.SimpleQueue()
        self._closed = False
        self._ended: BaseException | None = None  # what ended the thread, if it was not `close`
        self._guard = threading.Lock()
        self._thread = threading.Thread(target=self._work, name="paccf-writer", daemon=True)
        self._thread.start()

    def submit(self, write: Write[Item, Result], item: Item) -> Future[Result]:
        future: Future[Result] = Future()
        future.set_running_or_notify_cancel()
        with self._guard:
            if self._ended is not None:
                raise self._dead()
            if self._closed:
                raise StoreError("the record is closed")
            self._due.put((write, item, future))
        return future

    def close(self) -> None:
        with self._guard:
            if self._closed:
                return
            self._closed = True
            self._due.put(None)
        self._thread.join()
        if self._ended is not None:
            raise self._dead()

    def _dead(self) -> StoreError:
        return StoreError(
            f"the thread that writes the record has ended ({self._ended!r}). What was written is intact: run the same "
            "command again"
        )

    def _work(self) -> None:
        """Until `close`. Whatever ends it sooner is told to everybody who waits and to everybody who comes later."""
        group: list[_Entry] = []
        try:
            self._serve(group)
        except BaseException as error:
            with self._guard:
                self._ended = error
            while not self._due.empty():
                if (entry := self._due.get()) is not None:
                    group.append(entry)
            for _, _, future in group:
                if not future.done():
                    future.set_exception(self._dead())

    def _serve(self, entries: list[_Entry]) -> None:
        """``entries`` are those that are being written."""
        last = False
        while not last:
            group = [self._due.get()]
            while group[-1] is not None and len(group) < GROUP:
                try:
                    group.append(self._due.get_nowait())
                except queue.Empty:
                    break
            last = group[-1] is None
            entries[:] = [entry for entry in group if entry is not None]
            self._commit(entries)

    def _commit(self, group: Sequence[_Entry]) -> None:
        """One transaction for all; if it fails, one for each, so that the fault finds the one it belongs to. What the
        whole database refuses is no entry's fault: it is told to all that are left, and none waits for it again."""
        parts = [group] if group else []
        while parts:
            part = parts.pop(0)
            try:
                results = self._transact([(write, item) for write, item, _ in part])
            except (Locked, Full) as error:
                for _, _, future in chain(part, *parts):
                    future.set_exception(error)
                return
            except BaseException as error:
                if len(part) > 1:
                    parts = [[entry] for entry in part]
                else:
                    part[0][2].set_exception(error)
            else:
                for (_, _, future), result in zip(part, results, strict=True):
                    future.set_result(result)

    def _transact(self, writes: list[tuple[Write[Any, Any], Any]]) -> list[Any]:
        results: list[Any] = [None] * len(writes)
        kinds: dict[Write[Any, Any], list[int]] = {}
        for place, (write, _) in enumerate(writes):
            kinds.setdefault(write, []).append(place)
        with self._translated():
            for attempt in range(RETRIES + 1):
                try:
                    with self._engine.begin() as connection:
                        for write, places in kinds.items():
                            done = write(connection, [writes[i][1] for i in places])
                            for i, result in zip(places, done, strict=True):
                                results[i] = result
                    return results
                except DBAPIError as error:
                    if attempt == RETRIES or not _passing(error):
                        raise
        raise AssertionError


def _passing(error: DBAPIError) -> bool:
    """Whether the same transaction may succeed when it is tried again: deadlocks, lost connections, and rows that
    another process entered meanwhile, which are then compared."""
    return getattr(error.orig, "sqlstate", None) in ("40001", "40P01", "23505") or (
        error.connection_invalidated and not isinstance(error.orig, sqlite3.Error)
    )


def _sqlite(path: str, readonly: bool) -> Engine:
    target = f"file:{quote(path)}"
    if readonly:
        target += "?mode=ro"
        if not os.path.exists(f"{path}-wal") and not os.access(os.path.dirname(path), os.W_OK):
            target += "&immutable=1"  # a read-only folder: no -shm can be made, and nobody writes

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(target, uri=True, timeout=BUSY, isolation_level=None, check_same_thread=False)
        if not readonly:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        return connection

    engine = sa.create_engine("sqlite://", creator=connect, poolclass=sa.pool.QueuePool, pool_size=4, max_overflow=28)

    @sa.event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN" if readonly else "BEGIN IMMEDIATE")

    return engine


def _postgres(url: URL, readonly: bool) -> Engine:
    options = {"postgresql_readonly": True} if readonly else {}
    try:
        return sa.create_engine(
            url,
            execution_options=options,
            pool_pre_ping=True,
            isolation_level="REPEATABLE READ" if readonly else "READ COMMITTED",
        )
    except ModuleNotFoundError:
        raise Missing('PostgreSQL needs psycopg, which is not installed: pip install "paccf[postgres]"') from None


def _settle(engine: Engine) -> None:
    """Move the -wal file into the database, so that one file is the whole record. Somebody who reads can prevent it:
    then both files stay, and lose nothing."""
    with contextlib.suppress(DBAPIError, sqlite3.Error):
        connection = engine.raw_connection()
        try:
            connection.cursor().execute("PRAGMA busy_timeout = 0").execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()


def sound(connection: Connection, path: str) -> None:
    """Raises `Damaged` if SQLite's own check of the pages finds something; large files are left to `paccf doctor`."""
    if os.path.getsize(path) > CHECKED:
        return
    found = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()  # with indices: a row must not hide
    if found != "ok":
        raise Damaged(f"{found}. {rescue(path)}")


def rescue(name: str) -> str:
    """What to do with a damaged record."""
    return f"Restore it from a copy, or save what can be read: paccf import {name} -o NEW.sqlite --skip-bad"


def explained(error: BaseException, name: str) -> StoreError:
    """The `StoreError` for what a database driver or the system raised."""
    text = str(error).strip().partition("\n")[0]
    code = getattr(error, "sqlite_errorcode", None)
    code = code & 0xFF if code is not None else None
    number = getattr(error, "errno", None)
    state = getattr(error, "sqlstate", None) or ""
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or state == "55P03":
        return Locked(f"{name} is locked by another program ({text}); close it there and run the same command again")
    ours = code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_FORMAT)
    if ours or state[:2] == "XX" or text.startswith("Could not decode"):  # what we ask is right: the tables are not
        return Damaged(f"{name} is damaged ({text}). {rescue(name)}")
    if code == sqlite3.SQLITE_FULL or number in (28, 122, 27) or state == "53100":
        return Full(
            f"{name}: no space left ({text}). What was written is intact: make room, run the same command again"
        )
    if code == sqlite3.SQLITE_IOERR:
        return Full(
            f"{name}: the disk refused ({text}). What was written is intact: look for a full or failing disk or a "
            "limit on file sizes, then run the same command again"
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM) or number in (1, 13, 30):
        return Full(f"{name} cannot be opened or written ({text}); check the rights to the file and its folder")
    if state[:2] in ("28", "3D"):
        return Missing(f"{name}: {text}")
    if isinstance(error, OperationalError) or state[:2] in ("08", "57"):
        return Locked(f"{name} cannot be reached ({text}); start the server, then run the same command again")
    if type(error).__name__ == "OperationalError" and type(error).__module__.startswith("psycopg"):
        return Locked(f"{name} cannot be reached ({text}); start the server, then run the same command again")
    return StoreError(f"{name}: {text}")
