"""Disks that are full, folders that cannot be written, locks, other people's versions, bits that flip, files that are cut:
a clear error, nothing silently wrong, and everything that can be read kept."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.record.conftest import RUN, toy_search
from tests.record.test_copying import ask, everything

from paccf.record import database
from paccf.record.errors import Damaged, Foreign, Full, Locked, Missing, StoreError
from paccf.record.place import file_system, refuse_remote
from paccf.record.store import Store
from paccf.record.tape import read_rows
from paccf.record.values import Exclusion
from paccf.search.chance import chance

TRIALS = 1200 if os.environ.get("PACCF_THOROUGH") else 60  # flipped bits; a quarter as many cuts
NOBODY = 65534


def in_a_child(work: Callable[[], Any], limit: int | None = None, user: int | None = None) -> str:
    """``work`` in a forked process, with a limit on file sizes or as another user; what it said or raised."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))  # Python ignores the signal: EFBIG
            if user is not None:
                os.setuid(user)
            said = str(work())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        said = file.read()
    os.waitpid(pid, 0)
    return said


def fill(path: Path, note: Path) -> None:
    """Save searches and ask for answers until the disk refuses; note what was done when it was done."""
    with Store.open(path) as store, note.open("a") as done:
        store.begin(RUN)
        for number in range(1000):
            store.save(RUN, toy_search(task=f"t{number:03}"))
            print("search", f"t{number:03}", file=done, flush=True)
            ask(store, [f"prompt {number}"])
            print("answer", f"prompt {number}", file=done, flush=True)


def held(path: Path) -> tuple[list[str], list[str]]:
    """The tasks and the answered prompts; reading checks every row."""
    with Store.open(path) as store, store.database.read() as connection:
        rows = list(read_rows(connection))
        return [s.outcome.key.task for s in store.searches(RUN)], [r.question.prompt for r in rows if r.reply]


def noted(note: Path) -> tuple[list[str], list[str]]:
    lines = [line.split(" ", 1) for line in note.read_text().splitlines()]
    return [name for kind, name in lines if kind == "search"], [name for kind, name in lines if kind == "answer"]


def check_full(path: Path, note: Path, said: str) -> None:
    assert said.startswith("Full: "), said
    assert "What was written is intact" in said
    tasks, prompts = held(path)
    done = noted(note)
    assert len(done[0]) > 3
    assert set(done[0]) <= set(tasks), "what was told to be durable is there"
    assert set(done[1]) <= set(prompts)
    assert len(tasks) <= len(done[0]) + 1
    with Store.open(path) as store:  # with room again the same goes on
        store.save(RUN, toy_search(task=tasks[-1]))
        store.save(RUN, toy_search(task="later"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
@pytest.mark.parametrize("limit", [300_000, 1_000_000])
def test_a_limit_on_file_sizes(tmp_path: Path, limit: int) -> None:
    path, note = tmp_path / "run.sqlite", tmp_path / "note"
    check_full(path, note, in_a_child(lambda: fill(path, note), limit=limit))


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A disk of 600 KB."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(place)], capture_output=True)
    if made.returncode:
        pytest.skip("mounting a small disk takes rights that this process does not have")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="tmpfs")
def test_a_full_disk(tiny: Path, tmp_path: Path) -> None:
    path, note = tiny / "run.sqlite", tmp_path / "note"
    said = in_a_child(lambda: fill(path, note))
    moved = tmp_path / "moved.sqlite"
    for suffix in ("", "-wal"):
        if Path(f"{path}{suffix}").exists():
            shutil.copy(f"{path}{suffix}", f"{moved}{suffix}")
    assert "no space left" in said
    check_full(moved, note, said)


@pytest.fixture
def locked_folder() -> Iterator[Path]:
    """A folder that everybody may look into, with a record in it, and nobody but its owner may write."""
    folder = Path(tempfile.mkdtemp(prefix="readonly"))
    with Store.open(folder / "run.sqlite") as store:
        store.begin(RUN)
        store.save(RUN, toy_search())
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
def test_a_folder_that_cannot_be_written_can_be_read(locked_folder: Path) -> None:
    path = locked_folder / "run.sqlite"
    user = NOBODY if os.geteuid() == 0 else None

    def looked() -> int:
        with Store.open(path, readonly=True) as store:
            return len(list(store.searches(RUN)))

    assert in_a_child(looked, user=user) == "1"
    for place in (path, locked_folder / "new.sqlite"):
        said = in_a_child(lambda place=place: Store.open(place), user=user)
        assert said.startswith("Full: "), said
        assert "check the rights to the file and its folder" in said
    assert sorted(p.name for p in locked_folder.iterdir()) == ["run.sqlite", "run.sqlite.lock"]


def test_a_lock_of_another_program_is_told_and_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY", 0.1)
    path = tmp_path / "run.sqlite"
    given = toy_search()
    with Store.open(path) as store:
        store.begin(RUN)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(
            Locked, match=r"is locked by another program .*close it there and run the same command again"
        ):
            store.save(RUN, given)
        other.execute("ROLLBACK")
        store.save(RUN, given)
        assert list(store.searches(RUN)) == [given]
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Locked, match="is locked by another program"):
        Store.open(path)
    with Store.open(path, readonly=True) as store:
        assert list(store.searches(RUN)) == [given]
    other.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
def test_one_process_writes_and_the_other_is_told_who(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with Store.open(path) as store:
        store.begin(RUN)
        said = in_a_child(lambda: Store.open(path))
        assert said.startswith("Locked: ")
        assert f"is being written by process {os.getpid()}" in said
    assert in_a_child(lambda: Store.open(path).close()) == "None"


MOUNTS = "\n".join(
    (
        "21 1 0:20 / / rw - ext4 /dev/a rw",
        "22 21 0:21 / /home rw - nfs4 host:/home rw",
        "23 22 0:22 / /home/me/local\\040disk rw - xfs /dev/b rw",
        "24 21 0:23 / /mnt/s rw - fuse.sshfs me@host: rw",
        "25 21 0:24 / /mnt/9 rw - 9p share rw",
        "26 21 0:25 / /homestead rw - btrfs /dev/c rw",
    )
)


@pytest.mark.parametrize(
    ("path", "kind", "refused"),
    [
        ("/home/me/run.sqlite", "nfs4", True),
        ("/home/me/local disk/run.sqlite", "xfs", False),
        ("/mnt/s/run.sqlite", "fuse.sshfs", True),
        ("/mnt/9/run.sqlite", "9p", True),
        ("/homestead/run.sqlite", "btrfs", False),
        ("/var/run.sqlite", "ext4", False),
    ],
)
def test_network_file_systems_are_refused(path: str, kind: str, refused: bool) -> None:
    assert file_system(path, MOUNTS) == kind
    if refused:
        with pytest.raises(Foreign, match="network file system .* local disk.*postgresql://"):
            refuse_remote(path, MOUNTS)
    else:
        refuse_remote(path, MOUNTS)


def test_what_is_no_record_is_told(tmp_path: Path) -> None:
    (tmp_path / "text.sqlite").write_text("hello " * 100)
    (tmp_path / "empty.sqlite").write_bytes(b"")
    for name, kind, says in (
        ("text.sqlite", Damaged, "no SQLite database"),
        ("empty.sqlite", Missing, "an empty database"),
        ("none.sqlite", Missing, "there is no"),
        (".", Missing, "is a folder"),
        ("no/where.sqlite", Missing, "there is no"),
    ):
        with pytest.raises(kind, match=says):
            Store.open(tmp_path / name, readonly=True)
    with pytest.raises(Foreign, match="not in mysql"):
        Store.open("mysql://host/x")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record with something of everything."""
    path = tmp_path_factory.mktemp("whole") / "run.sqlite"
    with Store.open(path) as store:
        store.begin(RUN)
        for name in ("uct", "levin"):
            for task in ("t1", "t2"):
                given = toy_search(name, task)
                store.save(RUN, given)
                labels = [[True] * len(f.candidates) for f in given.frontiers]
                store.put_labels(RUN, given.outcome.key, "found", labels)
        store.save_outcome(RUN, toy_search("uct", "t1", budget=12).outcome)
        store.put_certificate(RUN, "toy", "uct", "{}")
        store.exclude(RUN, Exclusion("toy", "t9", "so"))
        ask(store, [f"prompt {i} " * 20 for i in range(30)])
    return path


def read_all(path: Path) -> Any:
    with Store.open(path, readonly=True) as store:
        return everything(store), list(store.outcomes(RUN)), store.tape()


def spoiled(data: bytes) -> Iterator[bytes]:
    """The file with one bit flipped, or cut."""
    for trial in range(TRIALS):
        at = int(chance("flip", trial) * len(data) * 8)
        flipped = bytearray(data)
        flipped[at // 8] ^= 1 << at % 8
        yield bytes(flipped)
    for trial in range(TRIALS // 4):
        yield data[: int(chance("cut", trial) * len(data))]


def test_flipped_bits_and_cut_files_are_seen_or_change_nothing(whole: Path, tmp_path: Path) -> None:
    expected, data, path = read_all(whole), whole.read_bytes(), tmp_path / "x.sqlite"
    ends: Counter[str] = Counter()
    for spoilt in spoiled(data):
        path.write_bytes(spoilt)
        try:
            found = read_all(path)
        except StoreError as error:
            ends[type(error).__name__] += str(path) in str(error)  # it says which file
        else:
            assert found == expected, "silently wrong"
            ends["same"] += 1
    assert ends.total() == TRIALS + TRIALS // 4
    assert ends["same"] > 0
    assert ends["Damaged"] > TRIALS // 5, ends


def test_what_is_saved_of_a_spoilt_file_is_as_it_was(whole: Path, tmp_path: Path) -> None:
    """Whatever can still be read comes over, and nothing that is not what was written."""
    from paccf.record.copying import copy_run, copy_tape

    expected, _, _ = read_all(whole)
    searches = {s.outcome.key: s for s in expected["searches"][0]}
    replies = {row.question: row.reply for row in expected["tape"]}
    data, path = whole.read_bytes(), tmp_path / "x.sqlite"
    kept, trials = 0, 0
    for number, spoilt in enumerate(spoiled(data)):
        if number % 5:
            continue
        path.write_bytes(spoilt)
        lost: list[object] = []
        target = tmp_path / f"saved{number}.sqlite"
        try:
            with Store.open(path, readonly=True, damaged=True) as source, Store.open(target) as saved:
                lost += [source.database.problem] if source.database.problem else []
                for run in source.runs(skip=lost.append):
                    copy_run(source, saved, run.name, lost.append)
                copy_tape(source, saved, skip=lost.append)
        except StoreError:
            continue  # not even its list of tables can be read
        trials += 1
        with Store.open(target, readonly=True) as saved:
            found = everything(saved)
        for search in (s for one in found["searches"] for s in one):
            whole_one = searches[search.outcome.key]
            assert search.outcome == whole_one.outcome
            for here, there in zip(search.frontiers, whole_one.frontiers, strict=False):
                assert replace(here, protected=None) == replace(there, protected=None)
                assert here.protected in (there.protected, None if lost else there.protected)
        assert all(replies[row.question] == row.reply for row in found["tape"])
        kept += sum(map(len, found["searches"])) + len(found["tape"])
        missing = len(searches) + len(replies) - sum(map(len, found["searches"])) - len(found["tape"])
        assert not missing or lost, "what is missing is told of"
    assert trials >= TRIALS // 8
    assert kept > 0.9 * trials * (len(searches) + len(replies)) * 0.8


def test_an_index_that_disagrees_with_its_table_hides_nothing(whole: Path, tmp_path: Path) -> None:
    """Every row of the table is as it was written, and a search that goes by the index would not come upon one."""
    connection = sqlite3.connect(whole)
    found = connection.execute("SELECT rootpage FROM sqlite_master WHERE name LIKE 'sqlite_autoindex_traces%'")
    page = (found.fetchone()[0] - 1) * 4096
    connection.close()
    data = bytearray(whole.read_bytes())
    at = data.index(b"t1", page, page + 4096)
    data[at : at + 1] = b"x"
    path = tmp_path / "x.sqlite"
    path.write_bytes(data)
    for readonly in (True, False):
        with pytest.raises(Damaged, match="index"):
            Store.open(path, readonly=readonly)
    with Store.open(path, readonly=True, damaged=True) as store:
        assert "index" in store.database.problem


def test_texts_of_a_damaged_database_are_no_other_error(tmp_path: Path) -> None:
    """A text column whose bytes are no UTF-8 any more."""
    path = tmp_path / "run.sqlite"
    with Store.open(path) as store:
        store.begin(RUN)
        store.save(RUN, toy_search())
    connection = sqlite3.connect(path)
    connection.execute("UPDATE outcomes SET metrics = CAST(x'ff' AS TEXT)")
    connection.commit()
    connection.close()
    with pytest.raises(Damaged), Store.open(path, readonly=True) as store:
        list(store.searches(RUN))


def test_an_answer_that_cannot_be_kept_is_not_given(tmp_path: Path) -> None:
    """The disk is full between the answer and the driver: the search does not see it, and what is asked again later is
    the same request."""
    path = tmp_path / "run.sqlite"

    def work() -> str:
        with Store.open(path) as store:
            store.begin(RUN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(f"{path}-wal") + 40_000,) * 2)
            given: list[str] = []
            try:
                for number in range(100):
                    ask(store, [f"prompt {number} " + "x" * 400])
                    given.append(str(number))
            except Full:
                return " ".join(given)
        return "never"

    given = in_a_child(work).split()
    assert 0 < len(given) < 100, given
    _, prompts = held(path)
    assert {f"prompt {number} " + "x" * 400 for number in given} <= set(prompts)


def test_asyncio_is_not_left_waiting_by_a_database_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY", 0.05)
    path = tmp_path / "run.sqlite"
    with Store.open(path) as store:
        store.begin(RUN)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")

        async def go() -> None:
            async with asyncio.timeout(20):
                await asyncio.gather(*[asyncio.to_thread(ask, store, [f"p{i}"]) for i in range(8)])

        with pytest.raises(Locked):
            asyncio.run(go())
        other.close()
        ask(store, ["p0"])
        assert store.tape().answers >= 1


def handed_together(store: Store, writes: list[Callable[[Any, Any], Any]]) -> list[Future[Any]]:
    """``writes`` as one group of the writing thread: all come while it writes something else."""
    entered, on = threading.Event(), threading.Event()

    def slow(connection: Any, items: Any) -> list[None]:
        entered.set()
        assert on.wait(10)
        return [None]

    first = store.database.submit(slow, None)
    assert entered.wait(10)
    futures = [store.database.submit(write, number) for number, write in enumerate(writes)]
    on.set()
    first.result(timeout=10)
    return futures


def test_a_lock_is_waited_for_once_and_told_to_all_who_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY", 0.3)
    path = tmp_path / "run.sqlite"
    with Store.open(path) as store:
        store.begin(RUN)
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        entered: list[Any] = []

        def write(connection: Any, items: Any) -> list[Any]:
            entered.extend(items)
            return list(items)

        tried = 0
        transact = store.database._writer._transact  # type: ignore[union-attr]

        def counted(writes: list[Any]) -> list[Any]:
            nonlocal tried
            tried += 1
            if tried == 2:
                other.execute("BEGIN IMMEDIATE")
            return transact(writes)

        monkeypatch.setattr(store.database._writer, "_transact", counted)
        futures = handed_together(store, [write] * 20)
        for future in futures:
            with pytest.raises(Locked, match="is locked by another program"):
                future.result(timeout=10)
        assert (tried, entered) == (2, [])
        other.close()
        assert store.database.write(write, "later") == "later"


def test_a_fault_finds_its_row_and_a_full_disk_all_that_are_left(tmp_path: Path) -> None:
    with Store.open(tmp_path / "run.sqlite") as store:
        store.begin(RUN)
        tried: Counter[int] = Counter()

        def write(connection: Any, items: Any) -> list[Any]:
            tried.update(items)
            if 2 in items:
                raise ValueError("two")
            if full and 5 in items:
                raise Full("no space left")
            return list(items)

        for full in (False, True):
            tried.clear()
            ends = [future.exception(timeout=10) for future in handed_together(store, [write] * 8)]
            assert [type(end) for end in ends[:5]] == [type(None), type(None), ValueError, type(None), type(None)]
            assert [type(end) for end in ends[5:]] == [Full if full else type(None)] * 3
            assert [tried[n] for n in range(8)] == [2] * 6 + [1 if full else 2] * 2
