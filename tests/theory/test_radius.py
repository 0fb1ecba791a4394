import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paccf.theory.radius import degraded_loss, selection_loss, u_dist, u_stat

sigmas = st.floats(0.01, 100)
arms_ = st.integers(2, 1000)
deltas = st.floats(1e-9, 0.88)


def test_hand_computed_value():
    # ln(pi^2 * 16 * 5 / .15) = ln(5263.789) = 8.568606; u = sqrt(2 * 8.568606 / 4)
    assert u_stat(4, 1, 5, 0.05) == pytest.approx(math.sqrt(8.568606 / 2), rel=1e-6)


def test_at_the_deployed_four_repeats_the_certificate_needs_a_gap_above_eight_sigma():
    assert u_stat(4, 1, 5, 0.05) == pytest.approx(2.07, abs=0.005)


@given(st.integers(1, 10**9), sigmas, arms_, deltas)
def test_falls_with_draws_and_scales_with_sigma(n, sigma, arms, delta):
    u = u_stat(n, sigma, arms, delta)
    assert u_stat(n + 1, sigma, arms, delta) <= u
    assert u_stat(2 * n, sigma, arms, delta) < u
    assert u_stat(n, 3 * sigma, arms, delta) == pytest.approx(3 * u)
    assert u_stat(n, sigma, arms + 1, delta) > u
    assert u_stat(n, sigma, arms, delta / 2) > u


def test_the_one_rise_is_where_the_docstring_says():
    assert u_stat(2, 1, 1, 0.9) > u_stat(1, 1, 1, 0.9)
    assert u_stat(2, 1, 1, 0.8) < u_stat(1, 1, 1, 0.8)
    assert u_stat(3, 1, 1, 0.99) < u_stat(2, 1, 1, 0.99)


def test_bias_is_added_and_stays():
    assert u_dist(10**12, 1, 5, 0.05, 3.0) == pytest.approx(3.0, abs=1e-4)
    assert u_dist(7, 2, 5, 0.05, 3.0) == u_stat(7, 2, 5, 0.05) + 3.0


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"sigma": 0}, "sigma is 0"),
        ({"sigma": math.nan}, "sigma is nan"),
        ({"n": 0}, "n is 0"),
        ({"n": math.inf}, "n is inf"),
        ({"arms": 0}, "arms is 0"),
        ({"delta": 0}, "delta is 0"),
        ({"delta": 1}, "delta is 1"),
        ({"delta": math.nan}, "delta is nan"),
        ({"L": -1}, "L is -1"),
        ({"L": math.nan}, "L is nan"),
    ],
)
def test_refuses_with_the_number_and_the_remedy(change, named):
    good = {"n": 4, "sigma": 1, "arms": 5, "delta": 0.05, "L": 0}
    with pytest.raises(ValueError, match=f"^{named}; give"):
        u_dist(**{**good, **change})


def test_degradation_needs_small_radii():
    assert selection_loss(1.0, 2.0, 3.0) == 9.0
    assert degraded_loss(3.5, 3.5, 3.0, 1.0) == 13.0
    assert degraded_loss(3.5, 3.6, 3.0, 1.0) is None
    assert degraded_loss(3.6, 3.5, 3.0, 1.0) is None


units = st.integers(-10, 10).map(lambda k: k / 10)


@given(st.lists(st.tuples(st.integers(0, 100), units, units), min_size=1, max_size=8), st.integers(0, 20))
def test_selection_loses_no_more_than_stated_on_the_event(candidates, L):
    value, noise, bias = (np.array(x, float) for x in zip(*candidates, strict=True))
    u = 5.0
    chosen = int(np.argmax(value + u * noise + L * bias))
    assert value.max() - value[chosen] <= selection_loss(u, u, L) + 1e-9
