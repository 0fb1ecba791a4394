"""Pictures of evidence (matplotlib, from the `lab` extra). The same data gives the same bytes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt

from paccf.audit.coverage import Coverage, Point
from paccf.theory.pictures import save

_BLUE, _ORANGE, _GREY = "#2563a8", "#d9730d", "#667085"


def coverage_sweep(coverage: Coverage, path: str | Path, title: str) -> None:
    """Task coverage and pruning against the threshold, with the frozen margin marked. The format is the suffix's."""
    points = _thin(coverage.sweep(), 800)
    x = [float(p.theta) for p in points]
    target = 100 * float(Fraction(coverage.certificate.q))
    style: dict[Any, Any] = {
        "svg.hashsalt": "paccf",
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with plt.rc_context(style):
        figure, (above, below) = plt.subplots(2, 1, figsize=(7.2, 5.2), sharex=True, height_ratios=[3, 2])
        above.step(x, _percent([p.covered for p in points], coverage.tasks), where="post", color=_BLUE, lw=2)
        above.axhline(target, color=_GREY, ls=":", lw=1)
        above.text(
            1,
            target,
            f"target {target:g} %",
            transform=above.get_yaxis_transform(),
            ha="right",
            va="bottom",
            color=_GREY,
        )
        above.set_ylabel(f"tasks covered, % of {coverage.tasks}")
        above.set_ylim(None, 101)
        pruned = _percent([p.pruned for p in points], coverage.candidates)
        below.plot(x, pruned, color=_ORANGE, lw=2, label=f"of {coverage.candidates:,} scored candidates")
        lost = _percent([p.protected_pruned for p in points], coverage.protected)
        below.plot(x, lost, color=_ORANGE, lw=1.2, ls="--", label=f"of {coverage.protected:,} protected candidates")
        below.set_ylabel("pruned, %")
        below.set_xlabel("threshold θ on the score deficit s* − s")
        below.legend(frameon=False, fontsize=9)
        if not math.isinf(coverage.theta):
            theta = float(coverage.theta)
            for axes in (above, below):
                axes.axvline(theta, color="black", lw=1)
            above.text(theta, 0.04, f" frozen margin {theta:g}", transform=above.get_xaxis_transform(), fontsize=9)
        figure.suptitle(title, fontsize=11, x=0.02, ha="left", parse_math=False)
        figure.tight_layout()
        save(figure, Path(path))


def _percent(counts: Sequence[int], of: int) -> list[float]:
    return [100 * c / (of or 1) for c in counts]


def _thin(points: Sequence[Point], most: int) -> list[Point]:
    step = max(1, len(points) // most)
    return [*points[::step], points[-1]]
