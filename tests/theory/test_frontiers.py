import json
import math
import subprocess
import sys
from itertools import groupby, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paccf.theory.frontiers import Evaluator, simulate_frontiers


@pytest.fixture(scope="module")
def log():
    return list(simulate_frontiers(1000))


def by_task(log):
    return {task: list(lines) for task, lines in groupby(log, key=lambda f: f["task"])}


def test_shape_of_a_line(log):
    f = log[0]
    assert list(f) == ["task", "frontier", "depth", "candidates", "scores", "protected", "meta"]
    assert f["meta"] == {"source": "SIMULATED", "seed": 0}
    assert (f["task"], f["frontier"], f["depth"]) == ("t-0000", "0", 0)
    assert json.loads(json.dumps(f)) == f
    for f in log:
        assert len(f["candidates"]) == len(f["scores"]) == len(f["protected"]) >= 2
        assert all(len(row) == 4 and all(0 <= y <= 100 for y in row) for row in f["scores"])
        assert all(type(p) is bool for p in f["protected"])
        assert all(type(y) is int for row in f["scores"] for y in row)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**40), st.integers(0, 2**40), st.integers(1, 12), st.integers(0, 12))
def test_a_task_is_the_same_wherever_one_starts(seed, first, tasks, skip):
    whole = list(simulate_frontiers(tasks + skip, seed, first=first))
    part = list(simulate_frontiers(tasks, seed, first=first + skip))
    assert whole[-len(part) :] == part


def test_seeds_and_tasks_differ():
    scores = [json.dumps([f["scores"] for f in simulate_frontiers(1, s, first=i)]) for s in (0, 1) for i in (0, 1)]
    assert len(set(scores)) == 4


def test_the_truth_is_a_trees(log):
    """A frontier below a protected branch has something protected, one below another branch has nothing."""
    checked = 0
    for lines in by_task(log).values():
        known = {f["frontier"]: dict(zip(f["candidates"], f["protected"], strict=True)) for f in lines}
        assert len(known) == len(lines)
        for f in lines:
            parent, _, step = f["frontier"].rpartition(".")
            assert f["depth"] == f["frontier"].count(".")
            if parent:
                assert any(f["protected"]) == known[parent][step]
                checked += 1
    assert checked > 1000


def test_the_walk_goes_down_the_best_scored_branch_most_of_the_time(log):
    followed = steps = 0
    for lines in by_task(log).values():
        for f, g in pairwise(lines):
            best = max(range(len(f["scores"])), key=lambda c: sum(f["scores"][c]))
            followed += g["frontier"] == f"{f['frontier']}.{f['candidates'][best]}"
            steps += 1
    assert 0.75 < followed / steps < 0.95


def deficits(log):
    """Largest shortfall of the best protected mean, per exposed task; and the shares a margin would prune."""
    found = {}
    for f in log:
        means = np.mean(f["scores"], axis=1)
        if any(f["protected"]):
            d = means.max() - means[f["protected"]].max()
            found[f["task"]] = max(found.get(f["task"], 0.0), float(d))
    return found


def test_a_margin_calibrated_on_it_is_of_ordinary_size_and_prunes(log):
    found = sorted(deficits(log).values())
    margin = found[math.ceil((len(found) + 1) * 0.95) - 1]
    short = np.concatenate([np.max(m) - m for m in (np.mean(f["scores"], axis=1) for f in log)])
    assert 0.85 < len(found) / 1000 < 0.97  # exposure
    assert 15 < margin < 40
    assert 0.1 < (short > margin).mean() < 0.4
    assert 0.3 < np.mean(np.array(found) > 0) < 0.8
    assert 2 < len(log) / 1000 < 4


def roots(evaluator):
    return [f["scores"] for f in simulate_frontiers(300, 3, evaluator=evaluator) if f["depth"] == 0]


def test_bias_is_persistent_and_bounded():
    fine = {"noise": 0.0, "lattice": 1e-6, "repeats": 3}
    plain, biased = roots(Evaluator(bias=0.0, **fine)), roots(Evaluator(bias=7.0, **fine))
    moved = []
    for a, b in zip(plain, biased, strict=True):
        for row, other in zip(a, b, strict=True):
            assert len(set(other)) == 1  # without noise every draw repeats the same bias
            assert abs(row[0] - other[0]) <= 7 + 1e-5
            moved.append(other[0] - row[0])
    assert max(moved) > 5
    assert min(moved) < -5
    assert abs(np.mean(moved)) < 0.5


def test_noise_is_fresh_in_every_draw_and_of_the_stated_size():
    quiet = Evaluator(repeats=50, lattice=1e-6)
    spread = [np.std(row, ddof=1) for scores in roots(quiet) for row in scores if 20 < np.mean(row) < 80]
    assert np.mean(np.square(spread)) == pytest.approx(16, rel=0.05)


@pytest.mark.parametrize("lattice", [2.5, 10, 0.1, 30])
def test_draws_lie_on_the_lattice_within_the_scale(lattice):
    draws = {y for f in simulate_frontiers(50, evaluator=Evaluator(lattice=lattice)) for r in f["scores"] for y in r}
    assert all(abs(y / lattice - round(y / lattice)) < 1e-9 and 0 <= y <= 100 for y in draws)
    assert len(draws) > 3


def test_lazy_and_empty():
    endless = simulate_frontiers(10**15)
    assert next(endless)["task"] == "t-0000"
    assert list(simulate_frontiers(0)) == []
    assert next(simulate_frontiers(1, first=123_456))["task"] == "t-123456"


@pytest.mark.parametrize(("tasks", "seed", "first"), [(-1, 0, 0), (1, -1, 0), (1, 0, -1), (1, 2**63, 0)])
def test_refuses_at_once(tasks, seed, first):
    with pytest.raises(ValueError, match="give a whole number"):
        simulate_frontiers(tasks, seed, first=first)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("repeats", 0),
        ("bias", -1),
        ("noise", math.nan),
        ("lattice", 0),
        ("lattice", 101),
        ("lattice", 1e-9),
        ("noise", 2e6),
    ],
)
def test_an_impossible_evaluator_is_refused(name, value):
    with pytest.raises(ValueError, match=f"{name} is {value}"):
        Evaluator(**{name: value})


def test_simulations_need_no_scipy():
    code = "import sys; import paccf.theory.frontiers, paccf.theory.boundary; assert 'scipy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
