"""Hashed chance, balanced orders, and the hard cap."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import pytest

from paccf.search.chance import chance, shuffled
from paccf.search.meter import Meter
from paccf.search.scoring import Scoring, rounds
from paccf.search.tree import Task
from paccf.search.world import Answer, Request, Subject


def test_chance_is_a_number_in_the_unit_interval_and_a_function_of_its_parts() -> None:
    draws = [chance("x", i) for i in range(4000)]
    assert all(0 <= d < 1 for d in draws)
    assert len(set(draws)) == len(draws)
    assert draws == [chance("x", i) for i in range(4000)]
    cells = Counter(int(20 * d) for d in draws)
    assert sum((cells[i] - 200) ** 2 / 200 for i in range(20)) < 43.8  # chi-square, 19 degrees, p = .001
    assert chance("ab", "c") != chance("a", "bc")


def test_shuffled_is_uniform() -> None:
    """All 24 orders of four equally often: chi-square with 23 degrees of freedom below its .999 quantile."""
    trials = 24 * 500
    counts = Counter(tuple(shuffled(4, "seed", i)) for i in range(trials))
    assert set(counts) == set(itertools.permutations(range(4)))
    assert sum((n - 500) ** 2 / 500 for n in counts.values()) < 49.7
    places = Counter((i, shuffled(40, i).index(0)) for i in range(8000) if i is not None)
    column = Counter(place for _, place in places.elements())
    assert sum((column[p] - 200) ** 2 / 200 for p in range(40)) < 72.1  # 39 degrees
    assert (shuffled(0, "x"), shuffled(1, "x")) == ([], [0])
    assert shuffled(300, 1) != shuffled(300, 2)
    assert sorted(shuffled(300, 1)) == list(range(300))


@pytest.mark.parametrize("count", [1, 2, 5, 8, 9, 17])
@pytest.mark.parametrize("repeats", [1, 2, 3, 4])
@pytest.mark.parametrize("batch", [1, 3, 8, 20])
def test_rounds(count: int, repeats: int, batch: int) -> None:
    asked = rounds(count, Scoring(repeats, batch), "seed", "t", "path")
    assert len(asked) == repeats * math.ceil(count / batch)
    for draw in range(repeats):
        batches = [b for d, b in asked if d == draw]
        assert sorted(i for b in batches for i in b) == list(range(count)), "every candidate exactly once a draw"
        assert {len(b) for b in batches} <= {min(batch, count), count % batch or min(batch, count)}
        if draw % 2:
            before = [b for d, b in asked if d == draw - 1]
            assert batches == [tuple(reversed(b)) for b in before], "forward, then the same batches reversed"
    if batch >= count and repeats % 2 == 0:
        for i in range(count):
            assert sum(b.index(i) for _, b in asked) * 2 == repeats * (count - 1), "mean position (M - 1) / 2"
    assert [d for d, _ in asked] == sorted(d for d, _ in asked)
    assert asked == rounds(count, Scoring(repeats, batch), "seed", "t", "path")
    assert rounds(0, Scoring(repeats, batch), "x") == []


def test_shuffles_differ_between_pairs_and_frontiers() -> None:
    asked = rounds(8, Scoring(4), "seed", "t", "path")
    assert asked[0][1] != asked[2][1]
    assert asked[0] != rounds(8, Scoring(4), "seed", "t", "other")[0]


@pytest.mark.parametrize("wrong", [{"repeats": 0}, {"microbatch": 0}, {"retries": -1}])
def test_scoring_refuses_nonsense(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="repeats and microbatch"):
        Scoring(**wrong)
    with pytest.raises(ValueError, match="proposer: list or sample"):
        Scoring(proposer="samples")  # type: ignore[arg-type]


def test_meter_grants_in_order_up_to_the_cap() -> None:
    requests = [
        Request(k, "p", i, Subject(Task("t", None), "")) for i, k in enumerate(("propose", "evaluate", "evaluate"))
    ]
    meter = Meter(5)
    assert meter.grant(requests) == requests
    assert meter.grant(requests) == requests[:2]
    assert meter.grant(requests) == []
    assert meter.bill.requests == {"propose": 2, "evaluate": 3}
    assert meter.bill.total == 5
    meter.take([Answer("", 3, 4), Answer("", 1, 1)])
    assert meter.bill.tokens == 9
    meter.take([Answer("", 3, None)])
    assert (meter.bill.tokens, meter.bill.unknown_tokens, meter.bill.prompt_tokens) == (None, 1, 4)
    with pytest.raises(ValueError, match="0 or more"):
        Meter(-1)
