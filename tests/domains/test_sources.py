"""Draws: disjoint, exchangeable, the same for the same words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paccf.domains.game24.tasks import irregular, ranked, solvable
from paccf.domains.registry import has, names
from paccf.domains.sources import Finite, Parted, Pool, Stream, dealt, digest_of, excluded, sources, tasks
from paccf.search.tree import Task

each = pytest.mark.parametrize("name", [name for name in names() if has(name, "tasks")])


def pool_of(size: int) -> list[Task]:
    return [Task(f"t{i}", i) for i in range(size)]


def ids(found: object, count: int | None = None) -> list[str]:
    assert isinstance(found, (list, tuple, Iterator))
    return [task.id for task in islice(found, count)]


pools = st.one_of(
    st.integers(0, 40).map(lambda n: Finite(pool_of(n))),
    st.integers(1, 40).map(lambda n: Stream(lambda seed, i: Task(f"t{(i * 7 + seed) % (3 * n) // 2}", i))),
    st.tuples(st.integers(0, 20), st.integers(0, 20)).map(
        lambda n: Parted(pool_of(n[0]), [Task(f"u{i}", i) for i in range(n[1])])
    ),
)


@settings(deadline=None)
@given(pools, st.integers(0, 2**63), st.integers(0, 50), st.integers(0, 50))
def test_calibration_and_test_of_one_seed_never_share_a_task(pool: Pool, seed: int, many: int, more: int) -> None:
    parts = ("domain", seed)
    calibration = ids(dealt(pool, "calibration", *parts), many)
    test = ids(dealt(pool, "test", *parts), more)
    everything = ids(dealt(pool, "all", *parts))
    assert not set(calibration) & set(test)
    assert len(set(calibration)) == len(calibration)
    assert len(set(test)) == len(test)
    assert set(calibration) | set(test) <= set(everything)
    assert calibration == ids(dealt(pool, "calibration", *parts))[:many], "a longer draw begins with the shorter one"
    whole = len(ids(dealt(pool, "calibration", *parts))) + len(ids(dealt(pool, "test", *parts)))
    assert whole == len(everything), "nothing is lost"


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 60), st.integers(0, 99), st.integers(0, 99))
def test_without_keeps_other_seeds_apart(size: int, one: int, other: int) -> None:
    """What is drawn against a certificate never holds a task that calibrated it, at whatever seed."""
    calibrated = [task.id for task in tasks("game24", "", "calibration", one, size)]
    tested = [task.id for task in tasks("game24", "", "test", other, 100, without=set(calibrated))]
    assert not set(calibrated) & set(tested)
    assert len(set(tested)) == 100


def test_both_halves_are_uniform_draws() -> None:
    """Over seeds, each task is as often in one half as in the other, and at each place: exchangeable."""
    seeds = 2000
    halves: Counter[tuple[str, str]] = Counter()
    first: Counter[tuple[str, str]] = Counter()
    for seed in range(seeds):
        for split in ("calibration", "test"):
            found = ids(dealt(Finite(pool_of(10)), split, "d", seed))  # type: ignore[arg-type]
            halves.update((split, i) for i in found)
            first[split, found[0]] += 1
    for p, counts in ((0.5, halves), (0.1, first)):
        spread = 4.5 * math.sqrt(seeds * p * (1 - p))
        assert len(counts) == 20
        assert all(abs(n - seeds * p) < spread for n in counts.values())


@each
def test_every_source_without_files_gives_what_the_paper_needs(name: str) -> None:
    default, source = next(iter(sources(name).items()))
    assert not source.files, "the default needs nothing"
    calibration = tasks(name, "", "calibration", 3, 80)
    test = tasks(name, default, "test", 3, 100)
    assert not {t.id for t in calibration} & {t.id for t in test}
    assert calibration == tasks(name, "", "calibration", 3, 80)
    assert tasks(name, "", "calibration", 3, 30, skip=50) == calibration[50:]
    assert digest_of(calibration) == digest_of(tasks(name, "", "calibration", 3, 80))
    assert len({digest_of(tasks(name, "", "test", seed, 20)) for seed in range(5)}) == 5
    assert all(isinstance(reason, str) for reason in excluded(name).values())


def test_sources_of_the_same_tasks_are_cut_alike(tmp_path: Path) -> None:
    made_up(tmp_path)
    for seed in range(5):
        assert tasks("game24", "tot", "test", seed, data=tmp_path) == tasks("game24", "", "test", seed)
        near = tasks("game24", "tot-hard", "test", seed, 100, data=tmp_path)
        assert not {t.id for t in near} & {t.id for t in tasks("game24", "", "calibration", seed, 80)}


def test_order_counts_in_a_digest() -> None:
    one, two = pool_of(2)
    assert digest_of([one, two]) != digest_of([two, one]) != digest_of([one])


def test_what_is_not_there_is_said() -> None:
    with pytest.raises(ValueError, match="there is no source of game24 called 'genrated'. Did you mean 'generated'"):
        tasks("game24", "genrated", "test", 0)
    with pytest.raises(ValueError, match="takes nothing after its name"):
        tasks("game24", "generated:1-5", "test", 0)
    with pytest.raises(ValueError, match="there is no split 'train'"):
        tasks("game24", "generated", "train", 0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="700 tasks for calibration: the source generated of game24 has 681"):
        tasks("game24", "generated", "calibration", 0, 700)
    with pytest.raises(ValueError, match="the task t1 is twice in calibration and test together"):
        Parted(pool_of(2), pool_of(3)[1:])
    with pytest.raises(ValueError, match="the task t1 is in the pool and excluded"):
        Finite(pool_of(2), {"t1": "odd"})
    dry = Stream(lambda seed, i: Task(f"t{i % 3}", i))
    assert len(ids(dealt(dry, "all", "d", 0))) == 3


HEAD = "Rank,Puzzles,AMT (s)\n"


def ranks_file(folder: Path, text: str) -> Path:
    path = folder / "game24" / "24.csv"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def made_up(folder: Path) -> Path:
    """The hands of the generated set under ranks of our own."""
    rows = [f"{rank},{' '.join(map(str, task.data))},1.0" for rank, task in enumerate(solvable(), 1)]
    return ranks_file(folder, HEAD + "\n".join(rows) + "\n")


def test_rank_splits(tmp_path: Path) -> None:
    made_up(tmp_path)
    hands = solvable()
    rank = {task.id: i for i, task in enumerate(hands, 1)}
    test = tasks("game24", "tot-test", "test", 1, data=tmp_path)
    calibration = tasks("game24", "tot-test", "calibration", 1, data=tmp_path)
    assert sorted(rank[t.id] for t in test) == list(range(901, 1001))
    assert sorted(rank[t.id] for t in calibration) == [*range(821, 901), *range(1001, 1081)]
    assert test != tasks("game24", "tot-test", "test", 2, data=tmp_path), "the seed orders"
    near = tasks("game24", "tot-hard", "all", 1, data=tmp_path)
    assert sorted(rank[t.id] for t in near) == list(range(821, 1081))
    assert len(tasks("game24", "tot", "all", 0, data=tmp_path)) == 1362
    own = tasks("game24", "tot:11-20, 31/5-10,21-30", "test", 0, data=tmp_path)
    assert sorted(rank[t.id] for t in own) == [*range(11, 21), 31]


@pytest.mark.parametrize(
    ("ranks", "words"),
    [
        ("901-1000/820-901", "overlap, first at 901"),
        ("1-10,5", "overlap among themselves"),
        ("901-1000/1-100", "are all easier than 901-1000: such tasks are not exchangeable"),
        ("901-1000/1-100,1001-1001", "are in 99% of all pairs .at most 67% may be. easier than 901-1000"),
        ("901-1000/900-900,1001-1100", "are in 99% of all pairs .at most 67% may be. harder than 901-1000"),
        ("1-100/901-1000", "are all harder than 1-100"),
        ("901-1400", "not all there: they go from 1 to 1362"),
        ("ten-20", "are no ranks: write 901-1000"),
        ("20-10", "are no ranks"),
        ("1-5/", "are no ranks"),
    ],
)
def test_ranks_that_would_break_the_promise_are_refused(ranks: str, words: str, tmp_path: Path) -> None:
    made_up(tmp_path)
    with pytest.raises(ValueError, match=words):
        tasks("game24", f"tot:{ranks}", "test", 0, data=tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1: the columns have to begin with Rank,Puzzles"),
        ("Puzzles\n1 1 4 6\n", "line 1"),
        (HEAD + "1,1 1 4 6,4\n2\n", "line 3: a rank and a puzzle are needed"),
        (HEAD + "one,1 1 4 6,4\n", "line 2: a rank and a puzzle"),
        (HEAD + "1,1 1 4 99,4\n", "line 2: '1 1 4 99' is no hand"),
        (HEAD + "1,1 1 4 6,4\n1,1 1 4 7,4\n", "line 3: the rank 1 is there twice"),
        (HEAD, "no puzzles"),
        (HEAD + '1,"1 1', "line 2"),
    ],
)
def test_a_broken_rank_file_is_named_with_the_line(text: str, words: str, tmp_path: Path) -> None:
    path = ranks_file(tmp_path, text)
    with pytest.raises(ValueError, match=words) as caught:
        ranked(path)
    assert str(path) in str(caught.value)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="no CSV file in UTF-8"):
        ranked(path)


def test_irregular_puzzles_are_reported_and_left_out(tmp_path: Path) -> None:
    path = ranks_file(tmp_path, HEAD + "1,1 1 4 6,4\n2,1 1 1 1,4\n4,6 4 1 1,9\n")
    odd = irregular(path)
    assert odd == [
        "rank 2: 24 cannot be made of 1-1-1-1",
        "the ranks are not 1 to 3",
        "ranks 1 and 4 are one hand, 1-1-4-6",
    ]
    with pytest.raises(ValueError, match="1-1-4-6 is twice"):
        tasks("game24", "tot", "all", 0, data=tmp_path)
