"""The recorder in somebody's loop: what it writes, what it labels, and that a task is never there by half."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import math
import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from paccf import Gate, Recorder, calibrate
from paccf.cli import main
from paccf.method.certificate import Certificate
from paccf.method.deficit import TaskDeficits
from paccf.record.frontier_log import BadLine, Frontier, Skipped, read_frontiers
from paccf.record.growing import append


def read(path: Path) -> list[Frontier]:
    return list(read_frontiers(str(path)))


def gate_of(tmp_path: Path, margin: int) -> Gate:
    deficits = TaskDeficits()
    for i in range(19):
        deficits.add(f"t{i}", [50 + margin, 50], [False, True])
    Certificate.freeze(deficits, "0.95").save(tmp_path / "margin.json")
    return Gate.load(tmp_path / "margin.json")


def test_found_labels_are_those_below_an_accepted_path(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    with Recorder(log).task("t") as task:
        assert task.admit((), ["a", "b", "c"], [10, [20, 30], None], requests=5) == [0, 1, 2]
        task.admit(["b"], ["x", "y"], [1.5, math.nan], eligible=[True, False])
        task.frontier(["a"], ["x"], [3]).decided([])
        task.solved(["b", "y"])
        assert not log.exists(), "nothing is written before the task has closed"
    root, b, a = read(log)
    assert root.scores == [10, [20, 30], None]
    assert root.protected == [False, True, False]
    assert root.candidates == ["a", "b", "c"]
    assert (b.protected, b.eligible, b.depth, b.frontier) == ([False, True], [True, False], 1, "/b")
    assert a.protected == [False], "the same id under another node is another path"
    assert {k: bytes(v) for k, v in (root.meta or {}).items()} == {"path": b"[]", "requests": b"5", "kept": b"[0,1,2]"}
    assert bytes((a.meta or {})["kept"]) == b"[]"


def test_an_oracle_is_asked_after_the_task_has_closed(tmp_path: Path) -> None:
    asked = []

    def oracle(path: tuple[str, ...], id: str) -> bool | None:
        asked.append((path, id))
        return {"good": True, "bad": False}.get(id)

    with Recorder(tmp_path / "log.jsonl", oracle=oracle).task("t") as task:
        task.admit((), ["good", "bad", "who knows"], [1, 2, 3])
        assert not asked
    assert read(tmp_path / "log.jsonl")[0].protected == [True, False, None]


def test_what_an_oracle_says_is_true_false_or_unknown(tmp_path: Path) -> None:
    with Recorder(tmp_path / "log.jsonl", oracle=lambda path, id: np.bool_(id == "a")).task("t") as task:  # type: ignore[arg-type,return-value]
        task.admit((), ["a", "b"], np.array([1.5, 2], dtype=np.float32))  # type: ignore[arg-type]
    assert read(tmp_path / "log.jsonl")[0].protected == [True, False]
    recorder = Recorder(tmp_path / "log.jsonl", oracle=lambda path, id: "yes")  # type: ignore[arg-type,return-value]
    with pytest.raises(ValueError, match="True, False or None; not 'yes', for 'a' at"), recorder.task("u") as task:
        task.admit((), ["a"], [1])
    assert [f.task for f in read(tmp_path / "log.jsonl")] == ["t"]


def test_a_gate_decides_and_a_shadow_only_tells(tmp_path: Path) -> None:
    gate = gate_of(tmp_path, 20)
    with Recorder(tmp_path / "gated.jsonl", gate=gate).task("t") as task:
        assert task.admit((), ["a", "b", "c"], [90, 70, 69]) == [0, 1]
        assert task.admit(("a",), ["a", "b"], [90, 40], eligible=[False, True]) == [1]
    with Recorder(tmp_path / "shadow.jsonl", gate=gate, shadow=True).task("t") as task:
        assert task.admit((), ["a", "b", "c"], [90, 70, 69]) == [0, 1, 2]
    (shadow,) = read(tmp_path / "shadow.jsonl")
    assert bytes((shadow.meta or {})["would_drop"]) == b"[2]"
    with pytest.raises(ValueError, match="shadow says what a gate"):
        Recorder(tmp_path / "x.jsonl", shadow=True)


def test_a_search_with_a_rule_of_its_own_goes_on_by_it_until_the_gate_decides(tmp_path: Path) -> None:
    gate = gate_of(tmp_path, 20)
    for name, options, goes_on in (
        ("native", {}, [2, 0]),
        ("shadow", {"gate": gate, "shadow": True}, [2, 0]),
        ("gated", {"gate": gate}, [0, 1]),
    ):
        with Recorder(tmp_path / f"{name}.jsonl", **options).task("t") as task:
            assert task.admit((), ["a", "b", "c"], [90, 70, 69], native=[2, 0]) == goes_on, name
    with pytest.raises(ValueError, match="has 1 candidates"), Recorder(tmp_path / "x.jsonl").task("t") as task:
        task.admit((), ["a"], [1], native=[1])
    (native,), (shadow,) = read(tmp_path / "native.jsonl"), read(tmp_path / "shadow.jsonl")
    assert [bytes((f.meta or {})["kept"]) for f in (native, shadow)] == [b"[2,0]", b"[2,0]"]
    assert bytes((shadow.meta or {})["would_drop"]) == b"[2]"


def test_a_beam_has_candidates_of_several_parents(tmp_path: Path) -> None:
    """One decision a level: whole paths are what is labelled, and no path is taken for another."""
    log = tmp_path / "beam.jsonl"
    with Recorder(log).task("t") as task:
        assert task.admit(None, [["a"], ["b"]], [3, 5], native=[0, 1]) == [0, 1]
        assert task.admit(None, [("a", "c"), ("b", "c"), ("b/c",)], [3, 5, 1], native=[1], requests=3) == [1]
        task.solved(["a", "c", "last"])
    first, second = read(log)
    assert (first.frontier, first.depth, first.protected) == ("*", 0, [True, False])
    assert (second.frontier, second.depth, second.protected) == ("*#2", None, [True, False, False])
    assert second.candidates == ["a/c", "b/c", "b~1c"]
    assert bytes((second.meta or {})["paths"]) == b'[["a","c"],["b","c"],["b/c"]]'
    asked: list[object] = []
    with Recorder(tmp_path / "o.jsonl", oracle=lambda path, id: asked.append((path, id))).task("t") as task:
        task.admit(None, [["a", "c"]], [3])
    assert asked == [(("a",), "c")]
    for wrong in (["a", "b"], [[], ["a"]], [7, ["a"]]):
        with pytest.raises(ValueError, match="the ids from the root to it"), Recorder(log).task("u") as task:
            task.frontier(None, wrong, [1, 2])  # type: ignore[arg-type]


def test_the_log_of_a_pruned_search_is_no_evidence(tmp_path: Path) -> None:
    """Its coverage would be 100 %, whatever the gate threw away."""
    log = tmp_path / "gated.jsonl"
    for name, gate, shadow in (("s", gate_of(tmp_path, 20), True), ("g", gate_of(tmp_path, 20), False)):
        with Recorder(log, gate=gate, shadow=shadow).task(name) as task:
            task.admit((), ["a", "b", "c"], [90, 70, 69])
            task.solved(["a"])
    with pytest.raises(BadLine, match=r"line 2, meta.gated: a gate dropped.*shadow=True"):
        read(log)
    with pytest.raises(BadLine, match="no evidence"):
        calibrate(log)
    left_out = Skipped()
    assert [f.task for f in read_frontiers(str(log), left_out)] == ["s"]
    assert left_out.count == 1
    for command in (["calibrate", str(log)], ["coverage", str(log), str(tmp_path / "margin.json")]):
        refused = CliRunner().invoke(main, command)
        assert refused.exit_code == 2
        assert "Record without a gate, or with shadow=True" in refused.output


def test_a_gate_without_a_limit_prunes_nothing(tmp_path: Path) -> None:
    open_gate = Gate(Certificate.freeze(TaskDeficits(), "0.95"))
    with Recorder(tmp_path / "log.jsonl", gate=open_gate).task("t") as task:
        assert task.admit((), ["a", "b"], [0, 100]) == [0, 1]
    assert len(read(tmp_path / "log.jsonl")) == 1


def test_wrong_use_is_told(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "log.jsonl")
    task = recorder.task("t")
    with pytest.raises(ValueError, match="open already"):
        recorder.task("t")
    with pytest.raises(ValueError, match="a count; not -1"):
        task.admit((), ["a"], [1], requests=-1)
    occurrence = task.frontier((), ["a"], [1], requests=np.int64(3))  # type: ignore[arg-type]
    task.close()
    for late in (
        task.close,
        lambda: task.admit((), ["a"], [1]),
        lambda: task.solved(["a"]),
        lambda: occurrence.decided([0]),
    ):
        with pytest.raises(ValueError, match="close it once"):
            late()
    assert len(read(tmp_path / "log.jsonl")) == 1


def test_a_text_is_no_path_and_no_list_of_candidates(tmp_path: Path) -> None:
    """ "ab" is a sequence of texts too; taken as one it would log nonsense without a word."""
    task = Recorder(tmp_path / "log.jsonl").task("t")
    for wrong in (
        lambda: task.admit("root", ["a"], [1]),
        lambda: task.admit((), "ab", [1, 2]),
        lambda: task.solved("ab"),
    ):
        with pytest.raises(ValueError, match="is a list of ids, not a text"):
            wrong()
    task.abandon()
    with pytest.raises(ValueError, match=r"gate is a gate, not 'margin.json': .*Gate.load"):
        Recorder(tmp_path / "log.jsonl", gate="margin.json")  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError, match="make it first"):
        Recorder(tmp_path / "no" / "log.jsonl")
    with pytest.raises(ValueError, match="one of oracle, found, probed"):
        calibrate(tmp_path / "log.jsonl", labels="yes")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="matched_to names fields"):
        Gate.load(tmp_path / "margin.json", matched_to="judge")  # type: ignore[arg-type]


def test_a_task_that_nobody_closed_is_missed(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "log.jsonl")
    recorder.task("t").frontier((), ["a"], [1])
    with pytest.warns(UserWarning, match="'t' was never closed, so its 1 frontiers are not in the log"):
        gc.collect()
    recorder.task("nothing was logged in this one")
    assert not (tmp_path / "log.jsonl").exists()


@pytest.mark.parametrize(
    ("solution", "said"),
    [
        (["x", "b"], r"goes on from \[\] by 'x', none of the candidates logged there \(a, b\)"),
        (["a", "z"], r"goes on from \['a'\] by 'z'"),
    ],
)
def test_a_solution_by_unknown_ids_is_warned_of(tmp_path: Path, solution: list[str], said: str) -> None:
    task = Recorder(tmp_path / "log.jsonl").task("t")
    task.admit((), ["a", "b"], [1, 2])
    task.admit(["a"], ["c"], [1])
    task.solved(solution)
    with pytest.warns(UserWarning, match=said):
        task.close()


def test_a_solution_that_meets_no_frontier_is_warned_of(tmp_path: Path) -> None:
    task = Recorder(tmp_path / "log.jsonl").task("t")
    task.admit(["a"], ["b", "c"], [1, 2])
    task.solved(["d", "b"])
    with pytest.warns(UserWarning, match="meets no logged frontier"):
        task.close()
    assert read(tmp_path / "log.jsonl")[0].protected == [False, False]


def test_ids_that_fit_nowhere_are_told_of_once(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "log.jsonl")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for i in range(20):
            with recorder.task(f"t{i}") as task:
                task.admit(None, [["a"], ["b"]], [1, 2])
                task.solved([f"x{i}"])
    (only,) = said
    assert "'x0'" in str(only.message)
    assert only.filename == __file__


def test_steps_that_were_not_scored_need_no_frontier(tmp_path: Path) -> None:
    with Recorder(tmp_path / "log.jsonl").task("t") as task:
        task.admit(["forced"], ["a", "b"], [1, 2])
        task.solved(["forced", "a", "last"])
    with Recorder(tmp_path / "log.jsonl").task("solved at once") as task:
        task.solved([])
    assert read(tmp_path / "log.jsonl")[0].protected == [True, False]


def test_a_task_that_raises_is_absent_and_may_be_tried_again(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "log.jsonl")
    task = recorder.task("t")
    with contextlib.suppress(RuntimeError), task:
        task.admit((), ["a"], [1])
        raise RuntimeError("model died")
    with recorder.task("t"):
        pass
    with pytest.raises(ValueError, match=r"has task 't' already: leave out what `recorder.written` holds"):
        recorder.task("t")
    with pytest.raises(ValueError, match="is closed"):
        task.admit((), ["a"], [1])
    (line,) = read(tmp_path / "log.jsonl")
    assert line.scores == [], "a task without a frontier still counts as a task without exposure"


def test_a_run_that_is_taken_up_again_knows_what_it_has(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    with Recorder(log).task("one") as task:
        task.admit((), ["a"], [1])
    again = Recorder(log)
    assert again.written == {"one"}
    with again.task("two") as task:
        task.admit((), ["a"], [1])
    assert [f.task for f in read(log)] == ["one", "two"]


@pytest.mark.parametrize(
    ("path", "candidates", "scores", "said"),
    [
        ((), ["a"], [math.inf], "is not a score"),
        ((), ["a", "b"], [1], "one entry a candidate"),
        ((), [""], [1], "not empty"),
        ((3,), ["a"], [1], r"ids are texts.*write str\(3\)"),
        ((), ["\ud800"], [1], "not UTF-8"),
        ((), ["a"], [[1, None]], "observation 1 is missing"),
    ],
)
def test_what_could_not_be_read_back_is_refused(
    tmp_path: Path, path: object, candidates: object, scores: object, said: str
) -> None:
    with Recorder(tmp_path / "log.jsonl").task("t") as task:
        with pytest.raises(ValueError, match=said):
            task.admit(path, candidates, scores)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="kept"):
            task.frontier((), ["a"], [1]).decided([1])


ids = st.text(st.characters(codec="utf-8"), min_size=1, max_size=5)


@given(
    st.lists(
        st.tuples(
            st.lists(ids, max_size=3),
            st.lists(
                st.tuples(ids, st.none() | st.floats(-100, 100) | st.lists(st.integers(0, 100), min_size=1)), max_size=4
            ),
        ),
        max_size=6,
    )
)
def test_whatever_is_recorded_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[list[str], list[tuple[str, object]]]]
) -> None:
    log = tmp_path_factory.mktemp("r") / "log.jsonl"
    with Recorder(log).task("t") as task:
        for path, candidates in said:
            task.admit(path, [c for c, _ in candidates], [s for _, s in candidates])  # type: ignore[misc]
    found = read(log)
    assert [(f.candidates or [], list(f.scores)) for f in found] == (
        [([c for c, _ in candidates], [s for _, s in candidates]) for _, candidates in said] or [([], [])]
    )
    assert len({f.frontier for f in found}) == len(found)


def test_threads_and_asyncio_tasks_share_a_recorder(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "log.jsonl")

    def search(n: int) -> None:
        with recorder.task(f"thread {n}") as task:
            for i in range(5):
                task.admit([str(i)], ["a", "b"], [i, n])

    async def asearch(n: int) -> None:
        async with recorder.task(f"asyncio {n}") as task:
            for i in range(5):
                await asyncio.sleep(0)
                task.admit([str(i)], ["a", "b"], [i, n])

    async def all_of_them() -> None:
        await asyncio.gather(*(asearch(n) for n in range(10)))

    threads = [threading.Thread(target=search, args=(n,)) for n in range(10)]
    for thread in threads:
        thread.start()
    asyncio.run(all_of_them())
    for thread in threads:
        thread.join()
    found = read(tmp_path / "log.jsonl")
    assert len(found) == 100
    runs = [f.task for i, f in enumerate(found) if i == 0 or found[i - 1].task != f.task]
    assert len(runs) == 20, "the lines of a task stand together"


WRITER = """
import sys
from paccf import Recorder
recorder = Recorder(sys.argv[1])
print("ready", flush=True)
for n in range(10**6):
    if f"{sys.argv[2]}-{n}" in recorder.written:
        continue
    with recorder.task(f"{sys.argv[2]}-{n}") as task:
        for i in range(50):
            task.admit([str(i)], ["a" * 200, "b" * 200], [[1, 2, 3, 4], [5, 6, 7, 8]])
"""


def test_a_killed_writer_leaves_no_task_by_half(tmp_path: Path) -> None:
    """Two processes append to one log and are killed at random instants, again and again."""
    log = tmp_path / "log.jsonl"
    order = random.Random(7)
    kept = 0
    for _ in range(8):
        writers = [
            subprocess.Popen([sys.executable, "-c", WRITER, str(log), name], stdout=subprocess.PIPE) for name in "AB"
        ]
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        time.sleep(0.05 + 0.1 * order.random())
        for writer in writers:
            os.kill(writer.pid, signal.SIGKILL)
            writer.wait()
            writer.stdout.close()  # type: ignore[union-attr]
        counts: dict[str, int] = {}
        for frontier in read(log):  # read before anybody has mended it
            counts[frontier.task] = counts.get(frontier.task, 0) + 1
        assert set(counts.values()) <= {50}
        assert len(counts) >= kept, "what was closed stays"
        kept = len(counts)
    assert kept > 0


def test_processes_write_a_task_once(tmp_path: Path) -> None:
    """Four processes begin the same tasks: each is there once, and whoever came late is told."""
    log = tmp_path / "log.jsonl"
    code = """
import sys
from paccf import Recorder
recorder = Recorder(sys.argv[1])
print("ready", flush=True)
sys.stdin.read(1)
late = 0
for n in range(40):
    try:
        with recorder.task(f"t{n}") as task:
            task.admit((), ["a", "b"], [n, 1])
    except ValueError as error:
        assert "another process has written" in str(error) or "has task" in str(error)
        late += 1
print(late)
"""
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(log)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.readline()
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("x")
        writer.stdin.flush()
    late = [int(writer.communicate(timeout=60)[0]) for writer in writers]
    assert sorted(f.task for f in read(log)) == sorted(f"t{n}" for n in range(40))
    assert sum(late) == 3 * 40


def test_a_cancelled_asyncio_task_is_absent(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "log.jsonl")

    async def search(name: str, wait: float) -> None:
        async with recorder.task(name) as task:
            task.admit((), ["a", "b"], [1, 2])
            await asyncio.sleep(wait)

    async def both() -> None:
        slow = asyncio.create_task(search("slow", 60))
        await search("quick", 0)
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow

    asyncio.run(both())
    assert [f.task for f in read(tmp_path / "log.jsonl")] == ["quick"]
    recorder.task("slow").abandon()  # and may be tried again


def test_ctrl_c_in_the_middle_of_an_append_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.jsonl"
    append(str(path), b"first\n")
    calls = 0

    def interrupt(file: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:  # the note is on disk, the piece is written and not yet safe
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        append(str(path), b"second\n")
    assert path.read_bytes() == b"first\n"
    assert [p.name for p in tmp_path.iterdir()] == ["log.jsonl"]


def test_a_torn_end_is_not_read_and_is_cut_off(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    with Recorder(log).task("one") as task:
        task.admit((), ["a"], [1])
    size = log.stat().st_size
    with log.open("ab") as file:
        file.write(b'{"task":"two","frontier":"/","scores":[1],"protected":[true]}\n{"task":"two","fron')
    (tmp_path / "log.jsonl.pending").write_text(f"{size}\n")
    assert [f.task for f in read(log)] == ["one"]
    Recorder(log)
    assert log.stat().st_size == size
    assert not (tmp_path / "log.jsonl.pending").exists()


def test_a_full_disk_leaves_the_log_as_it_was(tmp_path: Path) -> None:
    code = """
import resource, sys
from paccf import Recorder
recorder = Recorder(sys.argv[1])
def record(id, size):
    with recorder.task(id) as task:
        task.admit((), ["x" * size], [1])
record("small", 10)
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    record("large", 10**5)
except OSError as error:
    print("told:", error.strerror)
record("small again", 10)
"""
    out = subprocess.run([sys.executable, "-c", code, str(tmp_path / "log.jsonl")], capture_output=True, text=True)
    assert "told: File too large" in out.stdout, out.stderr
    assert [f.task for f in read(tmp_path / "log.jsonl")] == ["small", "small again"]


def test_what_was_recorded_calibrates(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "log.jsonl")
    for n in range(19):
        with recorder.task(f"t{n}") as task:
            task.admit((), ["right", "wrong"], [50, 50 + n])
            task.admit(["right"], ["end"], [10])
            task.solved(["right", "end"])
    deficits = TaskDeficits()
    for f in read(tmp_path / "log.jsonl"):
        deficits.add(f.task, f.scores, f.protected, f.eligible, f.candidates)
    assert Certificate.freeze(deficits, "0.95", labels="found").limit == Fraction(18)
