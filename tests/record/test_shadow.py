"""Native, shadow and gated runs of one foreign search: what is counted beforehand is what the gate then does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from paccf import Gate, Recorder, calibrate
from paccf.cli import main
from paccf.method.scores import UNIT, align
from paccf.record.recorder import Task

DEPTH, WIDTH = 4, 3
MATCH = {"judge": "noisy-3"}


def scores_of(n: int, path: Sequence[str], good: str) -> list[list[int]]:
    """Three observations a candidate, the solution's ones a little better."""
    draw = np.random.default_rng([n, *map(int, path), len(path)])
    return [[int(y) for y in np.clip(draw.normal(50 + 8 * (str(i) == good), 12, 3), 0, 100)] for i in range(WIDTH)]


def search(n: int, task: Task) -> int:
    """Depth-first over a ternary tree with one solution; the requests it took."""
    solution = [str(i) for i in np.random.default_rng([n, 99]).integers(0, WIDTH, DEPTH)]
    stack: list[tuple[str, ...]] = [()]
    requests = 0
    while stack:
        path = stack.pop()
        on = list(path) == solution[: len(path)]
        scores = scores_of(n, path, solution[len(path)] if on else "none")
        requests += 3
        kept = task.admit(path, [str(i) for i in range(WIDTH)], scores, requests=3)
        for i in sorted(kept, key=lambda i: sum(scores[i])):
            there = (*path, str(i))
            if list(there) == solution:
                task.solved(there)
                return requests
            if len(there) < DEPTH:
                stack.append(there)
    return requests


@pytest.fixture
def runs(tmp_path: Path) -> dict[str, int]:
    """The requests of each arm; the logs are in the folder by their names."""

    def run(name: str, tasks: range, **options: object) -> int:
        recorder, requests = Recorder(tmp_path / f"{name}.jsonl", **options), 0  # type: ignore[arg-type]
        for n in tasks:
            with recorder.task(f"t{n}") as task:
                requests += search(n, task)
        return requests

    run("train", range(60))
    calibrate(tmp_path / "train.jsonl", q="0.8", labels="found", matched_to=MATCH).save(tmp_path / "margin.json")
    gate = Gate.load(tmp_path / "margin.json", matched_to=MATCH)
    test = range(100, 160)
    return {
        "native": run("native", test),
        "shadow": run("shadow", test, gate=gate, shadow=True),
        "gated": run("gated", test, gate=gate),
    }


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def said(*command: str) -> dict[str, object]:
    done = CliRunner().invoke(main, [*command, "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def test_a_shadow_is_the_native_search_with_a_remark(runs: dict[str, int], tmp_path: Path) -> None:
    assert runs["shadow"] == runs["native"] > runs["gated"]
    native, shadow = lines(tmp_path / "native.jsonl"), lines(tmp_path / "shadow.jsonl")
    remarks = [line["meta"].pop("would_drop") for line in shadow]  # type: ignore[attr-defined]
    assert shadow == native
    gate = Gate.load(tmp_path / "margin.json")
    assert remarks == [gate.shadow(line["scores"]).would_drop for line in native]  # type: ignore[arg-type]
    assert any(remarks)


def test_coverage_counts_what_the_shadow_would_have_dropped(runs: dict[str, int], tmp_path: Path) -> None:
    dropped = sum(len(line["meta"]["would_drop"]) for line in lines(tmp_path / "shadow.jsonl"))  # type: ignore[index]
    found = said("coverage", str(tmp_path / "shadow.jsonl"), str(tmp_path / "margin.json"))
    assert found["pruned"] == dropped
    assert found["covered"] <= found["exposed"] <= 60  # type: ignore[operator]


def test_what_if_is_what_the_margin_does(runs: dict[str, int], tmp_path: Path) -> None:
    """Its line for the Q that was calibrated, against the rule applied frontier by frontier."""
    train = lines(tmp_path / "train.jsonl")
    gate = Gate.load(tmp_path / "margin.json")
    found = said("what-if", str(tmp_path / "train.jsonl"), "-q", "0.8")
    (level,) = found["levels"]  # type: ignore[misc]
    assert level["margin"] == pytest.approx(gate.certificate.margin)
    assert level["candidates_dropped"] == sum(WIDTH - len(gate.keep(line["scores"])) for line in train)  # type: ignore[arg-type]
    dead: set[tuple[object, ...]] = set()
    below = 0
    for line in train:
        path = tuple(line["meta"]["path"])  # type: ignore[index]
        if any((line["task"], *path[:n]) in dead for n in range(1, len(path) + 1)):
            below += 3
            continue
        dropped = set(range(WIDTH)) - set(gate.keep(line["scores"]))  # type: ignore[arg-type]
        dead |= {(line["task"], *path, str(i)) for i in dropped}
    assert level["requests_below"] == below > 0
    assert found["requests"] == 3 * len(train)


def test_the_gated_search_decides_as_the_gate_explains(runs: dict[str, int], tmp_path: Path) -> None:
    gate = Gate.load(tmp_path / "margin.json")
    reach = int(gate.rule.reach * UNIT * 3)
    for line in lines(tmp_path / "gated.jsonl"):
        scores = line["scores"]
        assert line["meta"]["kept"] == gate.explain(scores).kept == gate.keep(scores)  # type: ignore[index,arg-type]
        totals = [total for total in align(scores)[0] if total is not None]  # type: ignore[arg-type]
        assert line["meta"]["kept"] == [i for i, t in enumerate(totals) if max(totals) - t <= reach]  # type: ignore[index]
