import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paccf.theory.elimination import certified_at_least
from paccf.theory.radius import u_stat
from paccf.theory.samples import exact_samples, leading_samples, least_samples


@pytest.mark.parametrize(
    ("gap", "exact", "whole"),
    [
        (4, 24.4, 25),
        (2, 123.4, 124),
        (1, 594.3, 595),
        (0.5, 2771.2, 2772),
        (0.2, 20523.8, 20524),
        (0.1, 91673.6, 91674),
    ],
)
def test_known_counts_for_five_candidates_at_five_percent(gap, exact, whole):
    assert exact_samples(gap, 1, 5, 0.05) == pytest.approx(exact, abs=0.05)
    assert least_samples(gap, 1, 5, 0.05) == whole
    assert least_samples(gap + 4 * 3 + 1, 1, 5, 0.05, L=3, epsilon=1) == pytest.approx(whole, abs=1)


@given(st.floats(0.8, 40), st.floats(0.1, 3), st.integers(1, 50), st.floats(1e-6, 0.999))
def test_least_is_what_brute_force_finds(gap, sigma, arms, delta):
    n = 1
    while not certified_at_least(n, gap, sigma, arms, delta, 0):
        n += 1
        if n > 3000:
            return
    assert least_samples(gap, sigma, arms, delta) == n


@given(st.floats(1e-4, 5), st.integers(1, 100), st.floats(1e-6, 0.5))
def test_the_root_solves_the_boundary_equation(gap, arms, delta):
    n = exact_samples(gap, 1, arms, delta)
    if n > 1:
        c1 = math.pi**2 * arms / (3 * delta)
        assert n / math.log(c1 * n**2) == pytest.approx(32 / gap**2, rel=1e-9)


def test_where_the_root_is_a_whole_number_its_rounding_does_not_decide():
    """Rooms a hair above and exactly at 4 u(n): n draws are enough for the first, n + 1 for the second."""
    for n in range(2, 2000, 3):
        at = 4 * u_stat(n, 1, 5, 0.05)
        assert least_samples(math.nextafter(at, math.inf), 1, 5, 0.05) == n
        assert least_samples(at, 1, 5, 0.05) == n + 1


def test_a_gap_so_wide_that_one_draw_is_enough():
    assert exact_samples(1000, 1, 5, 0.05) == 1
    assert least_samples(1000, 1, 5, 0.05) == 1
    assert exact_samples(6.6, 1, 1, 0.99) == 1  # 2 C2 sqrt(C1) = 2.68 < e: no root


def test_the_one_place_where_the_radius_rises():
    """K = 1, delta = .99: u(1) = 1.55 < u(2) = 1.61. One draw certifies a gap of 6.3, two do not."""
    assert [certified_at_least(n, 6.3, 1, 1, 0.99, 0) for n in (1, 2, 3)] == [True, False, True]
    assert least_samples(6.3, 1, 1, 0.99) == 1
    assert 2 < exact_samples(6.3, 1, 1, 0.99) < 3  # from here on for good


@pytest.mark.parametrize("gap", [13.0, 12.0, 0.0, -5.0])
def test_no_room_is_an_answer_not_an_error(gap):
    for count in (exact_samples, least_samples, leading_samples):
        assert count(gap, 1, 5, 0.05, L=3, epsilon=1) == math.inf


def test_a_gap_beyond_all_measure_takes_one_draw():
    for gap in (1e200, 1e308):
        assert exact_samples(gap, 1, 5, 0.05) == least_samples(gap, 1, 5, 0.05) == 1


def test_tiny_gaps_stay_finite_and_right_to_double_precision():
    n = least_samples(1e-12, 1, 5, 0.05)
    assert n == pytest.approx(exact_samples(1e-12, 1, 5, 0.05), rel=1e-12)
    assert math.isfinite(n)


def test_leading_order_is_the_formula_and_has_the_right_growth():
    assert leading_samples(0.5, 2, 5, 0.05) == pytest.approx(4 * (math.log(100) + math.log(4)) / 0.25)
    assert leading_samples(5, 1, 5, 0.05, L=1, epsilon=0.5) == pytest.approx(math.log(100) / 0.25)
    ratios = [exact_samples(g, 1, 5, 0.05) / leading_samples(g, 1, 5, 0.05) for g in (1e-2, 1e-4, 1e-6)]
    assert max(ratios) / min(ratios) < 1.5  # a constant, up to iterated logarithms


@pytest.mark.parametrize(("name", "value"), [("sigma", 0), ("arms", 0), ("delta", 1), ("L", -1), ("gap", math.nan)])
def test_refuses(name, value):
    good = {"gap": 4, "sigma": 1, "arms": 5, "delta": 0.05, "L": 0}
    for count in (exact_samples, least_samples, leading_samples):
        with pytest.raises(ValueError, match=f"{name} is {value}"):
            count(**{**good, name: value})
