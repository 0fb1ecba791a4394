# /// script
# requires-python = ">=3.11"
# dependencies = ["paccf[lab]", "arch", "scipy"]
#
# [tool.uv.sources]
# paccf = { path = "..", editable = true }
# ///
"""The bootstrap beside SciPy and arch, and the audit and the report of a run as large as the paper's.

The bootstrap: the macro of one domain, 100 tasks, 5 controllers, 2 arms, 4 quantities, a ratio of totals for each
controller and quantity inside the resample and then the mean over controllers, 300,000 resamples with shared task
identities. The peers are given one statistic that does the same on a resampled index or sample, in batches where they
take batches, and fewer resamples, scaled up; they draw with their own generators, so ends agree up to chance.

The audit: `Audit` on the record of RUN (`paccf run paper -o RUN`: 3 domains, 5 controllers, 4 budgets, 298 test tasks,
two arms), every part timed on its own, with two threads or processes where it has any; then the report.

    python benchmarks/audit_paper_size.py [RUN] [--repeats N] [--json]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from measure import Cell, Table, best, emit
from paccf.audit.resample import Cluster, intervals, macro_draws

TASKS, CONTROLLERS, QUANTITIES, RESAMPLES = 100, 5, 4, 300_000
Row = dict[str, Cell]


def work() -> Any:
    """(2 arms, controllers, quantities, tasks) whole numbers, PAC-CF about a tenth below Native."""
    rng = np.random.default_rng(7)
    native = rng.integers(5, 500, (CONTROLLERS, QUANTITIES, TASKS)).astype(float)
    return np.stack([native, np.round(native * rng.uniform(0.6, 1.2, native.shape))])


def ours(data: Any) -> list[float]:
    cluster = Cluster("domain", data[0], data[1], np.zeros((CONTROLLERS, 0, TASKS)))
    draws = macro_draws([cluster], [[range(CONTROLLERS)]], 0, RESAMPLES)
    found = intervals(draws[:QUANTITIES])
    return [end for one in found if one for end in (one.lo, one.hi)]


def reduction(totals: Any) -> Any:
    """(..., 2, controllers, quantities) totals -> (..., quantities) macro reductions in percent."""
    return 100 * (1 - totals[..., 1, :, :] / totals[..., 0, :, :]).mean(axis=-2)


def naive(data: Any, resamples: int) -> list[float]:
    rng = np.random.default_rng(0)
    draws = [reduction(data[..., rng.integers(0, TASKS, TASKS)].sum(-1)) for _ in range(resamples)]
    return ends(np.array(draws))


def of_scipy(data: Any, resamples: int) -> list[float]:
    """Vectorized: SciPy hands over (batch, tasks) indices, and takes a statistic a quantity."""
    from scipy.stats import bootstrap

    def statistic(index: Any, axis: int = -1) -> Any:
        picked = np.take(data, index.astype(np.intp), axis=-1)  # (2, controllers, quantities, *index)
        totals = np.moveaxis(picked.sum(-1), (0, 1, 2), (-3, -2, -1)) if index.ndim > 1 else picked.sum(-1)
        return np.moveaxis(reduction(totals), -1, 0)

    found = bootstrap(
        (np.arange(TASKS),), statistic, n_resamples=resamples, method="percentile", batch=250, rng=0, vectorized=True
    ).confidence_interval
    return [float(end) for pair in zip(found.low, found.high, strict=True) for end in pair]


def of_arch(data: Any, resamples: int) -> list[float]:
    from arch.bootstrap import IIDBootstrap

    rows = np.moveaxis(data, -1, 0)  # tasks first: arch resamples the first axis
    return ends(IIDBootstrap(rows, seed=0).apply(lambda sample: reduction(sample.sum(0)), resamples))


def ends(draws: Any) -> list[float]:
    return [float(end) for pair in np.percentile(draws, [2.5, 97.5], axis=0).T for end in pair]


def bootstraps(repeats: int) -> Table:
    data = work()
    peers: list[tuple[str, Callable[[Any, int], list[float]], int]] = [
        ("a loop over indices", naive, 6_000),
        ("scipy", of_scipy, 15_000),
        ("arch", of_arch, 6_000),
    ]
    exact = ours(data)
    own = best(lambda: ours(data), repeats)
    rows: list[Row] = [
        {
            "way": "paccf",
            "resamples": RESAMPLES,
            "CPU s of 300,000": own,
            "times ours": 1.0,
            "largest difference, points": 0.0,
        }
    ]
    for name, peer, resamples in peers:
        try:
            label = name if name.startswith("a ") else f"{name} {version(name)}"
            found = peer(data, resamples)
        except (PackageNotFoundError, ImportError):
            rows.append(
                {
                    "way": f"{name}: not installed",
                    "resamples": None,
                    "CPU s of 300,000": None,
                    "times ours": None,
                    "largest difference, points": None,
                }
            )
            continue
        spent = best(lambda peer=peer, resamples=resamples: peer(data, resamples), repeats) * RESAMPLES / resamples
        off = max(abs(a - b) for a, b in zip(exact, found, strict=True))
        rows.append(
            {
                "way": label,
                "resamples": resamples,
                "CPU s of 300,000": spent,
                "times ours": spent / own,
                "largest difference, points": off,
            }
        )
    note = "one domain macro, 100 tasks, 5 controllers, 2 arms, 4 quantities; fewer resamples are scaled up"
    return Table("The bootstrap", note, rows)


def of_run(place: str) -> Table:
    """Every part of the audit and the report, once, in this process."""
    from paccf.audit import tables
    from paccf.audit.run import Unsupported
    from paccf.cli.auditing import opened
    from paccf.report.page import write

    rows: list[Row] = []

    def timed(what: str, call: Callable[[], object]) -> None:
        wall, cpu = time.perf_counter(), sum(os.times()[:4])  # with that of processes it has started
        call()
        rows.append({"part": what, "CPU s": sum(os.times()[:4]) - cpu, "wall s": time.perf_counter() - wall})

    with opened(place, None, (), (), 0, 2) as audit, tempfile.TemporaryDirectory() as folder:
        timed("outcomes paired", lambda: audit.pairs)
        timed("every trace read and checked", lambda: audit.traced)
        timed("the record against itself", lambda: audit.contradictions)
        timed("60 conditions", lambda: audit.condition_intervals)
        timed("macros of the realized views", lambda: audit.interval("requests", audit.budgets[-1]))
        timed("macros of the gross views", lambda: audit.interval("virtual_nodes", audit.budgets[-1]))

        def every() -> None:
            for name in tables.names(audit):
                try:
                    tables.build(audit, name)
                except Unsupported:
                    continue

        timed("every table", every)
        timed("figures, single cases and the page", lambda: write(audit, Path(folder) / "report.html"))
        size = (Path(folder) / "report.html").stat().st_size
        traced = audit.traced.values()
        searches, frontiers = sum(t.searches for t in traced), sum(t.frontiers for t in traced)
    rows.append(
        {
            "part": "in all",
            "CPU s": sum(float(r["CPU s"] or 0) for r in rows),
            "wall s": sum(float(r["wall s"] or 0) for r in rows),
        }
    )
    return Table("A run", f"{searches:,} searches, {frontiers:,} frontiers; the page has {size / 1e6:.1f} MB", rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("run", nargs="?", help="a run folder; without it only the bootstrap")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    found = [bootstraps(given.repeats)]
    if given.run:
        found.append(of_run(given.run))
    emit(found, given.json)


if __name__ == "__main__":
    main()
