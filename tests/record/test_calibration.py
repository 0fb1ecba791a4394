"""`paccf.calibrate` does what `paccf calibrate` does."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

import paccf
from paccf.cli import main
from paccf.method.certificate import Certificate
from paccf.record.frontier_log import BadLine
from paccf.theory.frontiers import simulate_frontiers


def log(path: Path, tasks: int = 60, seed: int = 5) -> Path:
    path.write_text("".join(json.dumps(f) + "\n" for f in simulate_frontiers(tasks, seed=seed)))
    return path


def test_it_freezes_the_very_certificate_of_the_command(tmp_path: Path) -> None:
    source, out = log(tmp_path / "log.jsonl"), tmp_path / "margin.json"
    options = ["-q", "0.9", "--confidence", "0.8", "--epsilon", "0.5", "--labels", "oracle", "--budget", "50"]
    done = CliRunner().invoke(main, ["calibrate", str(source), *options, "--match", "a=b", "-o", str(out)])
    assert done.exit_code == 0, done.output
    ours = paccf.calibrate(
        source, q="0.9", confidence="0.8", epsilon="0.5", labels="oracle", budget=50, matched_to={"a": "b"}
    )
    ours.save(tmp_path / "ours.json")
    assert (tmp_path / "ours.json").read_bytes() == out.read_bytes()
    assert Certificate.load(out).limit == ours.limit


def test_several_logs_are_one_sample(tmp_path: Path) -> None:
    one, two = log(tmp_path / "1.jsonl", seed=1), log(tmp_path / "2.jsonl", seed=1)
    with pytest.raises(BadLine, match="was there before"):
        paccf.calibrate(one, two)
    with pytest.raises(ValueError, match="at least one"):
        paccf.calibrate()
    with pytest.raises(ValueError, match="confidence must lie strictly between 0 and 1, not 1.5"):
        paccf.calibrate(one, confidence="1.5")
    with pytest.raises(ValueError, match="1 or more, not 0"):
        paccf.calibrate(one, observations=0)
    few = paccf.calibrate(log(tmp_path / "few.jsonl", tasks=3))
    assert not few.feasible
    assert few.limit == float("inf")


def test_bare_means_beside_draws_have_to_be_explained(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lines = [
        {
            "task": f"t{i}",
            "frontier": "r",
            "scores": [[10, 20], [30, 40]] if i % 2 else [15, 35],
            "protected": [True, False],
        }
        for i in range(20)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(ValueError, match="bare means"):
        paccf.calibrate(path)
    assert paccf.calibrate(path, observations=2).limit == Fraction(20)
