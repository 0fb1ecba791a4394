import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paccf.theory.lower import Standing, additive_bound, kl, two_point_bound, two_worlds
from paccf.theory.regimes import Regime, regime
from paccf.theory.samples import exact_samples


def test_kl_by_hand():
    assert kl(0.5, 0.25) == pytest.approx(0.5 * math.log(2) + 0.5 * math.log(2 / 3))
    assert kl(0.3, 0.3) == 0
    assert kl(0, 0.5) == pytest.approx(math.log(2))
    assert kl(1, 0.25) == pytest.approx(math.log(4))
    assert kl(0.5, 0) == kl(0.5, 1) == math.inf
    assert kl(0, 0) == kl(1, 1) == 0


shares = st.integers(0, 1024).map(lambda k: k / 1024)  # 1 - p is exact


@given(shares, shares)
def test_kl_laws(p, q):
    assert kl(p, q) >= 2 * (p - q) ** 2 - 1e-9  # Pinsker
    assert kl(p, q) == pytest.approx(kl(1 - p, 1 - q), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("bad", [(-0.1, 0.5), (0.5, 1.1), (math.nan, 0.5)])
def test_kl_refuses(bad):
    with pytest.raises(ValueError, match="give a probability"):
        kl(*bad)


@given(st.integers(1, 200).map(lambda k: k / 4), st.integers(0, 100).map(lambda k: k / 4), st.integers(-50, 50))
def test_two_worlds_are_admissible_opposite_and_equal_to_the_eye_up_to_2L(gap, L, centre):
    p, q = two_worlds(gap, L, centre)
    for w in (p, q):
        assert all(abs(b) <= L for b in w.biases)
        assert abs(w.values[0] - w.values[1]) == gap
    assert (p.values[0] > p.values[1]) != (q.values[0] > q.values[1])
    assert (p.observed == q.observed) == (gap <= 2 * L)
    if gap > 2 * L:
        assert p.observed[0] - p.observed[1] == gap - 2 * L


def test_two_point_bound():
    # kl(.95, .05) = .9 ln 19
    assert two_point_bound(10, 2, 0.05, 3) == pytest.approx(2 * 4 * 0.9 * math.log(19) / 16)
    assert two_point_bound(6, 2, 0.05, 3) == math.inf
    assert two_point_bound(1, 2, 0.05, 3, epsilon=1) == 0
    assert two_point_bound(math.nextafter(6, 7), 1e3, 0.05, 3) > 1e30


@given(st.floats(0.1, 100), st.floats(0.1, 20), st.floats(0, 10), st.floats(0, 5), st.floats(1e-6, 0.4))
def test_the_certificate_never_beats_the_lower_bound(gap, sigma, L, epsilon, delta):
    if regime(gap, L, epsilon) is Regime.CERTIFIED:
        draws = exact_samples(gap, sigma, 2, delta, L, epsilon)
        assert 2 * draws >= two_point_bound(gap, sigma, delta, L, epsilon)


def test_additive_bound_by_hand():
    bound = additive_bound([20, 12, 5, 0.5], sigma=5, delta=0.05, L=3, epsilon=1)
    information = 0.9 * math.log(19)
    assert [t.standing for t in bound.terms] == [
        Standing.COUNTED,
        Standing.COUNTED,
        Standing.UNASSERTED,  # 5 + 1 <= 6
        Standing.UNNECESSARY,
    ]
    assert bound.index_set == (0, 1)
    assert bound.terms[0].draws == pytest.approx(50 * information / 15**2)
    assert bound.terms[2].draws is None
    assert bound.total == pytest.approx(50 * information * (1 / 15**2 + 1 / 7**2))
    assert additive_bound([], 1, 0.05, 0).total == 0


def test_a_candidate_may_be_impossible_against_the_best_and_still_counted():
    assert two_point_bound(6, 1, 0.05, 3, epsilon=1) == math.inf
    assert additive_bound([6], 1, 0.05, 3, epsilon=1).index_set == (0,)


@pytest.mark.parametrize(("sigma", "delta", "L"), [(0, 0.05, 0), (1, 0.5, 0), (1, 0.05, -1)])
def test_refuses(sigma, delta, L):
    with pytest.raises(ValueError, match="give"):
        two_point_bound(10, sigma, delta, L)
    with pytest.raises(ValueError, match="give"):
        additive_bound([10], sigma, delta, L)
