# /// script
# requires-python = ">=3.11"
# dependencies = ["paccf", "mapie", "crepes"]
#
# [tool.uv.sources]
# paccf = { path = "..", editable = true }
# ///
"""The conformal quantile and smoothed p-values beside MAPIE and crepes: cost, and whether the rank is right.

The peers' public functions are used: MAPIE's `SplitConformalRegressor(prefit=True)` with `conformalize` and
`predict_interval(allow_infinite_bounds=True)`, over a regressor that predicts 0 (without that argument it refuses one
more n, the smallest feasible one); crepes' `ConformalRegressor` with `fit` and `predict_int`
(`predict_p` for p-values). They do more than select an order statistic, so this is the cost of asking them, not of
their selection. MAPIE's p-values (`OnlineMartingaleTest.compute_p_value`) come one a call and are timed on a part.

    python benchmarks/quantile_peers.py [--repeats N] [--json]
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from measure import Cell, Table, best, emit, per_call
from paccf.method.conformal import p_values, quantile, rank

Quantile = Callable[[Any, float], float]
Row = dict[str, Cell]
LEVELS, LARGEST = (0.95, 0.9, 0.8, 0.55), 400


def recipe(scores: Any, q: float) -> float:
    """A widespread one-liner; NumPy refuses a level above 1, which is an infeasible rank."""
    size = len(scores)
    share = math.ceil((size + 1) * q) / size
    return float(np.quantile(scores, share, method="higher")) if share <= 1 else math.inf


def clipped(scores: Any, q: float) -> float:
    """The same, with the level clipped to 1: the maximum where the rank does not exist."""
    size = len(scores)
    return float(np.quantile(scores, min(1.0, math.ceil((size + 1) * q) / size), method="higher"))


def crepes() -> Quantile:
    from crepes import ConformalRegressor

    def ask(scores: Any, q: float) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of every infeasible rank
            return float(ConformalRegressor().fit(scores).predict_int(np.zeros(1), confidence=q)[0, 1])

    return ask


def mapie() -> Quantile:
    from mapie.regression import SplitConformalRegressor
    from sklearn.base import BaseEstimator, RegressorMixin

    class Zero(RegressorMixin, BaseEstimator):  # type: ignore[misc]
        """Predicts 0, so that the scores are the absolute targets."""

        def __init__(self) -> None:
            self.n_features_in_ = 1

        def fit(self, X: Any, y: Any) -> Any:
            return self

        def predict(self, X: Any) -> Any:
            return np.zeros(len(X))

        def __sklearn_is_fitted__(self) -> bool:
            return True

    def ask(scores: Any, q: float) -> float:
        asked = SplitConformalRegressor(Zero(), confidence_level=q, prefit=True)
        asked.conformalize(np.zeros((len(scores), 1)), scores)
        try:
            return float(asked.predict_interval(np.zeros((1, 1)), allow_infinite_bounds=True)[1][0, 1, 0])
        except ValueError as error:  # its answer to an infeasible rank
            if "too low to reach" not in str(error):
                raise
            return math.inf

    return ask


def found(name: str, make: Callable[[], Quantile]) -> tuple[str, Quantile | None]:
    """A peer by name and version, or by name alone if it is not installed."""
    try:
        return f"{name} {version(name)}", make()
    except (PackageNotFoundError, ImportError) as error:
        return f"{name}: not installed ({error})", None


def cost(peers: list[tuple[str, Quantile | None]], repeats: int) -> Table:
    random = np.random.default_rng(20261118)
    small, large = random.exponential(10, 50), random.exponential(10, 1_000_000)
    ways: list[tuple[str, Quantile | None]] = [("paccf quantile", quantile), ('np.quantile "higher"', recipe), *peers]
    rows: list[Row] = []
    for name, ask in ways:
        if ask is None:
            rows.append({"tool": name, "n=50, us": None, "n=1e6, ms": None, "same answer": None})
            continue
        same = ask(small, 0.95) == quantile(small, 0.95) and ask(large, 0.95) == quantile(large, 0.95)
        few = per_call(lambda ask=ask: ask(small, 0.95), repeats) * 1e6  # type: ignore[misc]
        many = best(lambda ask=ask: ask(large, 0.95), repeats) * 1e3  # type: ignore[misc]
        rows.append({"tool": name, "n=50, us": few, "n=1e6, ms": many, "same answer": "yes" if same else "no"})
    note = f"One quantile at Q=0.95 of exponential scores, CPU time, best of {repeats}; same answer at both n."
    return Table("Conformal quantile, cost", note, rows)


def ranks(peers: list[tuple[str, Quantile | None]]) -> Table:
    """Asked for the quantile of 1..n, a tool answers with its rank."""
    ways = [("paccf quantile", quantile), ('np.quantile "higher"', recipe), ("the same, clipped to 1", clipped), *peers]
    rows: list[Row] = []
    for name, ask in ways:
        row: Row = {"tool": name}
        for q in LEVELS:
            row[f"Q={q}"] = None if ask is None else _compare(ask, q)
        rows.append(row)
    note = (
        f"In how many of n=1..{LARGEST} the answer differs from the exact rank: +, too large (conservative); -, too\n"
        "small (promises too much); inf, says infeasible although it exists."
    )
    return Table("Conformal rank, correctness", note, rows)


def _compare(ask: Quantile, q: float) -> str:
    large = small = never = 0
    for n in range(1, LARGEST + 1):
        exact, answer = rank(n, q), ask(np.arange(1.0, n + 1), q)
        wanted = math.inf if exact > n else exact
        never += answer == math.inf and wanted != math.inf
        large += wanted < answer < math.inf
        small += answer < wanted
    parts = [f"+{large}" * bool(large), f"-{small}" * bool(small), f"inf {never}" * bool(never)]
    return " ".join(p for p in parts if p) or "0"


def smoothed(repeats: int) -> Table:
    random = np.random.default_rng(20261118)
    calibration = np.round(random.exponential(10, 5_000), 1)
    scores, coins = np.round(random.exponential(10, 20_000), 1), random.random(20_000)
    ours = p_values(calibration, scores, coins)
    rows: list[Row] = []

    def add(tool: str, size: int | None, seconds: float | None, largest: float | None) -> None:
        scaled = None if seconds is None or size is None else seconds * len(scores) / size * 1e3
        rows.append({"tool": tool, "timed on": size, "ms for 20,000": scaled, "largest difference from ours": largest})

    add("paccf p_values", len(scores), best(lambda: p_values(calibration, scores, coins), repeats), None)
    try:
        from crepes import ConformalRegressor

        fitted, zero, seed = ConformalRegressor().fit(calibration), np.zeros(len(scores)), 7
        theirs = fitted.predict_p(zero, scores, seed=seed)
        np.random.seed(seed)  # noqa: NPY002 (crepes draws its coins so)
        same = p_values(calibration, scores, np.random.rand(len(scores)))  # noqa: NPY002
        cpu = best(lambda: fitted.predict_p(zero, scores, seed=seed), repeats)
        add(f"crepes {version('crepes')}", len(scores), cpu, float(abs(theirs - same).max()))
    except ImportError as error:
        add(f"crepes: not installed ({error})", None, None, None)
    try:
        from mapie.exchangeability_testing import OnlineMartingaleTest

        test, part = OnlineMartingaleTest(), 2_000

        class Coins:
            def __init__(self) -> None:
                self.left = iter(coins)

            def uniform(self) -> float:
                return float(next(self.left))

        test.rng = Coins()
        theirs = np.array([test.compute_p_value(s, calibration) for s in scores[:part]])
        test.rng = np.random.default_rng(7)
        cpu = best(lambda: [test.compute_p_value(s, calibration) for s in scores[:part]], repeats)
        add(f"mapie {version('mapie')}", part, cpu, float(abs(theirs - ours[:part]).max()))
    except ImportError as error:
        add(f"mapie: not installed ({error})", None, None, None)
    note = f"20,000 scores against 5,000, one decimal, so with ties; the same coins; CPU time, best of {repeats}."
    return Table("Smoothed p-values", note, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    peers = [found("mapie", mapie), found("crepes", crepes)]
    emit([cost(peers, given.repeats), ranks(peers), smoothed(given.repeats)], given.json)


if __name__ == "__main__":
    main()
