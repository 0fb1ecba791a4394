"""What a margin would have saved and lost, against a walk over the whole tree."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from paccf import Recorder
from paccf.audit.whatif import WhatIf
from paccf.cli import main


def test_by_hand() -> None:
    """Root: a 90, b 60, c 50. Under a (3 requests) nothing, under b (5) the solution, under c (7) a frontier (11)."""
    w = WhatIf()
    w.add("t", [90, 60, 50], [False, True, False], None, ["a", "b", "c"], path=[], requests=2, kept=[0, 1])
    w.add("t", [10, 20], [False, False], None, ["x", "y"], path=["a"], requests=3, kept=[0, 1])
    w.add("t", [70, 80], [True, False], None, ["x", "y"], path=["b"], requests=5, kept=[1])
    w.add("t", [0, 5], [False, False], None, ["x", "y"], path=["c"], requests=7, kept=[0, 1])
    w.add("t", [1], [False], None, ["z"], path=["c", "y"], requests=11, kept=[0])
    for n in range(3):
        w.add(f"easy {n}", [50, 40], [True, False], None, ["a", "b"], path=[], requests=1, kept=[0])
    half, most = w.line("0.5"), w.line("0.8")
    assert (half.margin.value, half.at_risk, half.dropped) == (0, 1, 2 + 1 + 1 + 1 + 3)
    assert (half.cut_frontiers, half.cut_candidates, half.cut_requests) == (3, 2 + 2 + 1, 5 + 7 + 11)
    assert (most.margin.value, most.at_risk, most.dropped) == (30, 0, 1)
    assert (most.cut_frontiers, most.cut_candidates, most.cut_requests) == (2, 3, 18)
    assert w.line("0.99").margin.value == math.inf
    assert w.line("0.99").dropped == 0
    assert (w.own_lost, w.own_dropped, w.requests, w.placed) == ({"t"}, 1 + 1 + 3, 31, 8)


def test_paths_that_were_never_logged_are_never_cut() -> None:
    w = WhatIf()
    w.add("t", [90, 10], [True, False], None, ["a", "b"], path=[])
    w.add("t", [90, 10], [True, False], None, ["a", "b"], path=["who"])
    w.add("t", [90, 10], [True, False], None, None)
    w.add("u", [1], [True], None, ["a"], path=["b"])
    assert (w.placed, w.unpriced, w.own_dropped) == (1, 4, None)
    assert w.line("0.5").cut_frontiers == 0


def test_a_beam_by_hand(tmp_path: Path) -> None:
    """Levels of a beam: b is 40 behind, its two children stand in the second level, and b/y's child in the third."""
    w = WhatIf()
    w.add("t", [90, 50], [True, False], None, ["a", "b"], paths=[["a"], ["b"]], requests=2, kept=[0, 1])
    second = [["a", "x"], ["b", "x"], ["b", "y"], ["b", "z"]]
    w.add("t", [70, 60, None, 80], [True, False, False, False], paths=second, requests=8, kept=[0, 2])
    w.add("t", [5], [False], paths=[["b", "y", "x"]], requests=1)
    w.add("t", [5], [False], paths=[["who", "x"]], requests=1)
    for n in range(3):
        w.add(f"easy {n}", [50, 40], [True, False], None, ["a", "b"], path=[], requests=1, kept=[0])
    assert w.placed == 6
    half, most = w.line("0.5"), w.line("0.8")
    assert (half.margin.value, half.dropped) == (0, 1 + 2 + 3)
    assert half.cut_candidates == 2 + 1, "scored ones: b's x and z, and what stands below the unscored b/y"
    assert (half.cut_frontiers, half.cut_requests) == (1, 8 * 2 // 3 + 1)
    assert most.margin.value == 10
    assert most.cut_candidates == 3
    log = tmp_path / "beam.jsonl"
    with Recorder(log).task("t") as task:
        task.admit(None, [["a"], ["b"]], [90, 50], requests=2)
        task.admit(None, [["a", "x"], ["b", "x"]], [70, 60], requests=2)
        task.solved(["a", "x"])
    told = json.loads(CliRunner().invoke(main, ["what-if", str(log), "-q", "0.5", "--json"]).output)
    assert told["placed"] == 2
    assert (told["levels"][0]["candidates_below"], told["levels"][0]["requests_below"]) == (1, 1)
    log.write_text(log.read_text().replace('"paths":[["a"],["b"]]', '"paths":[["a"]]'))
    refused = CliRunner().invoke(main, ["what-if", str(log)])
    assert refused.exit_code == 2
    assert "1 paths of 2 candidates" in refused.output


# (path from a finite alphabet, scores by candidate, with R = 1, 2 or 3 observations)
frontier = st.tuples(
    st.lists(st.sampled_from("ab"), max_size=3),
    st.lists(st.none() | st.lists(st.integers(0, 9), min_size=1, max_size=3), min_size=2, max_size=2),
    st.lists(st.booleans(), min_size=2, max_size=2),
)


@given(st.lists(frontier, min_size=1, max_size=12))
def test_against_a_walk_up_the_tree(frontiers: list[tuple[list[str], list[list[int] | None], list[bool]]]) -> None:
    w = WhatIf()
    logged: list[tuple[tuple[str, ...], dict[str, Fraction | None]]] = []
    means = []
    for path, scores, protected in frontiers:
        w.add("t", scores, protected, None, ["a", "b"], path=path, requests=1)
        mean = [None if s is None else Fraction(sum(s), len(s)) for s in scores]
        means.append(mean)
        top = max((m for m in mean if m is not None), default=Fraction(0))
        logged.append((tuple(path), {i: None if m is None else top - m for i, m in zip("ab", mean, strict=True)}))
    worst = max(w.deficits.exposed.values(), default=None)
    if worst is None:
        return
    line = w.line("0.5")  # one task: its own deficit

    def cut(n: int) -> bool:
        path = logged[n][0]
        for depth in range(len(path)):
            before = [gaps for p, gaps in logged[:n] if p == path[:depth]]
            if not before:
                return False
            gap = before[-1][path[depth]]
            if gap is not None and gap > worst:
                return _placed(n)
        return False

    def _placed(n: int) -> bool:
        """Every step of the path was logged, and its parent's path too, at the time."""
        path = logged[n][0]
        if not path:
            return True
        earlier = [m for m in range(n) if logged[m][0] == path[:-1] and _placed(m)]
        return bool(earlier)

    if all(_placed(n) for n in range(len(logged))) and len({p for p, _ in logged}) == len(logged):
        assert line.cut_frontiers == sum(cut(n) for n in range(len(logged)))
    assert line.dropped == sum(g is not None and g > worst for _, gaps in logged for g in gaps.values())
    assert line.at_risk == 0


def test_the_command(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    recorder = Recorder(log)
    for n in range(20):
        with recorder.task(f"t{n}") as task:
            task.frontier((), ["good", "bad"], [50, 50 + n], requests=3).decided([1])
            task.frontier(["bad"], ["x"], [1], requests=10)
            task.solved(["good"])
    run = CliRunner().invoke(main, ["what-if", str(log), "-q", "0.5", "-q", "0.95", "-q", "0.99", "--json"])
    assert run.exit_code == 0, run.output
    found = json.loads(run.stdout)
    half, high, infinite = found["levels"]
    assert (half["margin"], half["k"], half["n"], half["tasks_at_risk"]) == (10, 11, 20, 9)
    assert (high["margin"], high["tasks_at_risk"], high["requests_below"]) == (19, 0, 0)
    assert (infinite["margin"], infinite["need_n"]) == (None, 99)
    assert found["own_rule"] is None, "a frontier without a decision says nothing about the rule"
    text = CliRunner().invoke(main, ["what-if", str(log)])
    assert "tasks at risk" in text.stdout
    assert "needs 99" in text.stdout


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            '{"task":"a","frontier":"0","scores":[1],"protected":[true],"meta":{"path":"b"}}',
            "meta: Expected `array | null`",
        ),
        ('{"task":"a","frontier":"0","scores":[1],"protected":[false]}', "exposes a protected candidate"),
    ],
)
def test_logs_that_cannot_be_weighed(tmp_path: Path, line: str, said: str) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(line + "\n")
    run = CliRunner().invoke(main, ["what-if", str(log)])
    assert run.exit_code == 2
    assert said in run.output
