import math

import numpy as np
import pytest

from paccf.theory import boundary
from paccf.theory.boundary import LEVELS, PRINTED, Setting, check

SMALL = Setting(repetitions=400)


@pytest.fixture(scope="module")
def rows():
    return check(SMALL)


def test_the_papers_shape(rows):
    """SIMULATED, 400 frontiers a level; the bands are wide enough for any seed, too narrow for another shape."""
    pruning, uct = [r.pruning.value for r in rows], [r.uct.value for r in rows]
    assert pruning == sorted(pruning, reverse=True)
    assert pruning[0] > 0.97
    assert 0.84 < pruning[1] < 0.95
    assert 0.35 < pruning[2] < 0.52
    assert 0.04 < pruning[3] < 0.15
    assert min(uct[:2]) > 0.98
    assert 0.9 < uct[2] <= 0.99
    assert 0.3 < uct[3] < 0.55
    assert [r.sufficient for r in rows] == [True, True, False, False]


def test_the_best_child_survives_at_least_as_often_as_promised(rows):
    for row in rows:
        assert row.survived.value >= 1 - SMALL.delta - 3 * math.sqrt(0.05 * 0.95 / SMALL.repetitions)


def test_choosing_among_survivors_fails_as_uct_does(rows):
    assert rows[3].chosen.value < 0.55
    assert all(r.chosen.value <= r.survived.value for r in rows)


def test_denominators_and_intervals(rows):
    for row in rows:
        assert row.pruning.of == 400 * 3
        assert row.uct.of == row.survived.of == row.chosen.of == 400
        for share in (row.pruning, row.uct, row.survived, row.chosen):
            assert 0 <= share.low <= share.value <= share.high <= 1
            assert share.low < share.high


def test_deterministic_and_levels_do_not_disturb_each_other(rows):
    assert check(SMALL, [0.4]) == rows[3:]
    assert check(Setting(repetitions=400, seed=1), [0.4]) != rows[3:]


def test_uniform_bias_is_milder():
    mild, harsh = check(Setting(repetitions=200, bias="uniform"), [0.4]), check(Setting(repetitions=200), [0.4])
    assert mild[0].pruning.value > harsh[0].pruning.value + 0.3
    assert mild[0].uct.value > harsh[0].uct.value + 0.3


def test_without_bias_both_are_right():
    row = check(Setting(repetitions=200), [0.0])[0]
    assert (row.pruning.value, row.uct.value, row.survived.value, row.chosen.value) == (1, 1, 1, 1)


def test_observed_means_are_values_plus_bounded_bias():
    setting = Setting(repetitions=50)
    free = boundary._observed_means(setting, 0.0)
    assert (free.argmax(axis=1) == 0).all()
    assert boundary._observed_means(setting, 5.0) - free == pytest.approx(np.array([[-5, 5, 5, 5]] * 50))
    mild = boundary._observed_means(Setting(repetitions=50, bias="uniform"), 5.0) - free
    assert (np.abs(mild) <= 5 + 1e-9).all()
    assert np.median(80 - boundary._observed_means(Setting(), 0.0)[:, 1:]) == pytest.approx(20, rel=0.05)


def test_elimination_is_the_interval_rule_written_out():
    """Children of eight frontiers, inspected after 25, 50 and 100 draws with the paper's radius and the true L."""
    setting, L = Setting(repetitions=8, draws=100, sigma=5.0, gap=8.0), 0.4
    means = boundary._observed_means(setting, L)
    noise = boundary._stream(setting, 2)
    draws = np.stack([means + 5.0 * noise.standard_normal(means.shape) for _ in range(100)])
    inspections = boundary._inspections(100)
    left = [set(range(4)) for _ in range(8)]
    for n in inspections:
        u = math.sqrt(2 * 25 * math.log(math.pi**2 * n**2 * 4 / (3 * 0.05)) / n)
        for r, alive in enumerate(left):
            b = draws[:n, r].mean(axis=0)
            best = max(b[c] - u - L for c in alive)
            left[r] = {c for c in alive if not b[c] + u + L < best}
    active, chosen = boundary._eliminate(setting, means, L)
    assert [set(np.flatnonzero(row).tolist()) for row in active] == left
    assert 8 < sum(map(len, left)) < 32, "some go, some stay"
    assert chosen.tolist() == [max(alive, key=lambda c: draws[:, r, c].mean()) for r, alive in enumerate(left)]


def test_uct_is_ucb1_written_out():
    setting = Setting(repetitions=3, draws=20, sigma=10.0)
    means = boundary._observed_means(setting, 8.0)
    noise = boundary._stream(setting, 3)
    first = noise.standard_normal((3, 4))
    later = [noise.standard_normal(3) for _ in range(4, 80)]
    for r in range(3):
        pulls = [[means[r, c] + 10.0 * first[r, c]] for c in range(4)]
        for t, z in enumerate(later, 4):
            c = max(
                range(4), key=lambda c: np.mean(pulls[c]) / 100 + math.sqrt(2) * math.sqrt(math.log(t) / len(pulls[c]))
            )
            pulls[c].append(means[r, c] + 10.0 * z[r])
        assert boundary._uct(setting, means)[r] == max(range(4), key=lambda c: len(pulls[c]))


@pytest.mark.parametrize("draws", [1, 31, 400, 1000])
def test_inspections_end_at_the_draws(draws):
    counts = boundary._inspections(draws)
    assert counts[-1] == draws
    assert counts == sorted(set(counts))


def test_wilson_by_hand():
    share = boundary._wilson(0.5, 100, 100)
    assert (share.low, share.high) == pytest.approx((0.4038, 0.5962), abs=1e-4)
    assert boundary._wilson(1.0, 100, 100).low == pytest.approx(100 / (100 + 1.96**2), abs=1e-4)


def test_pruning_error_counts_frontiers_not_children():
    shares = np.array([0.0, 1.0] * 50)
    assert boundary._clustered(shares, 300).high - 0.5 == pytest.approx(1.96 * 0.5 / 10, rel=0.01)


def test_levels_are_the_papers():
    assert LEVELS == (0.05, 0.15, 0.25, 0.40)
    assert [p.pruning for p in PRINTED] == [0.991, 0.913, 0.444, 0.089]


@pytest.mark.parametrize(
    ("name", "value"),
    [("gap", 0), ("sigma", -1), ("spread", -1), ("draws", 0), ("repetitions", 0), ("delta", 1), ("children", 1)],
)
def test_refuses(name, value):
    with pytest.raises(ValueError, match=f"{name} is {value}"):
        Setting(**{name: value})
    with pytest.raises(ValueError, match="'saturated' or 'uniform'"):
        Setting(bias="none")
    with pytest.raises(ValueError, match="level is -1"):
        check(SMALL, [-1])
