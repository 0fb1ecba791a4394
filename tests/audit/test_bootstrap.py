"""The exact paired bootstrap: the paper's forty intervals, a simulation, symmetry, and the corners."""

from __future__ import annotations

import csv
from fractions import Fraction
from importlib.resources import files
from itertools import product
from math import factorial
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paccf.audit.bootstrap import difference_law, matching_counts, paired_interval

BINARY = [
    row
    for row in csv.DictReader(
        (files("paccf.published") / "tables" / "per_condition_ci.csv").read_text("utf-8").splitlines()
    )
    if row["domain"] != "GTA"
]
# (domain, budget, controller) -> rescues, regressions
COUNTS = {
    ("Game24", "B100", "UCT-MCTS"): (1, 0),
    ("Game24", "B100", "ToolChain*"): (2, 2),
    ("Game24", "B100", "LATS"): (0, 0),
    ("Game24", "B100", "ToolTree"): (1, 4),
    ("Game24", "B100", "LevinTS"): (2, 5),
    ("Game24", "B500", "UCT-MCTS"): (0, 0),
    ("Game24", "B500", "ToolChain*"): (0, 2),
    ("Game24", "B500", "ToolTree"): (1, 4),
    ("Game24", "B500", "LevinTS"): (0, 4),
    ("Blocksworld", "B100", "ToolTree"): (11, 2),
    ("Blocksworld", "B500", "ToolTree"): (11, 2),
    ("Blocksworld", "B500", "LevinTS"): (0, 5),
    ("Blocksworld", "B500", "LATS"): (0, 1),
    ("Blocksworld", "B500", "UCT-MCTS"): (3, 0),
}


def name(row: dict[str, str]) -> str:
    return f"{row['domain']} {row['budget']} {row['controller']}"


def test_forty_binary_conditions() -> None:
    assert len(BINARY) == 40


@pytest.mark.parametrize("row", BINARY, ids=name)
def test_one_pair_prints_each_interval(row: dict[str, str]) -> None:
    n = int(row["n"])
    printed = Fraction(row["delta_utility_pp"]), Fraction(row["lo"]), Fraction(row["hi"])
    pairs = matching_counts(*printed, n)
    assert len(pairs) == 1
    rescues, regressions = pairs[0]
    key = row["domain"], row["budget"], row["controller"]
    assert pairs[0] == COUNTS.get(key, pairs[0])
    assert f"{100 * (rescues - regressions) / n:+.2f}" == row["delta_utility_pp"]
    lo, hi = paired_interval(rescues, regressions, n)
    assert (f"{lo:.2f}", f"{hi:.2f}") == (row["lo"], row["hi"])


@pytest.mark.parametrize(("r", "g", "n"), [(2, 5, 100), (11, 2, 99), (1, 4, 100), (30, 30, 90), (7, 0, 20)])
def test_agrees_with_a_simulated_bootstrap(r: int, g: int, n: int) -> None:
    """The simulated ends are quantiles of the exact law up to simulation error in the tail probability."""
    tasks = np.repeat([1, -1, 0], [r, g, n - r - g])
    rng = np.random.default_rng(7)
    draws = np.sort(tasks[rng.integers(0, n, (40_000, n))].sum(axis=1))
    lo, hi = (round(x * n / 100) for x in paired_interval(r, g, n))
    slack = round(4 * (0.025 * 0.975 * 40_000) ** 0.5)  # four standard errors, in draws
    tail = round(0.025 * 40_000)
    assert draws[max(0, tail - slack)] <= lo <= draws[tail + slack]
    assert draws[-tail - slack - 1] <= hi <= draws[-tail + slack]


def brute(r: int, g: int, n: int) -> list[int]:
    law = [0] * (2 * n + 1)
    for a, b in product(range(n + 1), repeat=2):
        if a + b <= n:
            ways = factorial(n) // (factorial(a) * factorial(b) * factorial(n - a - b))
            law[a - b + n] += ways * r**a * g**b * (n - r - g) ** (n - a - b)
    return law


@pytest.mark.parametrize("n", [1, 2, 5])
def test_law_is_the_multinomial_sum(n: int) -> None:
    for r, g in product(range(n + 1), repeat=2):
        if r + g <= n:
            assert difference_law(r, g, n) == brute(r, g, n)


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int, int]:
    n = draw(st.integers(1, 60))
    r = draw(st.integers(0, n))
    return r, draw(st.integers(0, n - r)), n


@given(counts(), st.sampled_from([0.5, 0.8, 0.95, 0.99]))
def test_laws_of_the_interval(case: tuple[int, int, int], level: float) -> None:
    r, g, n = case
    assert sum(difference_law(r, g, n)) == n**n
    lo, hi = paired_interval(r, g, n, level)
    assert -100 <= lo <= hi <= 100
    assert paired_interval(g, r, n, level) == (-hi, -lo)
    wide = paired_interval(r, g, n, 0.999)
    assert wide[0] <= lo
    assert hi <= wide[1]


@given(counts())
def test_counts_are_among_those_that_print_their_interval(case: tuple[int, int, int]) -> None:
    r, g, n = case
    ends = [Fraction(str(round(x, 2))) for x in (100 * (r - g) / n, *paired_interval(r, g, n))]
    assert (r, g) in matching_counts(*ends, n)


def test_degenerate_cases() -> None:
    assert paired_interval(0, 0, 100) == (0.0, 0.0)
    assert paired_interval(10, 0, 10) == (100.0, 100.0)
    assert paired_interval(0, 10, 10) == (-100.0, -100.0)
    assert paired_interval(1, 0, 1) == (100.0, 100.0)
    assert paired_interval(5, 5, 10)[1] == -paired_interval(5, 5, 10)[0] > 0  # no ties at all


def test_by_hand() -> None:
    # n = 2, R = G = 1: -2, 0, 2 with probabilities 1/4, 1/2, 1/4; a tail equal to a quarter takes the outer end
    assert difference_law(1, 1, 2) == [1, 0, 2, 0, 1]
    assert paired_interval(1, 1, 2, 0.5) == (-100.0, 100.0)
    assert paired_interval(1, 1, 2, "0.49") == (0.0, 0.0)


def test_numpy_counts_do_not_overflow() -> None:
    assert paired_interval(np.int64(2), np.int64(5), np.int64(100)) == (-8.0, 2.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((-1, 0, 10), "must not be negative"),
        ((6, 5, 10), "do not fit into 10"),
        ((0, 0, 0), "at least one"),
        ((1.5, 0, 10), "rescues must be a whole number"),
        ((True, 0, 10), "rescues must be a whole number"),
        ((1, 0, 10, 1.0), "strictly between"),
        ((1, 0, 10, "most"), "level must be a number"),
        ((1, 0, 10, float("nan")), "level must be a number"),
    ],
)
def test_refusals(args: tuple[int, int, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        paired_interval(*args)


def test_nothing_matches_an_impossible_interval() -> None:
    assert matching_counts(Fraction(5), Fraction(0), Fraction(1), 100) == []
    assert matching_counts(Fraction("0.5"), Fraction(0), Fraction(1), 100) == []


def test_a_thousand_tasks_are_quick() -> None:
    start = perf_counter()
    paired_interval(123, 98, 1000)
    assert perf_counter() - start < 1  # some 20 ms on a free core
