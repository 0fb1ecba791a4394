"""Shards of a run, brought together, are the run that one machine makes, to the byte of every figure."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from paccf.cli import main
from paccf.experiment.folder import OtherSpec
from paccf.experiment.merging import merge
from paccf.experiment.reading import read
from paccf.experiment.schedule import Shard
from paccf.experiment.spec import Spec, SpecError

from .conftest import SMALL, Here, contents

Run = Callable[..., tuple[bool, Here]]


def report(folder: Path) -> bytes:
    done = CliRunner().invoke(main, ["report", str(folder), "-o", str(folder / "report.html")])
    assert done.exit_code == 0, done.output
    return (folder / "report.html").read_bytes()


@pytest.mark.parametrize("count", [2, 3])
def test_merged_shards_are_the_unsharded_run(count: int, small: Spec, experiment: Run, tmp_path: Path) -> None:
    solo, whole = tmp_path / "solo", tmp_path / "whole"
    experiment(small, solo)
    rounds = 0
    while True:
        parts = []
        for number in range(count, 0, -1):  # in any order
            part = tmp_path / f"{rounds}-{number}"
            if whole.exists():
                shutil.copytree(whole, part)
            complete, _ = experiment(small, part, shard=Shard(number, count))
            assert not complete, "a shard never says that all is there"
            parts.append(part)
        merge(parts, whole)
        rounds += 1
        merged = contents(whole)
        if len(merged["searches"]) == len(contents(solo)["searches"]):
            break
        assert rounds < 5
    assert rounds >= 2, "margins need the calibration runs of all parts"
    complete, here = experiment(small, whole)
    assert complete
    assert not here.played, "nothing was left to do"
    assert contents(whole) == contents(solo)
    assert report(whole) == report(solo)


def test_the_rest_of_a_merged_run_may_be_done_by_one_machine(small: Spec, experiment: Run, tmp_path: Path) -> None:
    experiment(small, tmp_path / "solo")
    for number in (1, 2):
        experiment(small, tmp_path / f"{number}", shard=Shard(number, 2))
    merge([tmp_path / "2"], tmp_path / "1")  # into one of them
    merge([tmp_path / "1", tmp_path / "2"], tmp_path / "1")  # again, and with itself
    complete, _ = experiment(small, tmp_path / "1")
    assert complete
    assert contents(tmp_path / "1") == contents(tmp_path / "solo")


def test_parts_of_different_experiments_are_refused(small: Spec, experiment: Run, tmp_path: Path) -> None:
    experiment(small, tmp_path / "a", limit=1)
    experiment(read("smoke", [*SMALL, "seed=2"]), tmp_path / "b", limit=1)
    with pytest.raises(OtherSpec, match="b is a part of another experiment than .*a: seed is 1 there, 2 here"):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "whole")
    with pytest.raises(SpecError, match="nothing is no run folder"):
        merge([tmp_path / "a", tmp_path / "nothing"], tmp_path / "whole")
    assert not (tmp_path / "whole").exists(), "nothing is begun that cannot be"


def test_parts_and_folders_that_stated_no_controller_settings_go_on(
    small: Spec, experiment: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As versions did that left a controller's defaults out of the spec."""
    experiment(small, tmp_path / "solo")
    with monkeypatch.context() as older:
        older.setattr("paccf.experiment.spec.stated", lambda name, config: dict(config))
        terse = read("smoke", SMALL)
        assert not any(terse.controllers.values())
        experiment(terse, tmp_path / "old", shard=Shard(1, 2))
    for path in (tmp_path / "old", tmp_path / "new"):
        complete, here = experiment(small, path, shard=Shard(1 if path.name == "old" else 2, 2))
        assert bool(here.played) == (path.name == "new"), "what was there is not done again"
    for parts in (["old", "new"], ["new", "old"]):
        whole = tmp_path / parts[0] / "whole"
        merge([tmp_path / part for part in parts], whole)
        complete, _ = experiment(small, whole)
        assert complete
        made, wanted = contents(whole), contents(tmp_path / "solo")
        texts = {json.loads(found.pop("info").spec)["controllers"]["uct"].get("k") for found in (made, wanted)}
        assert texts == ({None, 8} if parts[0] == "old" else {8}), "the spec is recorded as it was first"
        assert made == wanted


def test_the_commands(tmp_path: Path) -> None:
    sets = [part for change in SMALL for part in ("--set", change)]
    for number in (1, 2):
        done = CliRunner().invoke(
            main, ["run", "smoke", "-o", str(tmp_path / f"{number}"), "--shard", f"{number}/2", "--quiet", *sets]
        )
        assert done.exit_code == 0, done.output
        assert f"The calibration runs of part {number}/2 are done" in done.stderr
    whole = str(tmp_path / "whole")
    done = CliRunner().invoke(main, ["merge", str(tmp_path / "1"), str(tmp_path / "2"), "-o", whole])
    assert done.exit_code == 0, done.output
    assert f"To go on: paccf run {whole}" in done.output
    assert CliRunner().invoke(main, ["run", whole, "--quiet"]).exit_code == 0
    done = CliRunner().invoke(main, ["merge", whole, "-o", whole])
    assert "The run is complete." in done.output
    done = CliRunner().invoke(main, ["merge", str(tmp_path), "-o", whole])
    assert done.exit_code == 2
    assert "is no run folder" in done.output
