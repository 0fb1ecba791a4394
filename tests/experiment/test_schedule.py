"""The order of jobs is fair at every moment, and shards are a partition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paccf.experiment.schedule import Shard, fair, shard


@given(st.lists(st.integers(0, 12), max_size=6))
def test_every_cell_keeps_the_pace(sizes: list[int]) -> None:
    groups = [[(cell, i) for i in range(size)] for cell, size in enumerate(sizes)]
    order = fair(groups)
    assert sorted(order) == sorted(item for group in groups for item in group)
    for share in range(len(order) + 1):
        for cell, size in enumerate(sizes):
            done = sum(item[0] == cell for item in order[:share])
            assert abs(done - size * share / max(len(order), 1)) <= len(sizes)
    for cell in range(len(sizes)):
        assert [i for c, i in order if c == cell] == list(range(sizes[cell])), "each in its own order"


def test_equal_cells_take_turns() -> None:
    assert fair([["a1", "a2"], ["b1", "b2"]]) == ["a1", "b1", "a2", "b2"]


@given(st.integers(1, 7), st.integers(0, 50))
def test_every_task_is_one_machines(count: int, place: int) -> None:
    assert sum(Shard(number, count).holds(place) for number in range(1, count + 1)) == 1


@pytest.mark.parametrize("text", ["", "1", "0/2", "3/2", "a/b", "1/0", "1/99999999"])
def test_a_shard_is_written_as_a_fraction(text: str) -> None:
    assert shard("2/4") == Shard(2, 4)
    with pytest.raises(ValueError, match="2/4"):
        shard(text)
