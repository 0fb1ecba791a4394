"""The record gives back what was put in, refuses contradictions, and sees what was changed behind its back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy.exc import DBAPIError

from paccf.record.errors import Conflict, Missing, StoreError
from paccf.record.store import Store
from paccf.record.values import Exclusion, RunInfo, Search

Made = Callable[..., Search]


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    with Store.open(place) as opened:
        yield opened


@pytest.mark.parametrize("arm", ["native", "shadow", "paccf"])
@pytest.mark.parametrize("name", ["uct", "toolchain", "lats", "tooltree", "levin"])
def test_a_search_comes_back_as_it_was(store: Store, info: RunInfo, made: Made, name: str, arm: str) -> None:
    store.begin(info)
    given = made(name, arm=arm)
    store.save(info, given)
    assert list(store.searches("paper")) == [given]
    assert list(store.outcomes("paper")) == [given.outcome]
    assert store.has(info, given.outcome.key)
    assert not store.has(info, replace(given.outcome.key, budget=59))


def test_a_smaller_budget_is_the_beginning_of_the_largest(store: Store, info: RunInfo, made: Made) -> None:
    store.begin(info)
    whole, part = made(budget=60), made(budget=12)
    assert len(part.frontiers) < len(whole.frontiers)
    with pytest.raises(Missing, match="largest budget comes first"):
        store.save_outcome(info, part.outcome)
    store.save(info, whole)
    store.save_outcome(info, part.outcome)
    assert list(store.searches(info)) == [whole, Search(part.outcome, part.frontiers)]
    assert [o.key.budget for o in store.outcomes(info)] == [60, 12]
    assert list(store.outcomes(info, budget=12)) == [part.outcome]


def test_a_larger_budget_replaces_the_trace_that_it_continues(store: Store, info: RunInfo, made: Made) -> None:
    store.begin(info)
    part, whole = made(budget=12), made(budget=60)
    store.save(info, part)
    store.put_labels(info, part.outcome.key, "found", [[True] * len(f.candidates) for f in part.frontiers])
    store.save(info, whole)
    store.save(info, part)
    assert list(store.searches(info, "found")) == [whole, Search(part.outcome, part.frontiers)]


def test_saving_again_changes_nothing_and_a_difference_is_named(store: Store, info: RunInfo, made: Made) -> None:
    store.begin(info)
    store.begin(replace(info, versions={"paccf": "0.2.0"}))
    given = made()
    store.save(info, given)
    store.save(info, replace(given, outcome=replace(given.outcome, costs=replace(given.outcome.costs, sent=9))))
    assert list(store.searches(info)) == [given]
    with pytest.raises(Conflict, match="utility: recorded is 1.0, given is 0.5"):
        store.save(info, replace(given, outcome=replace(given.outcome, utility=0.5)))
    other = replace(given.frontiers[1], spent=given.frontiers[1].spent + 1)
    with pytest.raises(Conflict, match="frontiers: recorded is .* given is"):
        store.save(info, replace(given, frontiers=(given.frontiers[0], other, *given.frontiers[2:])))
    with pytest.raises(Conflict, match=r"test toy uct native B=60 t1 seed 0: \d+ nodes are recorded"):
        store.save(info, replace(given, nodes=given.nodes[:-1]))
    with pytest.raises(Conflict, match="run paper, spec"):
        store.begin(replace(info, spec="{}"))
    assert list(store.searches(info)) == [given]


def test_labels_certificates_and_exclusions(store: Store, info: RunInfo, made: Made) -> None:
    store.begin(info)
    given = made()
    store.save(info, given)
    labels = [tuple([None, True, False][i % 3] for i in range(len(f.candidates))) for f in given.frontiers]
    store.put_labels(info, given.outcome.key, "oracle", labels)
    (found,) = store.searches(info, "oracle")
    assert [f.protected for f in found.frontiers] == labels
    (found,) = store.searches(info, "found")
    assert {f.protected for f in found.frontiers} == {None}
    with pytest.raises(Conflict, match="labels for frontiers"):
        store.put_labels(info, given.outcome.key, "found", labels[1:])
    store.put_certificate(info, "toy", "uct", "{}")
    with pytest.raises(Conflict, match="certificates"):
        store.put_certificate(info, "toy", "uct", "{ }")
    assert store.certificates(info) == {("toy", "uct"): "{}"}
    gone = Exclusion("toy", "t9", "no answer: \x1b[31m\x00\ud800")
    store.exclude(info, gone)
    store.exclude(info, gone)
    assert store.exclusions(info) == [gone]


def test_what_is_chosen_and_in_which_order(store: Store, info: RunInfo, made: Made) -> None:
    store.begin(info)
    for task in ("t2", "t1", "T3"):
        for name in ("uct", "levin"):
            store.save(info, made(name, task))
    keys = [o.key for o in store.outcomes(info)]
    assert keys == sorted(keys)
    assert len(keys) == 6
    assert {o.key.task for o in store.outcomes(info, task=["t1", "T3"], controller="uct")} == {"t1", "T3"}
    with pytest.raises(TypeError, match="not by tsak"):
        list(store.outcomes(info, tsak="t1"))
    with pytest.raises(Missing, match="there is no run 'other'; there are: paper"):
        list(store.outcomes("other"))
    assert store.counts(info)[:2] == (6, 6)


def test_what_is_written_can_be_read_at_once_and_later(place: str, info: RunInfo, made: Made) -> None:
    given = made()
    with Store.open(place) as store:
        store.begin(info)
        store.save(info, given)
        with Store.open(place, readonly=True) as reader:
            assert list(reader.searches(info)) == [given]
            with pytest.raises(StoreError, match="opened for reading"):
                reader.save(info, given)
            with pytest.raises(DBAPIError, match="readonly|read-only"), reader.database.reading.begin() as connection:
                connection.exec_driver_sql("DELETE FROM traces")
    with Store.open(place, readonly=True) as reader:
        assert reader.runs() == [info]
        assert list(reader.searches(info)) == [given]


def test_a_closed_record_is_one_file_and_reading_changes_nothing(tmp_path: Path, info: RunInfo, made: Made) -> None:
    path = tmp_path / "run.sqlite"
    given = made()
    with Store.open(path) as store:
        store.begin(info)
        store.save(info, given)
        assert list(store.searches(info)) == [given]
    assert not (tmp_path / "run.sqlite-wal").exists(), "a copy of the file would lose what stands there"
    before = path.read_bytes()
    with Store.open(path, readonly=True) as reader:
        assert reader.runs() == [info]
        assert list(reader.searches(info)) == [given]
    assert path.read_bytes() == before
