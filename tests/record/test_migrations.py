"""A record of an older version moves forward whole; one of a newer version is refused and left as it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, inspect

from paccf.record import schema, texts
from paccf.record.copying import copy_run
from paccf.record.errors import Foreign
from paccf.record.migrations import STEPS
from paccf.record.store import Store
from paccf.record.tape import read_rows
from paccf.record.values import Exclusion, RunInfo, Search

Made = Callable[..., Search]
OLD = Path(__file__).with_name("data") / "version1.sql"


def old_record(path: Path) -> Path:
    connection = sqlite3.connect(path)
    connection.executescript(OLD.read_text())
    connection.close()
    return path


def tables(store: Store) -> dict[str, list[tuple[str, str]]]:
    with store.database.read() as connection:
        names = inspect(connection).get_table_names()
        return {
            name: sorted((c["name"], str(c["type"])) for c in inspect(connection).get_columns(name)) for name in names
        }


def test_every_older_version_has_a_way_forward() -> None:
    assert sorted(STEPS) == list(range(1, schema.VERSION))


def test_a_record_of_version_1_is_read_whole(tmp_path: Path, info: RunInfo, made: Made) -> None:
    path = old_record(tmp_path / "old.sqlite")
    with pytest.raises(Foreign, match=r"older schema 1; move .*paccf doctor .* --migrate"):
        Store.open(path, readonly=True)
    with Store.open(path) as store, Store.open(tmp_path / "new.sqlite") as new:
        whole, part = made("levin", "t1", 20), made("levin", "t1", 8)
        assert list(store.searches(info)) == [whole, Search(part.outcome, part.frontiers)]
        (labelled, _) = store.searches(info, "found")
        assert labelled.frontiers[0].protected == (None, True, False)
        assert store.entry(info).versions == ({"paccf": "0.1.0"}, {"paccf": "0.1.1"})
        assert store.run(info).caveats == ()
        assert store.exclusions(info) == [Exclusion("toy", "t9\x00\x1b", "no answer")]
        assert store.certificates(info) == {("toy", "levin"): "{}"}
        with store.database.read() as connection:
            rows = list(read_rows(connection))
        said = sorted((row.question.draw, row.begun, row.reply and row.reply.text, row.failure) for row in rows)
        assert said == [(0, 2, "an answer", None), (1, 1, None, "403"), (2, 1, None, None)]
        assert tables(store) == tables(new)
        copy_run(store, new, "paper")
        assert list(new.searches(info, "found")) == list(store.searches(info, "found"))
    with Store.open(path, readonly=True) as store:
        assert len(list(store.searches(info))) == 2


def test_a_step_that_fails_leaves_the_old_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(connection: Connection) -> None:
        connection.exec_driver_sql("DROP TABLE tape")
        raise OSError(28, "No space left on device")

    path = old_record(tmp_path / "old.sqlite")
    monkeypatch.setitem(STEPS, 1, fails)
    with pytest.raises(Exception, match="no space left"):
        Store.open(path)
    monkeypatch.undo()
    with Store.open(path) as store:
        assert store.tape().answers == 1


def test_both_databases_move_forward(place: str, info: RunInfo, made: Made) -> None:
    """What this version writes, taken back to version 1, comes out the same."""
    with Store.open(place) as store:
        store.begin(info)
        given = made()
        store.save(info, given)
        labels = [[True] * len(f.candidates) for f in given.frontiers]
        store.put_labels(info, given.outcome.key, "found", labels)
        store.exclude(info, Exclusion("toy", "t9", "\x00"))
        expected = list(store.searches(info, "found"))
        store.database.write(_back, [("found", _text(labels))])
    with Store.open(place) as store:
        assert list(store.searches(info, "found")) == expected
        assert store.exclusions(info) == [Exclusion("toy", "t9", "\x00")]
        assert store.runs() == [info]


def _text(labels: list[list[bool]]) -> str:
    return "".join("1" * len(frontier) + "," for frontier in labels)


def _back(connection: Connection, given: Any) -> list[None]:
    for name in ("runs", "exclusions"):
        connection.exec_driver_sql(f"ALTER TABLE {name} DROP COLUMN seal")
    connection.exec_driver_sql("ALTER TABLE runs DROP COLUMN caveats")
    connection.exec_driver_sql("ALTER TABLE tape DROP COLUMN tally")
    (((mode, text),),) = given
    connection.execute(schema.labels.update().values(seal=texts.seal(mode, text)))
    connection.execute(schema.schema.update().values(version=1))
    return [None]


def test_a_newer_version_is_refused_and_left_as_it_is(place: str, info: RunInfo) -> None:
    with Store.open(place) as store:
        store.begin(info)
        store.database.write(_future, None)
    for readonly in (True, False):
        with pytest.raises(Foreign, match=f"schema {schema.VERSION + 1}, and this paccf knows up to {schema.VERSION}"):
            Store.open(place, readonly=readonly)
    if "://" not in place:
        connection = sqlite3.connect(place)
        assert connection.execute("SELECT version FROM paccf_schema").fetchall() == [(schema.VERSION + 1,)]
        connection.close()


def _future(connection: Connection, given: Any) -> list[None]:
    connection.execute(schema.schema.update().values(version=schema.VERSION + 1))
    return [None]


def test_somebody_elses_database_is_refused(place: str) -> None:
    with Store.open(place) as store:
        store.database.write(_somebody_elses, None)
    with pytest.raises(Foreign, match=r"other tables \(other\); give a database of its own"):
        Store.open(place)


def _somebody_elses(connection: Connection, given: Any) -> list[None]:
    schema.METADATA.drop_all(connection)
    connection.exec_driver_sql("CREATE TABLE other (a INTEGER)")
    return [None]
