"""Frontier and task nonconformity."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paccf.method.admission import ScoreGap
from paccf.method.deficit import TaskDeficits, frontier_deficit, shared_labels

T, F, U = True, False, None


@pytest.mark.parametrize(
    ("scores", "labels", "deficit"),
    [
        ([81, 20.5, 60], [F, F, T], Fraction(21)),
        ([81, 20.5, 60], [T, F, T], Fraction(0)),
        ([81, 20.5, 60], [F, F, F], None),  # not exposed
        ([81, 20.5, 60], [F, U, F], math.inf),  # unresolved
        ([81, 20.5, 60], [F, T, U], Fraction("60.5")),  # a None beside a true label: an upper bound
        ([81, None, 60], [F, T, F], Fraction(0)),  # an unscored protected candidate is kept
        ([None, None], [T, F], Fraction(0)),
        ([None, None], [F, F], None),
        ([None, 5], [F, T], Fraction(0)),
        ([], [], None),
        ([[81, 80, 79, 84], [82, 70, 75, 80]], [F, T], Fraction(324 - 307, 4)),
        ([[1, 1, 0], [0, 0, 1]], [F, T], Fraction(1, 3)),
        ([0.3, 0.1], [F, T], Fraction(2, 10)),
    ],
)
def test_by_hand(scores: list[Any], labels: list[bool | None], deficit: Fraction | float | None) -> None:
    assert frontier_deficit(scores, labels) == deficit
    stream = TaskDeficits()
    stream.add("t", scores, labels)
    assert stream.scores == {"t": deficit}


def test_eligibility_comes_before_the_maximum() -> None:
    scores, labels = [90, 50, 40], [F, F, T]
    assert frontier_deficit(scores, labels) == 50
    assert frontier_deficit(scores, labels, [F, T, T]) == 10
    assert frontier_deficit(scores, labels, [T, T, F]) is None
    stream = TaskDeficits()
    stream.add("t", scores, labels, [T, T, F])
    assert (stream.lost_at_eligibility, stream.missing) == (1, 1)


def test_copies_of_a_candidate_share_their_label() -> None:
    assert shared_labels([F, T, U], ["a", "b", "a"]) == [U, T, U]
    assert shared_labels([T, F, F], ["a", "b", "a"]) == [T, F, T]
    assert shared_labels([U, F, F], ["a", "b", "a"]) == [U, F, U]
    labels = [T, F]
    assert shared_labels(labels, ["a", "b"]) is labels
    assert frontier_deficit([50, 80], [T, F], candidates=["a", "a"]) == 0
    stream = TaskDeficits()
    stream.add("t", [50, 80], [T, F], candidates=["a", "a"])
    assert stream.scores == {"t": 0}


def test_missing_is_not_zero_and_unresolved_is_infinite() -> None:
    stream = TaskDeficits()
    stream.add("missing", [1, 2], [F, F])
    stream.add("zero", [1, 2], [F, T])
    stream.add("open", [9, 2], [F, T])
    stream.add("open", [1, 2], [F, U])
    assert stream.exposed == {"zero": 0, "open": math.inf}
    assert (stream.tasks, stream.missing, stream.unresolved, stream.frontiers) == (3, 1, 1, 4)
    assert (stream.exposed_frontiers, stream.unresolved_frontiers) == (2, 1)
    assert stream.resolved == {"missing": None, "zero": 0, "open": 7}


def test_tuples_of_draws_and_bad_input_go_the_exact_way() -> None:
    stream = TaskDeficits()
    stream.add("t", [1, 1], [T, F])
    stream.add("t", [(7, 8), (9, 1)], [F, T])
    assert stream.scores == {"t": Fraction(5, 2)}
    with pytest.raises(ValueError, match="labels"):
        stream.add("t", [1, 2, 3], [T])
    with pytest.raises(ValueError, match="labels"):
        stream.add("t", [], [T])


@pytest.mark.parametrize("observations", [0, -3, 1.5, True])
def test_a_mean_is_of_one_draw_at_least(observations: Any) -> None:
    with pytest.raises(ValueError, match="1 or more"):
        TaskDeficits(observations)
    with pytest.raises(ValueError, match="1 or more"):
        frontier_deficit([1, 2], [T, F], observations=observations)


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="1 labels"):
        frontier_deficit([1, 2], [T])
    with pytest.raises(ValueError, match="eligibility"):
        frontier_deficit([1, 2], [T, F], [T])


number = st.one_of(
    st.integers(0, 20).map(lambda i: i / 2), st.integers(0, 100), st.floats(0, 100).map(lambda x: round(x, 6))
)


def frontier_of(score: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[list[Any], list[bool | None]]]:
    return st.lists(st.tuples(score, st.sampled_from([T, F, F, U])), max_size=6).map(
        lambda rows: ([s for s, _ in rows], [p for _, p in rows])
    )


score_kinds = st.one_of(
    st.just(number),
    st.just(st.one_of(number, st.none())),
    st.just(st.lists(st.integers(0, 10), min_size=3, max_size=3)),
    st.just(st.lists(number, min_size=4, max_size=4)),
    st.just(st.lists(number, min_size=1, max_size=3)),
    st.just(st.one_of(number, st.lists(number, min_size=2, max_size=2))),
)
streams = score_kinds.flatmap(lambda kind: st.lists(st.tuples(st.sampled_from("ab"), frontier_of(kind)), max_size=12))


@given(streams)
def test_one_pass_equals_the_definition(stream: list[tuple[str, tuple[list[Any], list[bool | None]]]]) -> None:
    """The quick way of `TaskDeficits` against max over frontiers of the exact deficit."""
    found = TaskDeficits()
    by_task: dict[str, list[Fraction | float]] = {}
    for task, (scores, labels) in stream:
        found.add(task, scores, labels)
        c = frontier_deficit(scores, labels)
        by_task.setdefault(task, []).extend([] if c is None else [c])
    assert found.scores == {task: max(cs) if cs else None for task, cs in by_task.items()}
    assert found.exposed_frontiers == sum(c != math.inf for cs in by_task.values() for c in cs)


@given(frontier_of(number))
def test_the_deficit_is_the_margin_that_just_keeps_a_protected_candidate(
    frontier: tuple[list[Any], list[bool | None]],
) -> None:
    """Corollary native_trace_path_survival, at one frontier: a margin at the deficit keeps one, any smaller loses all."""
    scores, labels = frontier
    c = frontier_deficit(scores, labels)
    if c is None or c == math.inf:
        return
    protected = {i for i, label in enumerate(labels) if label}
    assert protected & set(ScoreGap(c).keep(scores))
    if c > 0:
        assert not protected & set(ScoreGap(c - Fraction(1, 10**6)).keep(scores))


@given(streams, st.integers(0, 12))
def test_a_longer_trace_never_has_a_smaller_score(stream: list[Any], cut: int) -> None:
    """C_task is nondecreasing in the budget: a longer run's trace is a superset."""
    short, long = TaskDeficits(), TaskDeficits()
    for i, (task, (scores, labels)) in enumerate(stream):
        long.add(task, scores, labels)
        if i < cut:
            short.add(task, scores, labels)
    for task, c in short.exposed.items():
        assert long.exposed[task] >= c


def test_the_shortcut_refuses_what_the_exact_way_refuses() -> None:
    for bad in ([-math.inf, 50], [-1e300, 50], ["a", "b"], [math.inf, 1]):
        stream = TaskDeficits()
        stream.add("t", [90, 1], [F, T])
        with pytest.raises(ValueError, match="scores"):
            stream.add("t", bad, [F, T])  # type: ignore[arg-type]


def test_a_tie_within_the_haze_is_decided_exactly() -> None:
    """Two gaps that differ by a millionth, the larger one second: the shortcut must not pass it."""
    stream = TaskDeficits()
    stream.add("t", [0.3, 0.1], [F, T])
    stream.add("t", [0.300001, 0.1], [F, T])
    assert stream.scores == {"t": Fraction(200_001, 10**6)}


def test_draws_finer_than_six_decimals_are_not_judged_by_their_float_sums() -> None:
    """Sums that are 4.0 or less in floats and 4.000001 as read."""
    stream = TaskDeficits()
    stream.add("gap", [[1, 1, 1, 1], [0, 0, 0, 0]], [F, T])
    stream.add("gap", [[1.0000006, 1.0000006, 1.0000006, 0.999998], [0.0] * 4], [F, T])
    stream.add("tie", [[1.0] * 4, [1.0] * 4], [F, T])
    stream.add("tie", [[1.0, 1.0000006, 1.0000006, 0.9999988], [1.0] * 4], [F, T])
    assert stream.scores == {"gap": Fraction(4_000_001, 4 * 10**6), "tie": Fraction(1, 4 * 10**6)}


def test_draws_of_different_number_are_not_judged_by_their_sums() -> None:
    stream = TaskDeficits()
    stream.add("t", [4, 0], [F, T])
    stream.add("t", [[0, 0, 0], [9]], [T, F])
    assert stream.scores == {"t": 9}


def test_the_worst_gap_is_found_among_frontiers_of_different_r() -> None:
    """3 over one draw is more than 8 / 4, and less than 16 / 4."""
    stream = TaskDeficits()
    for scores, worst in (([[2] * 4, [0] * 4], 2), ([3, 0], 3), ([[4] * 4, [0] * 4], 4), ([3, 0], 4)):
        stream.add("t", scores, [F, T])
        assert stream.scores == {"t": worst}


@pytest.mark.parametrize("labels", [[T, U, F], [U, T, F], [F, U, T], [U, F, T]])
def test_one_copy_that_is_protected_makes_all_so(labels: list[bool | None]) -> None:
    assert shared_labels([*labels, U, F], ["a", "a", "a", "b", "b"]) == [T, T, T, U, U]


def test_copies_share_labels_on_the_short_way_too() -> None:
    stream = TaskDeficits()
    stream.add("t", [5, 0], [F, T])
    for _ in range(2):
        stream.add("t", [9, 0, 8], [F, T, F], candidates=["a", "b", "b"])
    assert stream.scores == {"t": 5}
    with pytest.raises(ValueError, match="2 scores but 1 candidates"):
        stream.add("t", [1, 0], [F, T], candidates=["a"])


def test_which_numbers_of_draws_were_seen() -> None:
    stream = TaskDeficits()
    stream.add("a", [[1, 2, 3], None, 5], [T, F, F])
    stream.add("b", [[1, 2], [1, 2]], [T, F])
    stream.add("b", [[1, 2], [1, 2]], [T, F])
    stream.add("c", [1, 2], [T, F])
    assert stream.draws == {0, 2, 3}


@pytest.mark.parametrize(
    ("frontiers", "stated", "repeats"),
    [
        ([], None, None),
        ([], 4, 4),
        ([[1, 2]], None, 1),
        ([[1, 2]], 4, 4),
        ([[[1, 2, 3], [4, 5, 6]]], None, 3),
        ([[[1, 2, 3], [4, 5, 6]]], 4, 3),
        ([[[1, 2, 3], [4, 5]]], None, None),
        ([[1, 2], [[1, 2], [3, 4]]], 2, 2),
        ([[1, 2], [[1, 2], [3, 4]]], 4, None),
    ],
)
def test_r_behind_a_score(frontiers: list[Any], stated: int | None, repeats: int | None) -> None:
    stream = TaskDeficits(stated or 1)
    for scores in frontiers:
        stream.add("t", scores, [T, F])
    assert stream.repeats(stated) == repeats
