"""`paccf run` as a process on the simulated model: kill -9 at random instants, a disk that is full, a second process on
the folder, and twice the same bytes. PACCF_THOROUGH=1 kills a run of three domains and five controllers 50 times."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.experiment.conftest import contents

from paccf.cli import main
from paccf.search.chance import chance

THOROUGH = bool(os.environ.get("PACCF_THOROUGH"))
KILLS = 50 if THOROUGH else 2
SPEC = """
name = "whole"
seed = 3
budgets = [10, 20]
[calibration]
budget = 20
tasks = 6
exposed = 4
limit = 12
[certificate]
q = 0.7
[model]
preset = "simulated"
[execution]
workers = 1
[domains.game24]
test = 4
[controllers.uct]
[controllers.levin]
"""
MORE = """
[domains.blocksworld]
test = 4
[domains.gta]
test = 4
[controllers.toolchain]
[controllers.lats]
[controllers.tooltree]
"""


def start(folder: Path, *more: str, **how: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "paccf", "run", str(folder.parent / "whole.toml"), "-o", str(folder), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)


def run(folder: Path, *more: str, **how: Any) -> tuple[int, str, str]:
    process = start(folder, *more, **how)
    out, said = process.communicate(timeout=300)
    return process.returncode, out, said


def report(folder: Path) -> bytes:
    made = subprocess.run(
        [sys.executable, "-m", "paccf", "report", str(folder)], capture_output=True, text=True, timeout=300
    )
    assert made.returncode == 0, made.stderr
    return (folder / "report.html").read_bytes()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole")
    (path / "whole.toml").write_text(SPEC + MORE if THOROUGH else SPEC)
    return path


@pytest.fixture(scope="module")
def whole(place: Path) -> tuple[Path, str, float]:
    """An uninterrupted run: its folder, what it printed, and how long it took."""
    began = time.monotonic()
    code, out, said = run(place / "run")
    assert code == 0, said
    return place / "run", out, time.monotonic() - began


@pytest.fixture(scope="module")
def same(whole: tuple[Path, str, float]) -> Callable[[Path, str], None]:
    """Hold another folder against the uninterrupted run's: every row, every file, and what was printed."""
    first = contents(whole[0])

    def compare(folder: Path, out: str) -> None:
        found = contents(folder)
        assert set(found) == set(first), "no file more, none less"
        for part, value in found.items():
            assert value == first[part], part
        assert out.replace(str(folder), "") == whole[1].replace(str(whole[0]), "")

    return compare


def test_killed_at_random_instants_and_repeated_it_leaves_the_same_folder(
    place: Path, whole: tuple[Path, str, float], same: Callable[[Path, str], None]
) -> None:
    kills = folders = 0
    while kills < KILLS:
        folder, folders = place / f"killed-{folders}", folders + 1
        while True:
            running = start(folder)
            try:  # at any instant of a whole run, from its first import to its last line
                running.communicate(timeout=whole[2] * chance("instant", kills, folders) if kills < KILLS else 300)
            except subprocess.TimeoutExpired:
                running.kill()
                kills += 1
            out, said = running.communicate()
            assert running.returncode in (0, -signal.SIGKILL), said
            if running.returncode == 0:
                break
        same(folder, out)


def test_a_full_disk_stops_the_run_in_words_and_loses_nothing(place: Path, same: Callable[[Path, str], None]) -> None:
    """A limit on the size of files is what a disk without room is to a database, and needs no rights."""

    def little() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    code, _, said = run(place / "full", preexec_fn=little)
    assert code == 2, said
    assert "What was written is intact" in said
    assert "run the same command again" in said
    assert "Traceback" not in said
    code, out, said = run(place / "full")
    assert code == 0, said
    same(place / "full", out)


def test_two_workers_leave_the_same_bytes_and_a_second_process_changes_nothing(
    place: Path, whole: tuple[Path, str, float], same: Callable[[Path, str], None]
) -> None:
    folder = place / "two"
    first = start(folder, "--set", "execution.workers=2")
    while not (folder / "run.sqlite.lock").exists():
        assert first.poll() is None
        time.sleep(0.01)
    code, _, said = run(folder)
    if first.poll() is None:  # else the first one was done before the second had begun
        assert code == 2, said
        assert "is being written" in said
        assert "Traceback" not in said
    out, said = first.communicate(timeout=300)
    assert first.returncode == 0, said
    spec = folder / "spec.toml"
    spec.write_text(spec.read_text().replace("workers = 2", "workers = 1"))
    same(folder, out)
    if THOROUGH:
        assert report(whole[0]) == report(folder)
        for path in (whole[0], folder):
            (path / "report.html").unlink()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("domains.game24.source=nowhere", "there is no source of game24 called 'nowhere'"),
        ("domains.game24.test=5000", "5,000 tasks for test"),
        ("domains.blocksworld={source='planbench'}", "paccf data get"),
    ],
)
def test_what_cannot_be_drawn_leaves_no_folder(change: str, why: str, place: Path) -> None:
    for command in (["run", "-o", str(place / "none")], ["spec", "check"]):
        arguments = [*command, str(place / "whole.toml"), "--set", change, "--data", str(place)]
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code == 2, done.output
        assert why in done.output
        assert not (place / "none").exists()


@pytest.mark.parametrize(("key", "why"), [("", "set the environment variable DEEPSEEK_API_KEY"), ("a b", "no key")])
def test_without_a_key_no_folder_is_begun(key: str, why: str, tmp_path: Path) -> None:
    command = ["run", "deepseek", "-o", str(tmp_path / "none")]
    done = CliRunner().invoke(main, command, env={"DEEPSEEK_API_KEY": key})
    assert done.exit_code == 2, done.output
    assert why in done.output
    assert not (tmp_path / "none").exists()
