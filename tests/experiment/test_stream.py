"""The extension rule looks at this controller's exposure count and nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from paccf.experiment.stream import extent

streams = st.lists(st.booleans(), min_size=60, max_size=60)


def walked(stream: list[bool], first: int, limit: int, wanted: int | None) -> int:
    """Run a stream as an experiment would, by rounds; the tasks that calibrate in the end."""
    run = 0
    while True:
        found = extent(stream[:run], first, limit, wanted)
        if found.run <= run:
            assert found.used == found.run == run, "no task is run that is not used"
            return found.used
        run = found.run


@given(streams, st.integers(1, 30), st.integers(0, 30), st.none() | st.integers(1, 40))
def test_it_stops_at_the_task_that_brings_the_count(
    stream: list[bool], first: int, more: int, wanted: int | None
) -> None:
    used = walked(stream, first, first + more, wanted)
    assert first <= used <= first + more
    if wanted is None:
        assert used == first
    elif used > first:
        assert sum(stream[: used - 1]) < wanted, "it would have stopped before"
    if wanted is not None and used < first + more:
        assert sum(stream[:used]) >= wanted


@given(streams, st.integers(1, 30), st.integers(1, 40))
def test_what_comes_later_does_not_matter(stream: list[bool], first: int, wanted: int) -> None:
    used = walked(stream, first, 60, wanted)
    turned = stream[:used] + [not x for x in stream[used:]]
    assert walked(turned, first, 60, wanted) == used
