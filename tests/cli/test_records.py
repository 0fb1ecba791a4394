"""`paccf runs`, `export`, `import`, `doctor`: records from the command line."""

from __future__ import annotations

import csv
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner, Result
from tests.record.conftest import RUN, toy_search

from paccf.cli import main
from paccf.experiment.folder import spec_in
from paccf.models.tape import Asked, DurableTape, key
from paccf.record.errors import StoreError
from paccf.record.flat import TABLES
from paccf.record.store import Store
from paccf.search.tree import Task
from paccf.search.world import Answer, Request, Subject

SETS = (
    "budgets=[10, 20]",
    "calibration.budget=20",
    "calibration.tasks=12",
    "calibration.exposed=5",
    "certificate.q=0.8",
    "domains.game24.test=4",
)


def run(*args: str) -> Result:
    return CliRunner().invoke(main, [*args])


def done(*args: str) -> Result:
    result = run(*args)
    assert result.exit_code == 0, result.output
    return result


def refused(*args: str) -> str:
    result = run(*args)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    return result.stderr


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole experiment."""
    path = tmp_path_factory.mktemp("played") / "smoke"
    done("run", "smoke", "-o", str(path), "--quiet", *[part for change in SETS for part in ("--set", change)])
    return path


def test_runs_are_listed_and_a_bad_record_hides_no_other(played: Path, tmp_path: Path) -> None:
    (listed,) = json.loads(done("runs", str(played), "--json").stdout)["runs"]
    assert (listed["name"], listed["simulated"], listed["searches"], listed["outcomes"]) == ("smoke", True, 40, 56)
    folder = tmp_path / "runs"
    for name in ("a", "b", "c"):
        (folder / name).mkdir(parents=True)
    (folder / "a" / "run.sqlite").write_bytes((played / "run.sqlite").read_bytes())
    (folder / "b" / "run.sqlite").write_bytes(b"no database")
    said = done("runs", str(folder)).stdout
    assert "SIMULATED/paper-like" in said
    assert "is no SQLite database" in said
    assert "there are no run folders" in refused("runs", str(folder / "c"))
    assert "no record at" in refused("runs", str(tmp_path / "nowhere"))


def test_every_format_holds_the_same_rows(played: Path, tmp_path: Path) -> None:
    for form in ("jsonl", "csv", "parquet"):
        assert "SIMULATED" in done("export", str(played), "-o", str(tmp_path / form), "--format", form).stderr
    about = json.loads((tmp_path / "csv" / "run.json").read_text())
    assert (about["simulated"], about["spec"]["seed"]) == (True, 1)
    for table, flat in TABLES.items():
        names = [column.name for column in flat.columns]
        lines = [json.loads(line) for line in (tmp_path / "jsonl" / f"{table}.jsonl").read_text().splitlines()]
        with (tmp_path / "csv" / f"{table}.csv").open(newline="") as file:
            cells = list(csv.DictReader(file))
        frame = pl.read_parquet(tmp_path / "parquet" / f"{table}.parquet")
        assert len(lines) == len(cells) == frame.height
        assert frame.columns == names
        for line, cell, row in zip(lines, cells, frame.iter_rows(named=True), strict=True):
            assert list(line) == list(cell) == names
            for column in flat.columns:
                value = line[column.name]
                assert row[column.name] == (json.dumps(value, sort_keys=True) if column.kind == "map" else value)
                text = cell[column.name]
                if value is None or column.kind == "text":
                    assert text == (value or "")
                else:
                    assert json.loads(text) == value
    assert len((tmp_path / "jsonl" / "candidates.jsonl").read_text().splitlines()) > 500


def test_a_table_goes_to_stdout_and_conditions_choose(played: Path) -> None:
    text = done("export", str(played), "outcomes", "--arm", "native", "--budget", "10", "--controller", "uct").stdout
    rows = [json.loads(line) for line in text.splitlines()]
    assert len(rows) == 4
    assert {(row["arm"], row["budget"], row["controller"]) for row in rows} == {("native", 10, "uct")}
    small = done("export", str(played), "candidates", "--phase", "test", "--budget", "10").stdout.splitlines()
    large = done("export", str(played), "candidates", "--phase", "test").stdout.splitlines()
    assert 0 < len(small) < len(large)
    assert {json.loads(line)["budget"] for line in large} == {20}
    assert done("export", str(played), "exclusions", "--format", "csv").stdout == "domain,task,reason\n"


def test_a_frontier_log_of_the_run_gives_the_run_s_margins(played: Path, tmp_path: Path) -> None:
    written = json.loads(done("export", str(played), "--frontier-log", "-o", str(tmp_path / "logs"), "--json").stdout)
    assert written["simulated"]
    assert len(written["written"]) == 2
    done("export", str(played), "--frontier-log", "--phase", "test", "-o", str(tmp_path / "tests"))
    for controller in ("uct", "levin"):
        frozen = json.loads((played / "certificates" / f"game24-{controller}.json").read_text())
        matched = [part for name, text in frozen["matched_to"].items() for part in ("--match", f"{name}={text}")]
        own = tmp_path / f"{controller}.json"
        log = str(tmp_path / "logs" / f"game24-{controller}.jsonl")
        done("calibrate", log, "-q", "0.8", "--labels", "oracle", "--budget", "20", *matched, "-o", str(own))
        made = json.loads(own.read_text())
        for field in ("margin", "n", "k", "deficits", "matched_to", "observations"):
            assert made[field] == frozen[field], field
        held = json.loads(
            done("coverage", str(tmp_path / "tests" / f"game24-{controller}.jsonl"), str(own), "--json").stdout
        )
        assert held["tasks"] == 4
        assert json.loads(done("what-if", log, "--json").stdout)
    pruned = done(
        "export", str(played), "--frontier-log", "--phase", "test", "--arm", "paccf", "--controller", "uct"
    ).stdout
    (tmp_path / "pruned.jsonl").write_text(pruned)
    assert "a gate dropped candidates of this search" in refused("calibrate", str(tmp_path / "pruned.jsonl"))
    one = done("export", str(played), "--frontier-log", "--controller", "levin").stdout
    assert one == (tmp_path / "logs" / "game24-levin.jsonl").read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nonsense",), "there is no table nonsense; there are outcomes"),
        ((), "all tables go into a folder: say which with -o"),
        (("--frontier-log",), "the logs of 2 cells go into a folder"),
        (("--frontier-log", "--format", "csv"), "a log of its own"),
        (("--frontier-log", "--domain", "gta"), "no such searches"),
        (("outcomes", "--format", "parquet"), "Parquet is no text"),
        (("outcomes", "--labels", "found"), "have labels oracle"),
        (("outcomes", "--run", "other"), "holds no run other; it holds smoke"),
        (("outcomes", "-o", "/nowhere/x.jsonl"), "No such file"),
    ],
)
def test_what_cannot_be_exported_is_told(played: Path, arguments: tuple[str, ...], says: str) -> None:
    assert says in refused("export", str(played), *arguments)


def test_a_run_goes_through_a_record_and_back(played: Path, tmp_path: Path) -> None:
    record, back = str(tmp_path / "all.sqlite"), tmp_path / "back"
    for _ in range(2):
        brought = json.loads(done("import", str(played), "-o", record, "--json").stdout)
    assert (brought["searches"], brought["labels"], brought["certificates"], brought["left_out"]) == (40, 40, 2, 0)
    done("import", record, "-o", str(back), "--run", "smoke")
    for name in ("certificates/game24-uct.json", "certificates/game24-levin.json"):
        assert (back / name).read_bytes() == (played / name).read_bytes()
    assert spec_in(back) == spec_in(played)
    again = json.loads(done("run", str(back), "--json").stdout)
    assert again.keys() == json.loads(done("run", str(played), "--json").stdout).keys()
    done("audit", str(back))
    same = [
        done("export", str(place), "--frontier-log", "--controller", "uct").stdout for place in (played, back, record)
    ]
    assert same[0] == same[1] == same[2]


def test_a_record_in_postgresql_is_one_like_any_other(
    played: Path, tmp_path: Path, postgres: Callable[[], str]
) -> None:
    url = postgres()
    assert "it is an empty database" in done("runs", url).stdout
    done("import", str(played), "-o", url)
    assert json.loads(done("runs", url, "--json").stdout)["runs"][0]["searches"] == 40
    found = json.loads(done("doctor", url, "--json").stdout)
    assert found["sound"]
    assert {"searches", "tape", "orphans"} <= {finding["what"] for finding in found["findings"]}
    for table in ("outcomes", "candidates", "certificates"):
        assert done("export", url, table).stdout == done("export", str(played), table).stdout
    done("import", url, "-o", str(tmp_path / "back"))


def test_what_cannot_be_imported_is_told(played: Path, tmp_path: Path) -> None:
    new = str(tmp_path / "new.sqlite")
    assert "holds no run x; it holds smoke" in refused("import", str(played), "-o", new, "--run", "x")
    assert "goes with neither" in refused("import", str(played), "-o", new, "--tape-only", "--run", "smoke")
    assert "no run folder" in refused("import", str(played), "-o", str(tmp_path / "folder"), "--tape-only")
    assert "both what to copy and where to" in refused("import", str(played), "-o", str(played / "run.sqlite"))
    other = tmp_path / "other"
    small = ("budgets=[5]", "calibration.tasks=1", "calibration.exposed=1", "domains.game24.test=1")
    done("run", "smoke", "-o", str(other), "--quiet", *[part for change in small for part in ("--set", change)])
    assert "is the folder of another run: budgets is" in refused("import", str(played), "-o", str(other))
    done("import", str(other), "-o", new)
    assert "run smoke, spec: recorded is" in refused("import", str(played), "-o", new)


def test_the_doctor_finds_a_sound_record_sound(played: Path) -> None:
    found = json.loads(done("doctor", str(played), "--json").stdout)
    assert found["sound"]
    states = {finding["what"]: finding["state"] for finding in found["findings"]}
    assert {"SQLite", "place", "writer", "pages", "schema", "searches", "tape", "orphans"} <= states.keys()
    assert "40 of 1 runs" in done("doctor", str(played)).stdout
    assert "SQLite" in done("doctor").stdout
    assert "say which record" in refused("doctor", "--migrate")
    assert "no record at" in refused("doctor", "nowhere")


def changed(played: Path, path: Path, *statements: str) -> str:
    path.write_bytes((played / "run.sqlite").read_bytes())
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return str(path)


@pytest.mark.parametrize(
    ("statement", "what", "says"),
    [
        (
            "UPDATE candidates SET score = score + 1 WHERE trace = 3 AND place = 0",
            "searches",
            "is not what was written",
        ),
        ("UPDATE outcomes SET solved = 1 - solved WHERE trace = 2", "searches", "is not what was written"),
        ("UPDATE labels SET protected = replace(protected, '0', '1')", "searches", "labels of"),
        ("UPDATE certificates SET text = '{}' WHERE controller = 'uct'", "searches", "certificate of"),
        ("UPDATE runs SET simulated = 0", "searches", "the entry of run 'smoke'"),
        ("DELETE FROM traces WHERE id = 5", "orphans", "rows of candidates"),
        ("DELETE FROM outcomes WHERE trace = 5", "orphans", "1 rows of traces"),
        ("INSERT INTO texts VALUES (x'00', x'3d')", "texts", "1 are used by nothing"),
    ],
)
def test_the_doctor_finds_what_was_changed(played: Path, tmp_path: Path, statement: str, what: str, says: str) -> None:
    result = run("doctor", changed(played, tmp_path / "x.sqlite", statement), "--json")
    found = json.loads(result.stdout)
    state = "note" if what == "texts" else "wrong"
    assert any((f["what"], f["state"]) == (what, state) and says in f["said"] for f in found["findings"]), found
    assert result.exit_code == (state == "wrong")
    assert all(f["remedy"] for f in found["findings"] if f["state"] != "ok")


def test_what_is_damaged_is_left_out_by_name_and_the_rest_saved(played: Path, tmp_path: Path) -> None:
    bad = changed(played, tmp_path / "bad.sqlite", "UPDATE nodes SET visits = visits + 1 WHERE trace = 4 AND place = 0")
    assert "is not what was written" in refused("export", bad, "candidates")
    assert "is not what was written" in refused("import", bad, "-o", str(tmp_path / "no.sqlite"))
    saved = run("import", bad, "-o", str(tmp_path / "saved.sqlite"), "--skip-bad", "--json")
    assert saved.exit_code == 1
    assert (json.loads(saved.stdout)["searches"], json.loads(saved.stdout)["left_out"]) == (39, 1)
    assert "trace of" in saved.stderr
    assert json.loads(done("doctor", str(tmp_path / "saved.sqlite"), "--json").stdout)["sound"]
    left = run("export", bad, "candidates", "--skip-bad")
    assert left.exit_code == 1
    whole = done("export", str(played), "candidates").stdout.splitlines()
    assert set(left.stdout.splitlines()) < set(whole)


def test_a_run_that_was_saved_does_the_rest_again(played: Path, tmp_path: Path) -> None:
    """A calibration search and a test search are lost: the margins stay, and the record agrees with itself again."""
    lost = "UPDATE nodes SET visits = visits + 1 WHERE place = 0 AND trace IN (SELECT {}(id) FROM traces)"
    bad = changed(played, tmp_path / "bad.sqlite", lost.format("min"), lost.format("max"))
    saved = run("import", bad, "-o", str(tmp_path / "saved"), "--skip-bad", "--json")
    assert (json.loads(saved.stdout)["searches"], json.loads(saved.stdout)["left_out"]) == (38, 2)
    done("run", str(tmp_path / "saved"), "--quiet")
    for table in ("outcomes", "candidates", "certificates"):
        assert done("export", str(tmp_path / "saved"), table).stdout == done("export", str(played), table).stdout
    done("audit", str(tmp_path / "saved"))


def test_a_page_that_is_lost_costs_only_what_was_on_it(played: Path, tmp_path: Path) -> None:
    """Pages overwritten with noise, in the middle of the file: SQLite refuses it, and the rest is saved."""
    data = bytearray((played / "run.sqlite").read_bytes())
    size = int.from_bytes(data[16:18], "big")
    saved = []
    for page in range(20, len(data) // size, 9):
        bad = bytearray(data)
        bad[page * size : (page + 1) * size] = b"\xa5" * size
        path = tmp_path / f"{page}.sqlite"
        path.write_bytes(bad)
        result = run("import", str(path), "-o", str(tmp_path / f"saved{page}.sqlite"), "--skip-bad", "--json")
        assert result.exit_code in (0, 1), result.output
        found = json.loads(result.stdout)
        assert found["searches"] == 40 or found["left_out"]
        saved.append(found["searches"])
        with Store.open(tmp_path / f"saved{page}.sqlite", readonly=True) as store:
            kept = [search for name in store.runs() for search in store.searches(name, "oracle")]
        with Store.open(played / "run.sqlite", readonly=True) as store:
            whole = {search.outcome.key: search for search in store.searches("smoke", "oracle")}
        assert all(whole[search.outcome.key].frontiers == search.frontiers for search in kept)
    assert len(saved) > 2
    assert sum(saved) > 0.8 * 40 * len(saved), saved


def test_of_a_file_that_was_cut_the_beginning_is_saved(played: Path, tmp_path: Path) -> None:
    path, saved = tmp_path / "cut.sqlite", tmp_path / "saved.sqlite"
    data = (played / "run.sqlite").read_bytes()
    path.write_bytes(data[: -2 * int.from_bytes(data[16:18], "big") - 777])
    assert "is damaged" in refused("export", str(path), "outcomes")
    assert run("doctor", str(path)).exit_code == 1
    result = run("import", str(path), "-o", str(saved), "--skip-bad", "--json")
    assert result.exit_code == 1
    assert "The file is damaged" in result.stderr
    assert 0 < json.loads(result.stdout)["searches"] < 40
    assert json.loads(done("doctor", str(saved), "--json").stdout)["sound"]


def test_hostile_text_goes_through_every_format(tmp_path: Path, hostile: str) -> None:
    given = toy_search()
    frontier = given.frontiers[0]
    candidates = tuple(replace(c, text=hostile) for c in frontier.candidates)
    outcome = replace(given.outcome, solution=hostile, metrics={"share": 0.5})
    search = replace(given, outcome=outcome, frontiers=(replace(frontier, candidates=candidates), *given.frontiers[1:]))
    path = str(tmp_path / "run.sqlite")
    with Store.open(path) as store:
        store.begin(RUN)
        store.save(RUN, search)
    rows = [json.loads(line) for line in done("export", path, "candidates").stdout.splitlines()]
    assert rows[0]["text"] == hostile
    assert "\x1b" not in done("export", path, "candidates").stdout
    for form in ("csv", "parquet"):
        done("export", path, "-o", str(tmp_path / form), "--format", form)
    shown = hostile.encode("utf-8", "backslashreplace").decode()
    assert pl.read_parquet(tmp_path / "parquet" / "outcomes.parquet")["solution"][0] == shown
    with (tmp_path / "csv" / "outcomes.csv").open(newline="", encoding="utf-8") as file:
        assert next(csv.DictReader(file))["solution"] == shown


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
def test_on_a_terminal_what_a_model_wrote_is_written_out(tmp_path: Path, hostile: str) -> None:
    given = toy_search()
    path = str(tmp_path / "run.sqlite")
    with Store.open(path) as store:
        store.begin(RUN)
        store.save(RUN, replace(given, outcome=replace(given.outcome, solution=hostile)))
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "paccf", "export", path, "outcomes", "--format", "csv", "--quiet"]
    subprocess.run(command, stdout=theirs, check=True, timeout=60)
    shown = os.read(ours, 1 << 16)
    os.close(ours)
    os.close(theirs)
    assert b"\\x1b[2J" in shown
    assert b"\x1b" not in shown


@pytest.fixture
def hostile() -> str:
    return '\x1b[2J"a,\n\r\u202eb\ud800\u2028\x00=1+1'


def test_an_older_record_is_moved_forward(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    connection = sqlite3.connect(path)
    dump = Path(__file__).parents[1] / "record" / "data" / "version1.sql"
    connection.executescript(dump.read_text())
    connection.close()
    assert f"paccf doctor {path} --migrate" in refused("doctor", str(path))
    assert json.loads(done("doctor", str(path), "--migrate", "--json").stdout)["sound"]


def test_the_library_s_bug_is_known_by_its_versions() -> None:
    from paccf.record.health import library

    bad = [(3, 7, 0), (3, 40, 1), (3, 44, 5), (3, 45, 1), (3, 50, 6), (3, 51, 2)]
    good = [(3, 6, 23), (3, 44, 6), (3, 50, 7), (3, 51, 3), (3, 52, 0), (3, 53, 4)]
    assert [library(v).state for v in bad] == ["note"] * len(bad)
    assert [library(v).state for v in good] == ["ok"] * len(good)


def test_numpy_and_polars_say_what_the_record_says(played: Path) -> None:
    from paccf.record.flat import rows, to_numpy, to_polars

    with Store.open(played / "run.sqlite", readonly=True) as store:
        chosen: dict[str, Any] = {"labels": "oracle", "phase": "calibration"}
        found = list(rows(store, "smoke", "candidates", **chosen))
        arrays = to_numpy(store, "smoke", "candidates", **chosen)
        frame = to_polars(store, "smoke", "candidates", **chosen)
        assert frame.rows() == [tuple(row) for row in found]
        names = [column.name for column in TABLES["candidates"].columns]
        assert list(arrays) == names
        kept = names.index("kept")
        assert arrays["kept"].dtype == bool
        assert arrays["kept"].tolist() == [row[kept] for row in found]
        assert arrays["gap"].tolist() == [-1] * len(found)
        assert set(arrays["protected"].tolist()) == {0, 1}
        scores = [float("nan") if row[names.index("score")] is None else row[names.index("score")] for row in found]
        assert str(arrays["score"].tolist()) == str(scores)
        assert arrays["observations"][0] == found[0][names.index("observations")]
        with pytest.raises(StoreError, match="there is no run nobody|no run 'nobody'"):
            to_numpy(store, "nobody", "outcomes")
        assert to_polars(store, "smoke", "exclusions").height == 0


def test_status_says_what_the_tape_does_not_know(played: Path, tmp_path: Path) -> None:
    """Usage that no provider stated is not zero; what failed and what may have been billed is counted."""
    folder = shutil.copytree(played, tmp_path / "run")

    def asked(prompt: str) -> Asked:
        request = Request("propose", prompt, 0, Subject(Task("t", None), ""))
        return Asked(key(request, "m"), "m", "", request)

    with Store.open(folder / "run.sqlite") as store:
        tape = DurableTape(store, "m")
        for number in range(3):
            tape.keep(asked(f"p{number}"), Answer("so", None, None, "stop", 0.1, 1)).result()
        for prompt in ("failed", "failed too", "cut off"):
            tape.begin(asked(prompt)).result()
        for prompt in ("failed", "failed too"):
            tape.fail(asked(prompt), "refused").result()
    said = done("status", str(folder)).output
    assert "Tape: 3 answers, 3 attempts on the wire, usage of 3 answers unknown.\n" in said
    assert "tokens" not in said
    assert "2 requests failed" in said
    assert "1 requests have no answer" in said
    with Store.open(folder / "run.sqlite") as store:
        DurableTape(store, "m").keep(asked("known"), Answer("so", 7, 2, "stop", 0.1, 1)).result()
    said = done("status", str(folder)).output
    assert (
        "Tape: 4 answers, 3 attempts on the wire, 7 prompt and 2 completion tokens, usage of 3 answers unknown." in said
    )
