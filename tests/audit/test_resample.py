"""The fast bootstrap: its law, its independence of how it is run, and its agreement with exact laws and peers."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paccf.audit import resample
from paccf.audit.bootstrap import cluster_interval, difference_law, paired_interval
from paccf.audit.resample import BLOCK, Cluster, blocks, macro_draws, mean_defined, percentiles, stream, weights


@pytest.mark.parametrize("n", [1, 2, 3, 99, 100, 30_000, 65_535, 65_536, 70_001])
def test_weights_are_counts(n: int) -> None:
    found = weights(stream(1, "x", 0), 7, n)
    assert found.shape == (7, n)
    assert (found.sum(axis=1) == n).all()
    assert (found >= 0).all()
    assert (found == found.astype(int)).all()


@pytest.mark.parametrize("n", [3, 30_000])
def test_draws_are_uniform(n: int) -> None:
    """Chi-square over tasks (30,000 rejects one word in twelve: a biased fold would show)."""
    found = weights(stream(2, "uniform", 0), 60_000 // n * 40 or 40, n).sum(axis=0)
    groups = found.reshape(-1, max(1, n // 10) if n > 10 else 1).sum(axis=1)
    expected = groups.sum() / len(groups)
    statistic = float(((groups - expected) ** 2 / expected).sum())
    assert statistic < len(groups) - 1 + 6 * (2 * len(groups)) ** 0.5


def test_weights_follow_the_multinomial_law() -> None:
    """All 27 ordered resamples of three tasks are equally likely, so counts follow exactly."""
    law = Counter(tuple(draw.count(t) for t in range(3)) for draw in product(range(3), repeat=3))
    found = Counter(map(tuple, weights(stream(3, "law", 0), 27_000, 3).astype(int).tolist()))
    assert set(found) == set(law)
    for counts, ways in law.items():
        mean = 1000 * ways
        assert abs(found[counts] - mean) < 5 * (mean * (1 - ways / 27)) ** 0.5


def cluster(seed: int, tasks: int = 12, name: str = "d") -> Cluster:
    rng = np.random.default_rng(seed)
    native = rng.integers(1, 50, (3, 2, tasks)).astype(float)
    return Cluster(
        name, native, rng.integers(0, 50, native.shape).astype(float), rng.integers(-1, 2, (3, 1, tasks)) * 1.0
    )


def test_the_seed_alone_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    clusters, groups = [cluster(0, name="a"), cluster(1, 9, "b")], [[[0, 1, 2], [0, 1, 2]], [[0], [2]]]
    size = 2 * BLOCK + 100
    one = macro_draws(clusters, groups, 5, size)
    assert (one == macro_draws(clusters, groups, 5, size, threads=4)).all()
    assert (one[:, : BLOCK + 7] == macro_draws(clusters, groups, 5, BLOCK + 7)).all(), (
        "more resamples change no earlier one"
    )
    assert (one != macro_draws(clusters, groups, 6, size)).any()
    taken = []
    real = resample.weights
    monkeypatch.setattr(resample, "weights", lambda *a: taken.append(a[1]) or real(*a))  # type: ignore[func-returns-value]
    macro_draws(clusters, groups, 5, size)
    assert sorted(taken) == [100, 100, BLOCK, BLOCK, BLOCK, BLOCK], (
        "one weight vector a domain and resample, for all quantities"
    )


def test_macros_are_means_of_ratios_of_totals() -> None:
    """The draws, recomputed by loops from the same weights."""
    clusters = [cluster(0, name="a"), cluster(1, 9, "b")]
    groups = [[[0, 1, 2], [0, 1, 2]], [[1], [0, 2]]]
    found = macro_draws(clusters, groups, 11, 50)
    drawn = [weights(stream(11, c.name, 0), 50, c.gain.shape[2]) for c in clusters]
    for i in range(50):
        by_domain = []
        for c, w, chosen in zip(clusters, drawn, groups[1], strict=True):
            gain = np.mean([100 * (w[i] @ c.gain[k, 0]) / len(w[i]) for k in chosen])
            cuts = [
                np.mean([100 * (1 - (w[i] @ c.paccf[k, q]) / (w[i] @ c.native[k, q])) for k in chosen])
                for q in range(2)
            ]
            by_domain.append([gain, *cuts])
        assert found[9:12, i] == pytest.approx(np.mean(by_domain, axis=0), rel=1e-5, abs=1e-5)


def test_identities_are_shared() -> None:
    """Two controllers with the same figures move together: their macro has the interval of one."""
    one = cluster(4)
    twin = Cluster("d", one.native[[0, 0]], one.paccf[[0, 0]], one.gain[[0, 0]])
    alone = Cluster("d", one.native[[0]], one.paccf[[0]], one.gain[[0]])
    both = macro_draws([twin], [[[0, 1]]], 1, 3000)
    single = macro_draws([alone], [[[0]]], 1, 3000)
    assert both == pytest.approx(single, rel=1e-6, abs=1e-5)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 8), st.integers(0, 8), st.integers(20, 60))
def test_sampled_agrees_with_the_exact_law(rescues: int, regressions: int, n: int) -> None:
    """Each end of the sampled interval is a percentile of the exact law, up to Monte-Carlo error in the level."""
    gain = np.zeros((1, n))
    gain[0, :rescues] = 1
    gain[0, rescues : rescues + regressions] = -1
    draws = blocks(20_000, 1, lambda b, size: 100 * weights(stream(9, "sampled", b), size, n) @ gain.T / n)
    found = percentiles(draws[0])
    assert found is not None
    lo, hi = paired_interval(rescues, regressions, n)
    if (round(lo, 5), round(hi, 5)) == (round(found.lo, 5), round(found.hi, 5)):
        return
    law = [Fraction(mass, n**n) for mass in difference_law(rescues, regressions, n)]
    for end, tail in ((found.lo, 1), (found.hi, -1)):
        inside = sum(law[: n + round(end * n / 100) + 1]) if tail == 1 else sum(law[n + round(end * n / 100) :])
        beyond = inside - law[n + round(end * n / 100)]
        assert beyond - Fraction(1, 100) < Fraction(25, 1000) < inside + Fraction(1, 100)


def test_percentiles() -> None:
    values = np.arange(101, dtype=np.float32)
    found = percentiles(values)
    assert found is not None
    assert (found.lo, found.hi, found.undefined) == (2.5, 97.5, 0)
    rng = np.random.default_rng(0)
    random = rng.normal(size=1003).astype(np.float32)
    found = percentiles(random, 0.9)
    assert found is not None
    assert (found.lo, found.hi) == pytest.approx(np.quantile(random, [0.05, 0.95]), abs=1e-6)
    random[::3] = np.nan
    found = percentiles(random)
    assert found is not None
    assert found.undefined == 335
    assert found.lo == pytest.approx(np.nanquantile(random, 0.025), abs=1e-6)
    assert percentiles(np.full(5, np.nan, np.float32)) is None
    one = percentiles(np.array([4.0], np.float32))
    assert one is not None
    assert (one.lo, one.hi) == (4, 4)


def test_mean_defined() -> None:
    values = np.array([[1.0, 3.0], [np.nan, 5.0], [np.nan, np.nan]])
    assert mean_defined(values, 1)[:2].tolist() == [2.0, 5.0]
    assert np.isnan(mean_defined(values, 1)[2])


def test_cluster_interval() -> None:
    rng = np.random.default_rng(7)
    native = [rng.integers(5, 90, (2, 30)), rng.integers(5, 90, (3, 20))]
    paccf = [n * 0.75 for n in native]
    assert cluster_interval(native, paccf, resamples=2000) == (25.0, 25.0), "a constant ratio has no spread"
    paccf = [rng.integers(5, 90, n.shape) for n in native]
    wide = cluster_interval(native, paccf, resamples=4000, seed=1)
    assert wide == cluster_interval(native, paccf, resamples=4000, seed=1, threads=3)
    assert wide != cluster_interval(native, paccf, resamples=4000, seed=2)
    narrow = cluster_interval(native, paccf, 0.5, resamples=4000, seed=1)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
    point = np.mean([np.mean(100 * (1 - p.sum(1) / n.sum(1))) for n, p in zip(native, paccf, strict=True)])
    assert narrow[0] < point < narrow[1]
    # a mask leaves pairs out of both arms, unknowns included
    masked = [n.astype(float) for n in native]
    masked[0][0, 0] = np.nan
    cohort = [~np.isnan(n) for n in masked]
    zeroed = [n.copy() for n in native]
    zeroed_p = [p.copy() for p in paccf]
    zeroed[0][0, 0] = zeroed_p[0][0, 0] = 0
    assert cluster_interval(masked, paccf, cohort=cohort, resamples=500) == cluster_interval(
        zeroed, zeroed_p, resamples=500
    )


def test_cluster_interval_refuses() -> None:
    ones = np.ones((2, 3))
    with pytest.raises(ValueError, match="one array a domain"):
        cluster_interval([ones], [ones, ones])
    with pytest.raises(ValueError, match="of one shape"):
        cluster_interval([ones], [np.ones((2, 4))])
    with pytest.raises(ValueError, match="negative or not a number"):
        cluster_interval([ones], [ones * np.nan])
    with pytest.raises(ValueError, match="no reduction"):
        cluster_interval([ones * 0], [ones], resamples=10)


def test_agrees_with_scipy() -> None:
    """One controller, one quantity: the percentile bootstrap of a ratio, drawn by somebody else."""
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(3)
    native, paccf = rng.integers(20, 200, 40), rng.integers(20, 200, 40)
    ours = cluster_interval([native[None]], [paccf[None]], resamples=40_000, seed=1)
    theirs = stats.bootstrap(
        (native, paccf),
        lambda n, p, axis: 100 * (1 - p.sum(axis) / n.sum(axis)),
        paired=True,
        vectorized=True,
        n_resamples=40_000,
        batch=2000,
        method="percentile",
        rng=np.random.default_rng(5),
    ).confidence_interval
    width = theirs.high - theirs.low
    assert abs(ours[0] - theirs.low) < 0.03 * width
    assert abs(ours[1] - theirs.high) < 0.03 * width
