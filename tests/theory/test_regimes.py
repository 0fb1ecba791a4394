import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paccf.theory.regimes import Regime, effective_gap, regime


@pytest.mark.parametrize(
    ("gap", "L", "epsilon", "row"),
    [
        (1.0, 3.0, 1.0, Regime.UNNECESSARY),  # gap = eps
        (1.5, 3.0, 1.0, Regime.IMPOSSIBLE),
        (6.0, 3.0, 1.0, Regime.IMPOSSIBLE),  # gap = 2L
        (6.5, 3.0, 1.0, Regime.OPEN),
        (13.0, 3.0, 1.0, Regime.OPEN),  # gap = 4L + eps
        (13.5, 3.0, 1.0, Regime.CERTIFIED),
        (0.0, 0.0, 0.0, Regime.UNNECESSARY),
        (1e-9, 0.0, 0.0, Regime.CERTIFIED),  # no bias, no slack: every gap can be certified
        (2.5, 1.0, 3.0, Regime.UNNECESSARY),  # eps beyond 2L: the impossible row is empty
        (3.5, 1.0, 3.0, Regime.OPEN),
    ],
)
def test_boundaries_are_the_tables(gap, L, epsilon, row):
    assert regime(gap, L, epsilon) is row


sizes = st.integers(0, 1000)


@given(sizes, sizes, sizes)
def test_exactly_one_row_holds(gap, L, epsilon):
    rows = {
        Regime.UNNECESSARY: gap <= epsilon,
        Regime.IMPOSSIBLE: epsilon < gap <= 2 * L,
        Regime.OPEN: max(epsilon, 2 * L) < gap <= 4 * L + epsilon,
        Regime.CERTIFIED: gap > 4 * L + epsilon,
    }
    assert [row for row, holds in rows.items() if holds] == [regime(gap, L, epsilon)]


def test_effective_gap_may_be_negative():
    assert effective_gap(10, 2) == 2
    assert effective_gap(10, 3) == -2


def test_each_row_explains_itself():
    assert len({row.consequence for row in Regime}) == len({row.condition for row in Regime}) == 4


@pytest.mark.parametrize("bad", [(-1, 0, 0), (1, -1, 0), (1, 0, -1), (math.nan, 0, 0), (math.inf, 0, 0)])
def test_refuses(bad):
    with pytest.raises(ValueError, match="give"):
        regime(*bad)
