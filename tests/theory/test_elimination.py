import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paccf.theory.elimination import certified, certified_at_least, eliminated
from paccf.theory.radius import u_stat

# whole numbers, so that sums are exact and a strict inequality is one
candidate = st.tuples(st.integers(0, 60), st.integers(0, 12), st.integers(-12, 12), st.integers(-12, 12))
frontiers = st.lists(candidate, min_size=1, max_size=8)
small = st.integers(0, 8)


def observe(candidates, L):
    """True values, radii, and empirical means on the concentration event."""
    value, u, noise, bias = (np.array(x, float) for x in zip(*candidates, strict=True))
    return value, u, value + np.clip(noise, -u, u) + np.clip(bias, -L, L)


@given(frontiers, small, small)
def test_nothing_within_epsilon_of_the_best_is_ever_deleted_on_the_event(candidates, L, epsilon):
    value, u, mean = observe(candidates, L)
    gone = eliminated(mean, u, L, epsilon)
    assert not gone[value >= value.max() - epsilon].any()


@given(frontiers, small, small)
def test_at_least_as_powerful_as_comparing_with_the_true_best(candidates, L, epsilon):
    value, u, mean = observe(candidates, L)
    best = int(value.argmax())
    by_the_best = mean + u + L < mean[best] - u[best] - L - epsilon
    assert (eliminated(mean, u, L, epsilon) >= by_the_best).all()


@given(frontiers, small, small)
def test_matches_the_rule_written_out(candidates, L, epsilon):
    _, u, mean = observe(candidates, L)
    rule = [
        b + r + L < max(bj - uj - L for bj, uj in zip(mean, u, strict=True)) - epsilon
        for b, r in zip(mean, u, strict=True)
    ]
    assert eliminated(mean, u, L, epsilon).tolist() == rule


@given(st.integers(1, 200), st.integers(1, 200), st.floats(0.1, 40), st.floats(0, 3), st.floats(0, 2))
def test_certified_means_deleted_even_on_the_worst_draws(n, n_best, gap, L, epsilon):
    if not certified(n, n_best, gap, 1.0, 2, 0.05, L, epsilon):
        return
    u = np.array([u_stat(n, 1.0, 2, 0.05), u_stat(n_best, 1.0, 2, 0.05)])
    worst = np.array([-gap + u[0] + L, -u[1] - L])
    assert eliminated(worst, u * (1 - 1e-12), L, epsilon).tolist() == [True, False]


def test_hand_computed():
    assert eliminated([10, 4, 0], [1, 1, 1], L=1).tolist() == [False, True, True]  # 4+1+1 < 10-1-1
    assert eliminated([10, 6, 0], [1, 1, 1], L=1).tolist() == [False, False, True]  # 8 < 8 is false
    assert eliminated([10, 4, 0], [1, 1, 1], L=1, epsilon=2).tolist() == [False, False, True]


def test_the_largest_lower_bound_need_not_belong_to_the_top_mean():
    assert eliminated([10, 9, 6], [8, 1, 1], L=0).tolist() == [False, False, True]


def test_works_along_the_last_axis_and_keeps_the_dead_dead():
    means = np.array([[10.0, 0.0, 9.0], [0.0, 10.0, 9.0]])
    assert eliminated(means, 1.0, 0).tolist() == [[False, True, False], [True, False, False]]
    # the dead 20 would delete the 9
    assert eliminated([20, 0, 9], 1.0, 0, active=[False, True, True]).tolist() == [True, True, False]


def test_a_single_candidate_stays():
    assert eliminated([3.0], [0.0], 0).tolist() == [False]


def test_balanced_condition_is_the_unbalanced_one_at_equal_counts():
    assert certified_at_least(25, 4, 1, 5, 0.05, 0)
    assert not certified_at_least(24, 4, 1, 5, 0.05, 0)
    assert certified(24, 27, 4, 1, 5, 0.05, 0)  # one short count can be made up for by the other
    assert not certified_at_least(10**15, 12, 1, 5, 0.05, 3)  # gap = 4L


@pytest.mark.parametrize(
    ("means", "radii", "L", "epsilon"),
    [([math.nan, 1], 1, 0, 0), ([1, 2], -1, 0, 0), ([1, 2], math.nan, 0, 0), ([1, 2], 1, -1, 0), ([1, 2], 1, 0, -1)],
)
def test_refuses(means, radii, L, epsilon):
    with pytest.raises(ValueError, match="; "):
        eliminated(means, radii, L, epsilon)
