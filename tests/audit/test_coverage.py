"""Held-out coverage and the threshold diagnostic, against a hand-made log and brute force."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paccf.audit import coverage as module
from paccf.audit.coverage import Coverage, Gaps
from paccf.method.admission import ScoreGap
from paccf.method.certificate import Certificate
from paccf.method.deficit import TaskDeficits, frontier_deficit
from paccf.theory.frontiers import simulate_frontiers

Row = tuple[str, list[Any], list[bool | None]]


def frozen(margin: int = 20, epsilon: int = 0, **options: Any) -> Certificate:
    found = TaskDeficits()
    for i in range(19):
        found.add(f"cal{i}", [margin, i * margin // 18], [False, True])
    return Certificate.freeze(found, "0.95", epsilon=epsilon, **options)


def audited(certificate: Certificate, rows: list[Row]) -> Coverage:
    found = Coverage(certificate)
    for task, scores, labels in rows:
        found.add(task, scores, labels)
    return found


# Computed by hand at theta = 20. Gaps: a: 0 20 21 | 0 5; b: 0 30; c: 0; d: 0 1; e: 0 25
HAND: list[Row] = [
    ("a", [90, 70, 69], [False, True, True]),  # deficit 20: covered, one of two protected pruned
    ("a", [50, 45, None], [False, False, True]),  # an unscored protected candidate is kept: deficit 0
    ("b", [80, 50], [False, True]),  # deficit 30: lost
    ("c", [10], [False]),  # missing
    ("d", [10, 9], [False, None]),  # unresolved
    ("e", [75, 50], [False, True]),  # deficit 25: certainly lost ...
    ("e", [1], [None]),  # ... whatever the open label says
]


def test_by_hand() -> None:
    found = audited(frozen(20), HAND)
    assert found.theta == 20
    assert (found.tasks, found.deficits.missing, found.deficits.unresolved) == (4, 1, 2)
    assert found.covered(found.theta) == (1, 1)
    assert (found.candidates, found.pruned) == (13, 3)
    assert (found.protected, found.protected_pruned) == (5, 3)
    assert found.exposure_p == pytest.approx(5 / 24)  # the one unexposed task of 24 is one of these 5
    assert found.reused == []
    assert found.reference == pytest.approx((1 + 19) / 8855)  # beta-binomial(4; 19, 1) at 0 and 1, C(23, 4) = 8855
    low, high = found.interval
    assert (round(low, 4), round(high, 4)) == (0.0063, 0.8059)
    points = {int(p.theta): (p.covered, p.pruned, p.protected_pruned) for p in found.sweep()}
    assert points == {
        0: (0, 6, 4),
        1: (0, 5, 4),
        5: (0, 4, 4),
        20: (1, 3, 3),
        21: (1, 2, 2),
        25: (1, 1, 1),
        30: (2, 0, 0),
    }


def test_eligibility_and_copies_count_as_they_do_in_calibration() -> None:
    """At theta = 20: the ineligible best is no candidate; both copies of b are protected, one of them is pruned."""
    found = Coverage(frozen(20))
    found.add("t", [100, 90, 60, 70], [False, False, True, False], [False, True, True, True], ["a", "c", "b", "b"])
    assert found.deficits.exposed == {"t": 20}
    assert (found.candidates, found.pruned) == (3, 1)
    assert (found.protected, found.protected_pruned) == (2, 1)
    assert found.covered(found.theta) == (1, 0)


def test_exposure_is_compared_over_all_tasks_of_both_samples() -> None:
    """19 of 22 calibration tasks against 2 of 5 here: p by adding up all tables."""
    calibration = TaskDeficits()
    for i in range(22):
        calibration.add(f"cal{i}", [20, i], [False, i < 19])
    found = Coverage(Certificate.freeze(calibration, "0.95"))
    for i in range(5):
        found.add(f"new{i}", [20, i], [False, i < 2])
    tables = {a: math.comb(22, a) * math.comb(5, 21 - a) for a in range(16, 22)}
    expected = sum(w for w in tables.values() if w <= tables[19]) / sum(tables.values())
    assert found.exposure_p == pytest.approx(expected)
    assert 0 < expected < 1


def test_all_tasks_as_target() -> None:
    found = audited(frozen(20, target="all"), HAND)
    assert found.tasks == 5
    assert found.covered(found.theta) == (2, 1), "the missing task counts as covered"


def test_calibration_tasks_are_recognised() -> None:
    found = audited(frozen(20), [("cal3", [2, 1], [False, True]), ("new", [2, 1], [False, True])])
    assert found.reused == ["cal3"]


def test_infinite_margins_prune_nothing() -> None:
    found = audited(Certificate.freeze(TaskDeficits(), "0.95"), HAND)
    assert (found.pruned, found.protected_pruned, found.reference) == (0, 0, None)
    assert found.covered(math.inf)[0] == 4


scores = st.one_of(st.none(), st.integers(0, 30), st.integers(0, 300).map(lambda i: i / 10))
rows = st.lists(
    st.tuples(
        st.sampled_from("abcd"),
        st.lists(st.tuples(scores, st.sampled_from([True, False, None])), max_size=5),
    ).map(lambda row: (row[0], [s for s, _ in row[1]], [p for _, p in row[1]])),
    max_size=10,
)


@given(rows, st.integers(0, 25))
def test_every_point_of_the_sweep_by_brute_force(log: list[Row], margin: int) -> None:
    found = audited(frozen(margin), log)
    for point in found.sweep():
        rule = ScoreGap(point.theta)
        lost = [set(range(len(s))) - set(rule.keep(s)) for _, s, _ in log]
        assert point.pruned == sum(map(len, lost))
        assert point.protected_pruned == sum(
            labels[i] is True for (_, _, labels), out in zip(log, lost, strict=True) for i in out
        )
        worst: dict[str, Any] = {}
        for task, s, labels in log:
            c = frontier_deficit(s, labels)
            if c is not None:
                worst[task] = max(worst.get(task, 0), c)
        assert point.covered == sum(c <= point.theta for c in worst.values())
    assert found.pruned == sum(len(s) - len(ScoreGap(margin).keep(s)) for _, s, _ in log)


def test_the_histogram_of_gaps_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_DISTINCT", 100)
    gaps = Gaps()
    rng = np.random.default_rng(0)
    seen = rng.integers(0, 10**8, 5000).tolist()
    for i in range(0, 5000, 50):
        gaps.add(seen[i : i + 50])
    assert len(gaps.counts) <= 100
    assert sum(gaps.counts.values()) == 5000
    for theta in range(0, 10**8, 10**7):
        exact = sum(g > theta for g in seen)
        coarse = sum(n for g, n in gaps.counts.items() if g > theta)
        assert exact <= coarse <= sum(g > theta - gaps.grid for g in seen)


def test_the_frozen_point_is_exact_also_in_a_coarse_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_DISTINCT", 20)
    rng = np.random.default_rng(1)
    log: list[Row] = [(f"t{i}", rng.uniform(0, 40, 5).round(3).tolist(), [True] + [False] * 4) for i in range(200)]
    found = audited(frozen(20), log)
    assert found.resolution > 1
    sweep = found.sweep()
    (at,) = [p for p in sweep if p.theta == 20]
    assert (at.pruned, at.protected_pruned) == (found.pruned, found.protected_pruned)
    assert found.pruned == sum(len(s) - len(ScoreGap(20).keep(s)) for _, s, _ in log)
    for name in ("pruned", "protected_pruned"):
        values = [getattr(p, name) for p in sweep]
        assert values == sorted(values, reverse=True)


def test_coverage_holds_on_new_tasks_over_many_calibrations() -> None:
    """Proposition native_trace_coverage end to end on SIMULATED logs: calibrate on 60 tasks, look at 10 others."""
    deficits = TaskDeficits()
    for f in simulate_frontiers(4200, seed=3):
        deficits.add(f["task"], f["scores"], f["protected"])
    tasks = list(deficits.scores.items())
    covered = total = 0
    for start in range(0, 4200, 70):
        stream = [c for _, c in tasks[start : start + 60] if c is not None]
        k = -(-(len(stream) + 1) * 19 // 20)
        margin = sorted(stream)[k - 1] if k <= len(stream) else math.inf
        new = [c for _, c in tasks[start + 60 : start + 70] if c is not None]
        covered += sum(c <= margin for c in new)
        total += len(new)
    assert total > 500
    assert covered / total >= 0.95 - 4 * math.sqrt(0.05 * 0.95 / total)
