import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paccf.theory.betting import Betting
from paccf.theory.confidence import Union

scores = st.lists(st.integers(0, 100).map(float), min_size=1, max_size=40)


@settings(deadline=None)
@given(scores)
def test_ends_are_where_the_capital_reaches_the_threshold(x):
    boundary = Betting(0, 100, 5, 0.05)
    low, high = boundary.interval(x)
    for m in np.linspace(0, 100, 41):
        inside = boundary.log_capital(x, m).max() < boundary.threshold
        if min(abs(m - low), abs(m - high)) > 1e-6:
            assert inside == (low < m < high)


@settings(deadline=None)
@given(scores, scores)
def test_more_draws_never_widen(x, y):
    boundary = Betting(0, 100, 5, 0.05)
    low, high = boundary.interval(x)
    lower, higher = boundary.interval(x + y)
    assert lower >= low - 1e-9
    assert higher <= high + 1e-9


@settings(deadline=None)
@given(scores)
def test_mirrored_scores_give_the_mirrored_interval(x):
    boundary = Betting(0, 100, 5, 0.05)
    low, high = boundary.interval(x)
    assert boundary.interval([100 - v for v in x]) == pytest.approx((100 - high, 100 - low), abs=1e-6)


def test_first_bet_by_hand():
    """One draw of 1 on [0, 1], alpha = .05: variance guess 1/4, stake sqrt(2 ln 40 / (ln 2 / 4)), capped."""
    boundary = Betting(0, 1, 1, 0.05)
    stake = min(math.sqrt(2 * math.log(40) / (0.25 * math.log(2))), 0.5 / 0.5)
    assert boundary.threshold == pytest.approx(math.log(40))
    assert boundary.log_capital([1.0], 0.5)[0] == pytest.approx(math.log(1 + stake * 0.5))


def test_capital_is_a_martingale_under_the_true_mean():
    """Exact expectation over all 2^8 sequences of a coin of bias .3: each side starts and stays at 1."""
    boundary = Betting(0, 1, 1, 0.05)
    flips = np.array([[k >> i & 1 for i in range(8)] for k in range(256)], float)
    weight = np.prod(np.where(flips == 1, 0.3, 0.7), axis=1)
    from paccf.theory.betting import _wealth

    bets = boundary._bets(flips)
    for capital in (_wealth(flips, bets, 0.3), _wealth(1 - flips, bets, 0.7)):
        assert weight @ np.exp(capital) == pytest.approx(np.ones(8))


@pytest.mark.parametrize("law", ["coin", "rare", "narrow"])
def test_simulated_miscoverage(law):
    """SIMULATED: 3,000 paths of 500 draws, three shapes of bounded score."""
    rng, shape = np.random.default_rng(5), (3000, 500)
    x, mean = {
        "coin": lambda: (rng.integers(0, 2, shape) * 100.0, 50.0),
        "rare": lambda: ((rng.random(shape) < 0.05) * 100.0, 5.0),
        "narrow": lambda: (rng.integers(75, 86, shape).astype(float), 80.0),
    }[law]()
    boundary = Betting(0, 100, 1, 0.05)
    wrong = (boundary.log_capital(x, mean) >= boundary.threshold).any(axis=1).mean()
    assert wrong <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 3000)


def test_drifting_bias_is_covered_by_widening():
    """SIMULATED: the mean swings between 50 and 70; the ends bound its largest and smallest value."""
    rng = np.random.default_rng(6)
    mean = np.where(np.arange(300) // 50 % 2, 70.0, 50.0)
    x = mean + rng.uniform(-30, 30, (300, 300))
    ends = np.array([Betting(0, 100, 1, 0.05).interval(path) for path in x])
    wrong = ((ends[:, 0] > 70) | (ends[:, 1] < 50)).mean()
    assert wrong <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 300)


def test_narrower_than_the_radius_that_must_assume_the_worst():
    """sd 5 on 0-100, K = 5: mean widths 89 / 44 / 14.7 / 4.1 were found elsewhere at n = 4 / 16 / 64 / 256."""
    rng = np.random.default_rng(7)
    for n, known in ((4, 89), (16, 44), (64, 14.7), (256, 4.1)):
        paths = np.clip(60 + 5 * rng.standard_normal((10, n)), 0, 100)
        ends = np.array([Betting(0, 100, 5, 0.05).interval(path) for path in paths])
        width = float((ends[:, 1] - ends[:, 0]).mean())
        assert width == pytest.approx(known, rel=0.1)
        assert width < 2 * Union(50, 5, 0.05).radius(n) / 2.2


@pytest.mark.parametrize("x", [[], [101.0], [-1.0], [math.nan], [[1.0, 2.0]]])
def test_refuses_scores(x):
    with pytest.raises(ValueError, match="give"):
        Betting(0, 100, 5, 0.05).interval(x)


@pytest.mark.parametrize("setting", [(1, 1, 5, 0.05), (0, math.inf, 5, 0.05), (0, 1, 0, 0.05), (0, 1, 5, 0)])
def test_refuses_settings(setting):
    with pytest.raises(ValueError, match="give"):
        Betting(*setting)
