"""The laws of admission."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from paccf.method.admission import KeepAll, Rule, ScoreGap, Threshold, TopK
from paccf.method.scores import UNIT, ScoreError

MICRO = 10**6
points = st.integers(-200 * MICRO, 200 * MICRO)
coarse = st.integers(0, 8).map(lambda i: i * 5 * MICRO)  # many ties
units = st.one_of(points, coarse)
frontiers = st.lists(st.one_of(units, st.none()), min_size=1, max_size=9)
margins = st.one_of(st.integers(0, 100 * MICRO).map(lambda u: Fraction(u, MICRO)), st.sampled_from([0.0, 30, 12.5]))
rules = st.one_of(
    st.just(KeepAll()),
    st.integers(1, 6).map(TopK),
    points.map(lambda u: Threshold(Fraction(u, MICRO))),
    margins.map(ScoreGap),
)


def written(frontier: list[int | None]) -> list[float | None]:
    """Scores as a user has them: floats with up to six decimals."""
    return [None if u is None else u / MICRO for u in frontier]


def maxima(frontier: list[int | None]) -> set[int]:
    scored = [u for u in frontier if u is not None]
    return {i for i, u in enumerate(frontier) if scored and u == max(scored)}


@given(frontiers, rules)
def test_every_rule(frontier: list[int | None], rule: Rule) -> None:
    scores = written(frontier)
    before = list(scores)
    kept = rule.keep(scores)
    assert scores == before, "a rule never changes a score"
    assert kept, "never empty"
    assert kept == sorted(set(kept)), "input order, each once"
    assert all(0 <= i < len(scores) for i in kept)
    unscored = {i for i, s in enumerate(scores) if s is None}
    assert unscored <= set(kept), "unscored candidates are kept"
    if isinstance(rule, TopK):
        assert len(set(kept) - unscored) == min(rule.k, len(scores) - len(unscored))
        assert not maxima(frontier) or maxima(frontier) & set(kept)
    else:
        assert maxima(frontier) <= set(kept), "contains every maximum"


@given(frontiers, rules)
def test_unscored_candidates_do_not_matter_to_the_others(frontier: list[int | None], rule: Rule) -> None:
    scores = written(frontier)
    there = [i for i, s in enumerate(scores) if s is not None]
    assume(there)
    alone = [there[j] for j in rule.keep([scores[i] for i in there])]
    assert [i for i in rule.keep(scores) if scores[i] is not None] == alone
    as_nan = [math.nan if s is None else s for s in scores]
    assert rule.keep(as_nan) == rule.keep(scores)


@given(frontiers, margins, margins)
def test_monotone_in_the_margin(frontier: list[int | None], a: Any, b: Any) -> None:
    small, large = sorted([Fraction(str(a)), Fraction(str(b))])
    assert set(ScoreGap(small).keep(written(frontier))) <= set(ScoreGap(large).keep(written(frontier)))


@given(frontiers)
def test_an_infinite_margin_keeps_all(frontier: list[int | None]) -> None:
    assert ScoreGap(math.inf).keep(written(frontier)) == KeepAll().keep(written(frontier))


@given(frontiers, margins, st.randoms(use_true_random=False))
def test_permutation_equivariant(frontier: list[int | None], margin: Any, rnd: random.Random) -> None:
    order = list(range(len(frontier)))
    rnd.shuffle(order)
    scores = written(frontier)
    for rule in (ScoreGap(margin), Threshold(margin), KeepAll()):
        kept = set(rule.keep(scores))
        assert {order[i] for i in rule.keep([scores[j] for j in order])} == kept


@given(frontiers, margins, points)
def test_shift_equivariant(frontier: list[int | None], margin: Any, shift: int) -> None:
    moved = [None if u is None else u + shift for u in frontier]
    assert ScoreGap(margin).keep(written(moved)) == ScoreGap(margin).keep(written(frontier))


@given(st.lists(units, min_size=1, max_size=8), margins, st.integers(0, 3 * MICRO))
def test_the_definition(frontier: list[int], margin: Any, epsilon: int) -> None:
    """s* - s <= margin + epsilon in rationals, whatever path decides it."""
    reach = Fraction(str(margin)) + Fraction(epsilon, MICRO)
    expected = [i for i, u in enumerate(frontier) if Fraction(max(frontier) - u, MICRO) <= reach]
    rule = ScoreGap(margin, Fraction(epsilon, MICRO))
    assert rule.keep(written(frontier)) == expected
    assert rule.keep([[u / MICRO] for u in frontier]) == expected
    assert rule.keep(np.array(frontier) / MICRO) == expected
    assert rule.keep_many(np.array([frontier]) / MICRO).tolist() == [[i in expected for i in range(len(frontier))]]


@given(
    st.integers(1, 7).flatmap(
        lambda r: st.lists(st.lists(st.integers(0, 10**4), min_size=r, max_size=r), min_size=2, max_size=6)
    ),
    st.data(),
)
def test_a_tie_with_the_margin_is_kept_however_the_scores_are_given(
    draws: list[list[int]], data: st.DataObject
) -> None:
    """Observations with two decimals; the margin is exactly the gap of one candidate, so it must be kept, given as
    observations, or as float means to a rule that knows R."""
    totals = [sum(d) for d in draws]
    repeats = len(draws[0])
    chosen = data.draw(st.integers(0, len(draws) - 1))
    margin = Fraction(max(totals) - totals[chosen], repeats * 100)
    expected = [i for i, t in enumerate(totals) if max(totals) - t <= max(totals) - totals[chosen]]
    observations = [[y / 100 for y in d] for d in draws]
    assert chosen in expected
    assert ScoreGap(margin).keep(observations) == expected
    means = [sum(d) / len(d) for d in observations]
    assert ScoreGap(margin, observations=repeats).keep(means) == expected
    array = np.array(observations)
    assert ScoreGap(margin).keep_many(array[None]).tolist() == [[i in expected for i in range(len(totals))]]
    by_means = ScoreGap(margin, observations=repeats).keep_many(np.array([means]))
    assert by_means.tolist() == [[i in expected for i in range(len(totals))]]


def test_a_margin_between_two_sums_admits_the_lower_one() -> None:
    """10/3 lies between 3.333333 and 3.333334; with two draws, between sums of 6.666666 and 6.666667."""
    for rule, kept, lost in (
        (ScoreGap("10/3"), 3.333333, 3.333334),
        (ScoreGap("10/3", observations=2), 3.333333, 3.3333335),
    ):
        assert rule.keep([kept, 0.0]) == [0, 1]
        assert rule.keep([lost, 0.0]) == [0]
        assert rule.keep_many(np.array([[kept, 0.0], [lost, 0.0]])).tolist() == [[True, True], [True, False]]
    assert ScoreGap("10/3").keep([[3.333333, 3.333333], [0, 0]]) == [0, 1]
    assert ScoreGap("10/3").keep([[3.333333, 3.333334], [0, 0]]) == [0]


def test_digits_beyond_the_sixth_do_not_count_on_the_quick_way_either() -> None:
    """The floats are less than 10/3 apart; read to six decimals, 3.333334 and 0 are more."""
    for decide in (
        ScoreGap("10/3").keep,
        lambda s: np.flatnonzero(ScoreGap("10/3").keep_many(np.array([s]))[0]).tolist(),
    ):
        assert decide([3.3333336, 0.0000003]) == [0]


def test_plain_floats_do_flip_where_the_rule_does_not() -> None:
    """Why the decision is exact: one-decimal scores, R = 1, a gap that equals the margin."""
    flips = 0
    for a in range(1000):
        top, low, margin = (a + 3) / 10, a / 10, 0.3
        flips += not top - low <= margin
        assert ScoreGap(margin).keep([top, low]) == [0, 1]
    assert flips > 100


@given(st.lists(frontiers, min_size=1, max_size=5), rules)
def test_many_frontiers_at_once(batch: list[list[int | None]], rule: Rule) -> None:
    width = max(map(len, batch))
    scores = np.full((len(batch), width), np.nan)
    present = np.zeros(scores.shape, dtype=bool)
    for row, frontier in enumerate(batch):
        present[row, : len(frontier)] = True
        scores[row, : len(frontier)] = [math.nan if u is None else u / MICRO for u in frontier]
    kept = rule.keep_many(scores, present)
    assert [np.flatnonzero(row).tolist() for row in kept] == [rule.keep(written(f)) for f in batch]


def test_many_frontiers_refuse_like_one() -> None:
    rule = ScoreGap(30)
    with pytest.raises(ValueError, match=r"scores\[1, 0\] is infinite"):
        rule.keep_many(np.array([[1.0, 2.0], [np.inf, 2.0]]))
    with pytest.raises(ValueError, match=r"scores\[0, 1\] lacks some"):
        rule.keep_many(np.array([[[1.0, 2.0], [np.nan, 2.0]]]))
    with pytest.raises(ValueError, match="axes"):
        rule.keep_many(np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="shape"):
        rule.keep_many(np.zeros((2, 2)), np.ones((2, 3), dtype=bool))
    padded = rule.keep_many(np.array([[1.0, np.inf]]), np.array([[True, False]]))
    assert padded.tolist() == [[True, False]]


@given(frontiers, rules, st.data())
def test_eligibility_comes_first(frontier: list[int | None], rule: Rule, data: st.DataObject) -> None:
    scores = written(frontier)
    eligible = data.draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores)))
    places = [i for i, e in enumerate(eligible) if e]
    assert (
        rule.keep(scores, eligible) == [places[j] for j in rule.keep([scores[i] for i in places])] if places else True
    )
    if not places:
        assert rule.keep(scores, eligible) == []


def test_infinite_scores_are_refused() -> None:
    for rule in (KeepAll(), TopK(2), Threshold(3), ScoreGap(3), ScoreGap(math.inf)):
        with pytest.raises(ScoreError):
            rule.keep([1.0, -math.inf, 2.0])
        with pytest.raises(ScoreError):
            rule.keep([1.0, 1e308])
        with pytest.raises(ValueError, match="eligibility"):
            rule.keep([1.0], [True, False])
        assert rule.keep([]) == []


@pytest.mark.parametrize(
    "make",
    [
        lambda: TopK(0),
        lambda: TopK(2.0),  # type: ignore[arg-type]
        lambda: ScoreGap(-1),
        lambda: ScoreGap(3, -0.1),
        lambda: ScoreGap(-math.inf),
        lambda: ScoreGap(math.nan),
        lambda: ScoreGap(3, math.inf),
        lambda: ScoreGap(3, observations=0),
        lambda: Threshold("x"),
    ],
)
def test_bad_rules_are_refused(make: Any) -> None:
    with pytest.raises(ValueError, match="."):
        make()


def test_rules_are_values() -> None:
    assert ScoreGap(0.5) == ScoreGap("1/2")
    assert len({ScoreGap(1), ScoreGap("1.0"), ScoreGap(2), TopK(1), TopK(2), KeepAll(), Threshold(1)}) == 6
    assert ScoreGap(1) != ScoreGap(1, 1)
    assert "ScoreGap(1/2, 0)" in repr(ScoreGap(0.5))
    with pytest.raises(AttributeError, match="immutable"):
        TopK(1).k = 2
    with pytest.raises(TypeError, match="decides nothing"):
        Rule.decide(KeepAll(), [1], 1)
    assert ScoreGap(1).limit(4) == 4 * UNIT


def test_iterators_arrays_and_narrow_types() -> None:
    rule = ScoreGap(10)
    assert rule.keep(x for x in [1, 2, 30]) == [2]  # type: ignore[arg-type]
    assert TopK(1).keep(iter([1, 2, 30])) == [2]  # type: ignore[arg-type]
    for kind in (np.int8, np.uint8, np.float16, np.float32, np.float64):
        draws = np.array([[100, 90, 80], [60, 95, 85], [70, 70, 70]], dtype=kind)
        assert rule.keep(draws) == rule.keep(list(draws)) == rule.keep(draws.tolist()) == [0, 1]
        assert rule.keep_many(draws[None]).tolist() == [[True, True, False]]
    with pytest.raises(ScoreError):
        rule.keep([10**400, 20])


def test_float32_draws_are_decided_like_their_values() -> None:
    rng = np.random.default_rng(2)
    for _ in range(500):
        draws = (rng.random((5, 4)) * 100).astype(np.float32)
        margin = Fraction(int(rng.integers(0, 100 * UNIT)), UNIT)
        many = ScoreGap(margin).keep_many(draws[None])[0]
        assert np.flatnonzero(many).tolist() == ScoreGap(margin).keep(draws) == ScoreGap(margin).keep(draws.tolist())


def test_rules_travel_between_processes() -> None:
    import copy
    import pickle

    for rule in (KeepAll(), TopK(3), Threshold("0.1", 4), ScoreGap("79/3", "1/3", 3), ScoreGap(math.inf)):
        assert pickle.loads(pickle.dumps(rule)) == copy.deepcopy(rule) == rule
