import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paccf.theory.confidence import (
    Mixture,
    Pairwise,
    Stitched,
    Union,
    _minus_w,
    analytic,
    compare,
    least_draws,
    mixture_radius,
    tuned,
)
from paccf.theory.radius import u_stat

DELTA = 0.05


@pytest.mark.parametrize(
    ("gap", "union", "stitched", "mixture", "pairwise"),
    [
        (4, 25, 18, 13, 8),
        (2, 124, 76, 52, 29),
        (1, 595, 315, 205, 115),
        (0.5, 2772, 1297, 817, 457),
        (0.1, 91674, 34019, 20411, 11403),
    ],
)
def test_draws_for_five_candidates_at_five_percent(gap, union, stitched, mixture, pairwise):
    expected = {"union": union, "stitched": stitched, "mixture": mixture, "pairwise": pairwise}
    assert compare(gap, 1, 5, DELTA) == expected


@pytest.mark.parametrize("gap", [4, 1, 0.1])
def test_the_fixed_point_is_the_best_tuning(gap):
    best = tuned(Mixture, 1, 5, DELTA, gap)
    n = least_draws(best, gap)
    assert best.n0 == n
    assert n == min(least_draws(Mixture(1, 5, DELTA, n0), gap) for n0 in np.geomspace(n / 5, n * 5, 60))


def test_mixture_radius_by_hand():
    """alpha = 1/e: -W_-1(-e^-3) = 4.50524 (4.50524 e^-4.50524 = e^-3), so n0 = 3.50524 makes rho = 1."""
    assert mixture_radius(1, 1, math.exp(-1), 3.50524) == pytest.approx(math.sqrt(2 * (math.log(2) + 2)), rel=1e-5)


def test_a_delta_whose_square_is_no_double():
    """w = 1 + n0 / rho solves w - ln w = 1 - 2 ln alpha, on both sides of the switch of methods."""
    for alpha in (1e-149, 1e-151, 1e-250, 1e-300):
        rho = 1 / (_minus_w(alpha) - 1)
        assert 1 + 1 / rho - math.log(1 + 1 / rho) == pytest.approx(1 - 2 * math.log(alpha), rel=1e-13)
        assert math.isfinite(Mixture(1, 5, alpha).radius(10))
    assert _minus_w(0.99e-150) == pytest.approx(_minus_w(1.01e-150), rel=1e-3)


def test_stitched_radius_by_hand():
    # K = 1, delta = .05, n = 1: zeta(1.4) = 3.10555, ln 2 = .693147, alpha = .025, k1 = 1.43820...
    k1 = (2**0.25 + 2**-0.25) / math.sqrt(2)
    log = 1.4 * math.log(math.log(2)) + math.log(3.105547 / (0.025 * math.log(2) ** 1.4))
    assert Stitched(1, 1, 0.05).radius(1) == pytest.approx(k1 * math.sqrt(log), rel=1e-5)


def test_union_is_the_papers():
    assert Union(2, 5, DELTA).radius(7) == u_stat(7, 2, 5, DELTA)


@given(st.integers(64, 10**8), st.integers(1, 200), st.floats(1e-6, 0.99), st.floats(1, 1e6))
def test_radii_fall_and_scale(n, arms, delta, n0):
    for name, boundary in analytic(1, arms, delta, n0).items():
        assert boundary.radius(n + 1) <= boundary.radius(n), name
        assert analytic(3, arms, delta, n0)[name].radius(n) == pytest.approx(3 * boundary.radius(n))


@given(st.floats(0.3, 30), st.integers(2, 20), st.floats(1e-4, 0.9))
def test_least_draws_is_what_brute_force_finds(room, arms, delta):
    for boundary in analytic(1, arms, delta).values():
        n = least_draws(boundary, room)
        assert boundary.radii * boundary.radius(n) < room
        assert not any(boundary.radii * boundary.radius(k) < room for k in range(max(1, n - 300), n))


def test_no_room_means_never_and_a_frontier_of_one_has_no_pairs():
    assert compare(0, 1, 5, DELTA) == dict.fromkeys(("union", "stitched", "mixture", "pairwise"), math.inf)
    assert compare(-1, 1, 1, DELTA) == dict.fromkeys(("union", "stitched", "mixture"), math.inf)
    assert least_draws(Union(1, 5, DELTA), 1e-12) == math.inf
    with pytest.raises(ValueError, match="arms is 1; a difference needs 2"):
        Pairwise(1, 1, DELTA)


def test_interval_is_mean_and_radius():
    for boundary in analytic(5, 5, DELTA).values():
        low, high = boundary.interval([81, 80, 79, 84])
        assert (low + high) / 2 == pytest.approx(81)
        assert (high - low) / 2 == pytest.approx(boundary.radius(4))


@pytest.mark.parametrize("observations", [[], [1.0, math.nan]])
def test_interval_refuses(observations):
    with pytest.raises(ValueError, match="observations"):
        Union(1, 5, DELTA).interval(observations)


@pytest.mark.parametrize("kind", [Union, Stitched, Mixture, Pairwise])
@pytest.mark.parametrize(("name", "value"), [("sigma", 0), ("arms", 0), ("delta", 1)])
def test_boundaries_refuse(kind, name, value):
    with pytest.raises(ValueError, match=f"{name} is {value}"):
        kind(**{"sigma": 1, "arms": 5, "delta": 0.05, name: value})


def crossed(sums, counts, radius):
    """Share of paths (first axis) on which |sum / n| ever exceeds the radius."""
    limit = counts * np.array([radius(n) for n in counts.tolist()])
    return float((np.abs(sums) > limit).any(axis=tuple(range(1, sums.ndim))).mean())


def tolerance(repetitions, rate=DELTA):
    return 3 * math.sqrt(rate * (1 - rate) / repetitions)


def test_simulated_crossing_on_a_frontier_of_five():
    """SIMULATED: 3,000 frontiers, 5 candidates, every n up to 400; Gaussian noise, the extreme of the class."""
    noise = np.random.default_rng(1).standard_normal((3000, 5, 400))
    sums, counts = noise.cumsum(axis=2), np.arange(1, 401)
    i, j = np.triu_indices(5, 1)
    for name, boundary in analytic(1, 5, DELTA).items():
        paths = sums[:, i] - sums[:, j] if name == "pairwise" else sums
        assert crossed(paths, counts, boundary.radius) <= DELTA + tolerance(3000), name


def test_the_lemma_holds_when_bias_drifts_and_noise_is_not_gaussian():
    """SIMULATED: bias moves within L by the sign of the past, noise is a fair +-1 coin (1-sub-Gaussian)."""
    rng, L, paths = np.random.default_rng(2), 0.5, 4000
    total, crossings = np.zeros((paths, 3)), np.zeros(paths, bool)
    for n in range(1, 301):
        total += L * np.where(total >= 0, 1, -1) + rng.choice([-1.0, 1.0], (paths, 3))  # as bad as L allows
        crossings |= (np.abs(total / n) > u_stat(n, 1, 3, DELTA) + L).any(axis=1)
    assert crossings.mean() <= DELTA + tolerance(paths)


def test_union_wastes_most_of_delta_and_the_mixture_least():
    """SIMULATED: one candidate, n up to a million: every n to 100, then in steps of 2 %."""
    counts = np.unique(np.concatenate([np.arange(1, 101), np.geomspace(100, 1e6, 465).astype(int)]))
    steps = np.sqrt(np.diff(counts, prepend=0))
    sums = (np.random.default_rng(3).standard_normal((20_000, len(counts))) * steps).cumsum(axis=1)
    rates = {name: crossed(sums, counts, b.radius) for name, b in analytic(1, 1, DELTA, n0=100).items()}
    assert rates["union"] < rates["stitched"] < rates["mixture"] <= DELTA + tolerance(20_000)
    assert rates["union"] < DELTA / 5
    assert rates["mixture"] > DELTA / 2


def test_a_mixture_crosses_wherever_it_is_tuned_less_than_delta():
    """SIMULATED: the promise does not depend on n0."""
    sums, counts = np.random.default_rng(4).standard_normal((4000, 1000)).cumsum(axis=1), np.arange(1, 1001)
    for n0 in (1, 30, 1000):
        assert crossed(sums, counts, Mixture(1, 1, DELTA, n0).radius) <= DELTA + tolerance(4000)
