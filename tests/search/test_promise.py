"""The paper's promise, on SIMULATED searches: a margin calibrated on some tasks' Native traces covers new tasks' ones.

A pool of tasks is searched once a controller; calibration and test tasks are drawn from it without replacement again
and again. Given the pool, its tasks are exchangeable under such a draw, so the coverage expected of a draw is k/(n+1)
or more, exactly. The draw is the unit of error: the tests within one share their margin.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import msgspec
import pytest

from paccf.domains.game24.oracle import reachable
from paccf.domains.game24.tasks import solvable
from paccf.domains.game24.world import Game24
from paccf.domains.labels import protected
from paccf.domains.oracles import oracle_of
from paccf.method.admission import ScoreGap
from paccf.method.conformal import margin
from paccf.method.deficit import TaskDeficits
from paccf.models.simulated import Profile, load, simulated
from paccf.search.controllers import CONTROLLERS, controller
from paccf.search.driver import run, search
from paccf.search.trace import Arm, Frontier, Trace
from paccf.search.tree import Task

Q = Fraction(9, 10)
N = 39  # calibration tasks: (N + 1) Q is whole, so the promise is as tight as it gets
REDRAWS = 1000
POOL = 260


def profile(name: str) -> Profile:
    """``paper-like``, or a variant whose scores say hardly anything."""
    found = load("paper-like")
    if name == "noisier":
        worse = {
            channel: msgspec.structs.replace(judge, bias=50.0, noise=40.0)
            for channel in ("child", "pre", "post")
            for judge in (found.evaluator(channel),)  # type: ignore[arg-type]
        }
        found = msgspec.structs.replace(found, name="noisier", **worse)
    return found


def searched(task: Task, name: str, quality: Profile, budget: int, arm: Arm | None = None) -> Trace:
    return run(search(task, Game24(), controller(name), arm=arm, budget=budget), simulated("game24", quality, 0))


def labelled(trace: Trace) -> list[tuple[Frontier, list[bool]]]:
    return list(zip(trace.frontiers, protected(trace, oracle_of("game24")), strict=True))


@dataclass(frozen=True)
class Pool:
    tasks: tuple[Task, ...]
    deficits: dict[str, Any]  # C_task of the exposed ones


@cache
def pool(name: str, variant: str, budget: int, size: int) -> Pool:
    """Native searches on tasks spread over the whole game, and their task deficits."""
    tasks = random.Random(24).sample(solvable(), size)
    deficits = TaskDeficits()
    for task in tasks:
        for f, labels in labelled(searched(task, name, profile(variant), budget)):
            eligible = [i in f.eligible for i in range(len(f.actions))]
            scores = [None if o is None else list(o) for o in f.observations]
            deficits.add(task.id, scores, labels, eligible)
    return Pool(tuple(tasks), deficits.exposed)


def coverages(scores: list[Any], short: int = 0) -> Iterator[float]:
    """The share of covered test tasks in every redraw; ``short`` takes a rank that is so much too low."""
    draw = random.Random(7)
    for _ in range(REDRAWS):
        draw.shuffle(scores)
        found = margin(scores[:N], Q)
        assert found.k == (N + 1) * Q
        value = sorted(scores[:N])[found.k - 1 - short]
        assert short or value == found.value
        tests = scores[N:]
        yield sum(c <= value for c in tests) / len(tests)


def mean_and_error(shares: list[float]) -> tuple[float, float]:
    return statistics.fmean(shares), statistics.stdev(shares) / math.sqrt(len(shares))


@pytest.mark.parametrize(("variant", "budget", "size"), [("paper-like", 100, POOL), ("noisier", 40, 200)])
@pytest.mark.parametrize("name", CONTROLLERS)
def test_new_tasks_are_covered_as_promised(name: str, variant: str, budget: int, size: int) -> None:
    scores = list(pool(name, variant, budget, size).deficits.values())
    assert len(scores) > 3 * N
    average, error = mean_and_error(list(coverages(scores)))
    assert average >= float(Q) - 4 * error, f"{average:.4f} +- {error:.4f}"


def test_the_simulation_would_notice_a_rank_that_is_too_low() -> None:
    for name in CONTROLLERS:
        scores = list(pool(name, "paper-like", 100, POOL).deficits.values())
        average, error = mean_and_error(list(coverages(scores, short=3)))
        if average < float(Q) - 4 * error:
            return
    pytest.fail("no controller's deficits are spread enough to tell the ranks apart")


@pytest.mark.parametrize("name", CONTROLLERS)
def test_a_margin_keeps_a_protected_candidate_on_exactly_the_covered_tasks(name: str) -> None:
    found = pool(name, "paper-like", 100, POOL)
    exposed = [task for task in found.tasks if task.id in found.deficits]
    value = margin([found.deficits[task.id] for task in exposed[:N]], Q).value
    shadow = Arm("shadow", ScoreGap(value))
    covered = 0
    for task in found.tasks[-60:]:
        trace = searched(task, name, profile("paper-like"), 100, shadow)
        retained = {}
        for f, labels in labelled(trace):
            assert f.gap is not None
            assert f.kept == f.native
            if any(labels[i] for i in f.eligible):
                retained[f.path] = [f.actions[i].key for i in f.gap if labels[i]]
        holds = all(retained.values())
        assert holds == (task.id not in found.deficits or found.deficits[task.id] <= value)
        if holds:
            covered += bool(retained)
            chains(retained)
    assert covered > 20


def chains(retained: dict[tuple[str, ...], list[str]]) -> None:
    """The chain lemma: from an exposed frontier, every retained protected candidate leads to a completion, to the edge
    of the trace, or to a frontier that retains one again."""
    for path, keys in retained.items():
        for key in keys:
            below = (*path, key)
            left = tuple(map(Fraction, key.split()))
            assert reachable(left)
            if len(left) == 1:
                assert left == (24,)
                assert below not in retained
            else:
                assert below not in retained or retained[below]
