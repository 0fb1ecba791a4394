"""`paccf run` as a process against an endpoint as a process: faults, outages, Ctrl-C, kill -9, and a key that comes back.

The endpoint says what the simulated model says, so that whatever happens on the wire the run has to leave the trees,
bills and outcomes of the simulated run.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.e2e.processes import endpoint, sends

from paccf.cli import main
from paccf.experiment.folder import Folder
from paccf.record import texts
from paccf.record.schema import texts as texts_table
from paccf.record.tape import read_rows, totals
from paccf.record.values import Search
from paccf.search.chance import chance

KEY = "canary-9d1f/+e5=77"
KILLS = 60 if os.environ.get("PACCF_THOROUGH") else 4
CONCURRENCY = 8

SPEC = """
name = "live"
seed = 1
budgets = [10, 24]
[domains.game24]
test = 3
[controllers.uct]
[controllers.toolchain]
[controllers.lats]
[controllers.tooltree]
[controllers.levin]
[calibration]
budget = 24
tasks = 4
[certificate]
q = 0.6
[evaluator]
repeats = 2
[execution]
outage = 60
[model]
"""
LIVE = """preset = "{url}"
model = "m"
concurrency = 8
[model.patience]
attempt = 5
attempts = {attempts}
pause = 0.01
longest = 0.05
"""


def written(folder: Path, url: str, attempts: int = 8, **model: str) -> Path:
    path = folder / "live.toml"
    own = "".join(f'{key} = "{value}"\n' for key, value in model.items())
    path.write_text(SPEC + own + LIVE.format(url=url, attempts=attempts))
    return path


def paccf(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "paccf", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **more)


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "paccf", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def told(path: Path) -> list[Any]:
    """What a run found, without who answered and what went over the wire."""
    folder = Folder.look(path)
    try:
        return [plain(search) for search in folder.store.searches(folder.run)] + [
            sorted(
                (replace(o, costs=replace(o.costs, sent=0)) for o in folder.store.outcomes(folder.run)),
                key=lambda outcome: repr(outcome.key),
            )
        ]
    finally:
        folder.close()


def plain(search: Search) -> Search:
    outcome = replace(search.outcome, costs=replace(search.outcome.costs, sent=0))
    return replace(search, outcome=outcome, effects=(), asked=())


def tape(path: Path) -> tuple[Any, list[Any]]:
    folder = Folder.look(path)
    try:
        with folder.store.database.read() as connection:
            return totals(connection), list(read_rows(connection))
    finally:
        folder.close()


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The same run on the simulated model, in one process."""
    folder = tmp_path_factory.mktemp("simulated")
    (folder / "live.toml").write_text(SPEC)
    done = paccf("run", str(folder / "live.toml"), "-o", str(folder / "run"), "--quiet")
    assert done.returncode == 0, done.stderr
    return told(folder / "run")


def test_a_fifth_of_all_requests_fail_and_nothing_is_different_or_paid_twice(
    simulated: list[Any], tmp_path: Path
) -> None:
    ledger, run = tmp_path / "ledger", tmp_path / "run"
    with endpoint(ledger, "--faults", "20") as (url, _):
        spec = written(tmp_path, url, attempts=12)
        done = paccf("run", str(spec), "-o", str(run))
        assert done.returncode == 0, done.stderr
        asked = sends(ledger)
        again = paccf("run", str(spec), "-o", str(run), "--json")
        assert again.returncode == 0, again.stderr
        assert sends(ledger) == asked, "a finished run asks nothing"
    assert told(run) == simulated
    known, rows = tape(run)
    assert (known.answers, known.unknown, known.maybe_billed) == (len(rows), 0, 0)
    assert asked.total() == known.attempts > known.answers, "every attempt is on the tape, and no other"
    assert sorted(asked.values()) == sorted(row.begun for row in rows)
    assert set(sends(ledger, what="answered").values()) == {1}
    assert "SIMULATED" not in done.stdout
    audit = paccf("audit", str(run), "--json")
    assert audit.returncode == 0, audit.stdout
    recounted = next(c for c in json.loads(audit.stdout)["checks"] if c["check"] == "bills equal their tapes")
    assert recounted["made"] == 3 * 5 * 2 * 2, "tasks, controllers, budgets, arms"


def test_an_outage_is_waited_out(simulated: list[Any], tmp_path: Path) -> None:
    ledger, run = tmp_path / "ledger", tmp_path / "run"
    with endpoint(ledger, "--latency", "20") as (url, process):
        spec = written(tmp_path, url, attempts=2)
        running = start("run", str(spec), "-o", str(run))
        _until(lambda: sends(ledger).total() > 100)
        process.kill()
        process.wait()
        time.sleep(1)
        before = sends(ledger)
    with endpoint(ledger, port=int(url.split(":")[2].split("/")[0])):
        _, said = running.communicate(timeout=120)
    assert running.returncode == 0, said
    assert "the endpoint does not answer" in said
    assert "the endpoint answers again" in said
    assert told(run) == simulated
    assert (sends(ledger) - before).total() > 0
    assert sum(count > 1 for count in sends(ledger).values()) <= CONCURRENCY, "only what was in flight was sent again"


def test_after_one_ctrl_c_what_is_in_flight_comes_in_and_the_same_command_goes_on(
    simulated: list[Any], tmp_path: Path
) -> None:
    ledger, run = tmp_path / "ledger", tmp_path / "run"
    with endpoint(ledger, "--latency", "50") as (url, _):
        spec = written(tmp_path, url)
        for part in (100, 300):
            running = start("run", str(spec), "-o", str(run))
            _until(lambda least=part: sends(ledger).total() > least)
            running.send_signal(signal.SIGINT)
            _, said = running.communicate(timeout=30)
            assert running.returncode == 130, said
            assert f"to go on: paccf run {run}" in said
            assert "Traceback" not in said
        done = paccf("run", str(run))
        assert done.returncode == 0, done.stderr
    assert told(run) == simulated
    assert set(sends(ledger).values()) == {1}, "nothing was sent twice"


def test_ctrl_c_in_an_outage_does_not_wait_for_its_end(tmp_path: Path) -> None:
    with endpoint(tmp_path / "ledger") as (url, _):
        spec = written(tmp_path, url, attempts=3)
    running = start("run", str(spec), "-o", str(tmp_path / "run"))  # nobody is there any more
    assert running.stderr is not None
    while "does not answer" not in running.stderr.readline():
        assert running.poll() is None
    began = time.monotonic()
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=30)
    assert running.returncode == 130
    assert time.monotonic() - began < 10


def test_killed_at_random_instants_it_goes_on_and_ends_the_same(simulated: list[Any], tmp_path: Path) -> None:
    ledger, run = tmp_path / "ledger", tmp_path / "run"
    kills = 0
    with endpoint(ledger, "--latency", "30") as (url, _):
        spec = written(tmp_path, url)
        while True:
            begun = sends(ledger).total()
            running = start("run", str(spec), "-o", str(run))
            if kills < KILLS:  # not before it has sent something: most of a start is imports
                _until(lambda begun=begun, running=running: _more(ledger, begun) or running.poll() is not None)
                time.sleep(0.4 * chance("instant", kills))
                running.kill()
            said = running.communicate(timeout=120)[1]
            if running.returncode == 0:
                break
            assert running.returncode == -signal.SIGKILL, said
            kills += 1
    assert told(run) == simulated
    asked = sends(ledger)
    known, rows = tape(run)
    assert len(asked) == known.answers == len(rows)
    assert sum(count - 1 for count in asked.values()) <= kills * CONCURRENCY, "more was sent again than was in flight"
    assert sorted(asked.values()) <= sorted(row.begun for row in rows)
    assert asked.total() <= known.attempts <= len(asked) + kills * CONCURRENCY


def test_a_key_and_escapes_in_every_answer_are_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The endpoint repeats the key and clears the screen in every answer, then refuses it with the key in the reason."""
    monkeypatch.setenv("PACCF_TEST_KEY", KEY)
    ledger, run = tmp_path / "ledger", tmp_path / "run"
    said = []
    with endpoint(ledger, "--key", KEY) as (url, _):
        spec = written(tmp_path, url, key_env="PACCF_TEST_KEY")
        for arguments in (
            ("run", str(spec), "-o", str(run)),
            ("run", str(run), "--json"),
            ("status", str(run)),
            ("models", "check", str(spec)),
            ("search", "--task", "4 7 8 8", "--model-spec", str(spec), "--budget", "12", "--tree", "--verbose"),
            ("search", "--task", "4 7 8 8", "--model-spec", str(spec), "--budget", "12", "--json"),
        ):
            done = paccf(*arguments)
            assert done.returncode == 0, done.stderr
            said += [done.stdout, done.stderr]
    with endpoint(tmp_path / "other", "--key", "another" + KEY) as (url, _):
        monkeypatch.setenv("PACCF_TEST_KEY", KEY[:-1])
        spec = written(tmp_path, url, key_env="PACCF_TEST_KEY")
        refused = paccf("--verbose", "search", "--task", "4 7 8 8", "--model-spec", str(spec), "--verbose")
        assert refused.returncode in (1, 2)
        said += [refused.stdout, refused.stderr]
    run_at, copy = str(run), str(tmp_path / "copy.sqlite")
    for arguments in (  # what only reads the record; this process knows no key that it could take out
        ("runs", run_at),
        ("doctor", run_at),
        ("import", run_at, "-o", copy),
        ("import", run_at, "-o", str(tmp_path / "folder")),
        ("doctor", copy, "--json"),
        *[("export", run_at, "-o", str(tmp_path / form), "--format", form) for form in ("jsonl", "parquet")],
        *[("export", run_at, table) for table in ("tape", "effects", "candidates", "outcomes")],
        ("export", run_at, "--frontier-log", "-o", str(tmp_path / "logs")),
        ("show", run_at, told(run)[-1][-1].key.task, "--controller", "uct"),
        ("replay", run_at),
        ("spec", "check", run_at),
        ("status", run_at, "--json"),
    ):
        done_here = CliRunner().invoke(main, arguments)
        assert done_here.exit_code == 0, done_here.output
        said += [done_here.stdout, done_here.stderr]
    for text in said:
        assert KEY[:-1] not in text
        assert "\x1b" not in text
    for file in tmp_path.rglob("*"):
        if file.is_file():
            assert KEY[:-1].encode() not in file.read_bytes(), file
    folder = Folder.look(run)
    try:
        with folder.store.database.read() as connection:
            kept = [texts.unpack(row.digest, row.body) for row in connection.execute(texts_table.select())]
    finally:
        folder.close()
    assert any("your key: [redacted]" in text for text in kept)
    assert not any(KEY[:-1] in text for text in kept)


def _more(ledger: Path, than: int) -> bool:
    return sends(ledger).total() > than


def _until(holds: Any, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_the_spec_of_these_tests_is_toml() -> None:
    assert tomllib.loads(SPEC + LIVE.format(url="http://h/v1", attempts=1))["model"]["concurrency"] == CONCURRENCY
