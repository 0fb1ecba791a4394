"""The drawings of ``paccf theory ... --plot``: data in, one file out, the same bytes every time.

Needs Matplotlib (the ``lab`` extra), imported only when a picture is drawn. The format is the file's ending.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paccf.theory.boundary import PRINTED, Row
from paccf.theory.lower import additive_bound, two_point_bound
from paccf.theory.regimes import Regime

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe & Ito's palette, legible to colour-blind readers
BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#666666"
LINES = {"union": GREY, "stitched": BLUE, "mixture": GREEN, "pairwise": PURPLE}
FILLS = {
    Regime.UNNECESSARY: "#e9e9e9",
    Regime.IMPOSSIBLE: "#f3c9b5",
    Regime.OPEN: "#f7ecc4",
    Regime.CERTIFIED: "#c9e6da",
}

# the key that would put the time of drawing into the file, per format; None leaves it out
DATES: dict[str, dict[str, Any]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}


def check_format(path: Path) -> Path:
    """``path``, if its ending is one that can be drawn: svg, pdf or png."""
    if path.suffix.lower() not in DATES:
        raise ValueError(f"cannot draw {str(path)!r}; end the file name in .svg, .pdf or .png")
    return path


def _axes(title: str, x: str, y: str) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _log(axes: Axes) -> None:
    """Logarithmic axes with plain numbers; minor labels only where less than two decades are shown."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set(xscale="log", yscale="log")
    for axis in (axes.xaxis, axes.yaxis):
        low, high = axis.get_view_interval()
        axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.10g}" if v < 1e6 else f"{v:.0e}"))
        if high < 100 * low:
            axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high > 10 * low else (1, 2, 3, 4, 6, 8)))
        axis.set_minor_formatter(NullFormatter())


def save(figure: Figure, path: Path) -> None:
    """Write a figure, whole or not at all; the same figure gives the same bytes. The format is that of the suffix."""
    import matplotlib

    drawn = BytesIO()

    with matplotlib.rc_context({"svg.hashsalt": "paccf", "pdf.fonttype": 42}):
        ending = check_format(path).suffix.lower()
        figure.savefig(drawn, format=ending[1:], metadata=DATES[ending])
    temporary = path.with_name(path.name + ".part")
    try:
        temporary.write_bytes(drawn.getvalue())
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None  # about a name that somebody gave
    temporary.replace(path)


def count_grid(most: int) -> list[int]:
    """Counts from 1 to ``most`` (at most 10^7), about evenly spaced on a log axis."""
    return sorted({round(n) for n in np.geomspace(1, min(max(most, 2), 10**7), 120)})


def gap_grid(gaps: Sequence[float], L: float, epsilon: float) -> list[float]:
    """Gaps that span the given ones, with a fine approach to 2L and 4L + epsilon. Refuses gaps <= 0."""
    edges = [e for e in (2 * L, 4 * L + epsilon) if e > 0]
    low, high = min([*gaps, *edges]), max([*gaps, *(2 * e for e in edges)])
    if low <= 0:
        raise ValueError(f"gap is {low}; a picture needs gaps above 0")
    near = [e * (1 + 10 ** (-k / 8)) for e in edges for k in range(17)]
    return sorted({g for g in [*np.geomspace(low, high, 80).tolist(), *near] if g <= high})


def draw_regimes(path: Path, gaps: Sequence[float], L: float, epsilon: float) -> None:
    """The plane of bias allowance and gap in four regions; the given gaps are points at this L."""
    figure, axes = _axes("What a gap allows", "bias allowance L", "true-value gap")
    top = 1.25 * max([4 * L + epsilon, *gaps, 2 * epsilon]) or 1.0
    right = max(2 * L, top / 5)
    x = np.linspace(0, right, 400)
    edges = [np.zeros_like(x), np.full_like(x, epsilon), np.maximum(2 * x, epsilon), 4 * x + epsilon]
    edges.append(np.maximum(edges[-1], top))
    labels = ("unnecessary: gap <= eps", "impossible: gap <= 2L", "open: gap <= 4L + eps", "certified")
    for kind, label, low, high in zip(Regime, labels, edges[:-1], edges[1:], strict=True):
        axes.fill_between(x, low, high, color=FILLS[kind], label=label, linewidth=0)
    axes.plot(x, np.where(2 * x >= epsilon, 2 * x, np.nan), color=ORANGE, linewidth=1.4)
    axes.plot(x, 4 * x + epsilon, color=GREEN, linewidth=1.4)
    axes.plot([L] * len(gaps), gaps, "o", color="black", markersize=5, clip_on=False)
    for gap in gaps:
        axes.annotate(f"{gap:g}", (L, gap), (7, 0), textcoords="offset points", va="center", fontsize=9)
    axes.set(xlim=(0, right), ylim=(0, top))
    figure.legend(loc="outside lower center", ncols=2, fontsize=9, frameon=False, reverse=True)
    save(figure, path)


def draw_radius(path: Path, counts: Sequence[int], radii: Mapping[str, Sequence[float]], L: float) -> None:
    """How far a difference of two candidates' means may be off by each boundary, against the draws of each."""
    title, y = "Draws shrink the radius, not the bias", "allowance for a difference of two means"
    figure, axes = _axes(title, "draws per candidate", y)
    for name, values in radii.items():
        one = 1 if name == "pairwise" else 2  # pairwise is about the difference itself, the others add two up
        axes.plot(counts, one * np.asarray(values) + 2 * L, color=LINES[name], label=name, linewidth=1.8)
    if L > 0:
        axes.axhline(2 * L, color=ORANGE, linewidth=1, linestyle="--")
        axes.annotate("2L, for ever", (1, 2 * L), (0, 4), textcoords="offset points", color=ORANGE, fontsize=9)
    _log(axes)
    axes.legend(frameon=False, fontsize=9)
    save(figure, path)


def draw_samples(
    path: Path, gaps: Sequence[float], draws: Mapping[str, Sequence[float]], L: float, epsilon: float
) -> None:
    """Draws per candidate for a certified deletion, and the lower bound, against the true gap."""
    figure, axes = _axes("Draws that certify a deletion", "true-value gap", "draws per candidate")
    labels = {"lower bound": "lower bound: any method, both children"}
    for name, values in draws.items():
        known = np.where(np.isfinite(values), values, np.nan)
        style = {"color": ORANGE, "linestyle": ":"} if name == "lower bound" else {"color": LINES[name]}
        axes.plot(gaps, known, label=labels.get(name, name), linewidth=1.8, **style)  # type: ignore[arg-type]
    for edge, label in ((2 * L, "2L"), (4 * L + epsilon, "4L + eps")):
        if edge > 0:
            axes.axvline(edge, color=GREY, linewidth=1, linestyle="--")
            axes.annotate(
                label, (edge, 1), (3, -10), xycoords=("data", "axes fraction"), textcoords="offset points", color=GREY
            )
    _log(axes)
    figure.legend(loc="outside lower center", ncols=3, fontsize=9, frameon=False)
    save(figure, path)


def draw_lower_bound(path: Path, gaps: Sequence[float], sigma: float, delta: float, L: float, epsilon: float) -> None:
    """What any method must draw against the true gap: for two children alone, and as a term of the sum over a frontier.
    The given gaps are points on the latter; those without a term stand at the foot, as crosses."""
    title = "Draws that no method can save"
    figure, axes = _axes(title, "true-value gap to the best child", "expected draws, worst case")
    near = gap_grid(gaps, L, epsilon)
    grid = sorted({*near, *(2 * L + gap for gap in near)})
    axes.set_xlim(0.9 * grid[0], 1.1 * grid[-1])
    lines = {
        "two children alone": (ORANGE, "-", [two_point_bound(gap, sigma, delta, L, epsilon) for gap in grid]),
        "term of the sum over a frontier": (BLUE, "--", [_term(gap, sigma, delta, L, epsilon) for gap in grid]),
    }
    for name, (colour, style, draws) in lines.items():
        y = [n if 0 < n < math.inf else math.nan for n in draws]
        axes.plot(grid, y, style, color=colour, label=name, linewidth=1.8)
    _log(axes)
    if L > 0:
        axes.axvspan(0.9 * grid[0], 2 * L, color=FILLS[Regime.IMPOSSIBLE], linewidth=0, label="impossible: gap <= 2L")
    foot = axes.get_ylim()[0]
    axes.set_ylim(bottom=foot)
    for gap in gaps:
        n = _term(gap, sigma, delta, L, epsilon)
        mark, height = ("x", foot) if math.isnan(n) else ("o", n)
        axes.plot([gap], [height], mark, color="black", markersize=6, clip_on=False)
    figure.legend(loc="outside lower center", ncols=2, fontsize=9, frameon=False)
    save(figure, path)


def _term(gap: float, sigma: float, delta: float, L: float, epsilon: float) -> float:
    """The gap's term of the additive bound; NaN where none is asserted."""
    (term,) = additive_bound([gap], sigma, delta, L, epsilon).terms
    return math.nan if term.draws is None else term.draws


def draw_boundary(path: Path, rows: Sequence[Row]) -> None:
    """The controlled check: ours with 95 % intervals as filled marks, the paper's printed rows as open ones."""
    title = "Imposed bias at the sufficient boundary (SIMULATED)"
    figure, axes = _axes(title, "imposed bias L / gap", "share")
    x = [row.level for row in rows]
    printed = [p.level for p in PRINTED]
    series = (
        ("pruned", GREY, "s", [row.pruning for row in rows], [p.pruning for p in PRINTED]),
        ("UCT selects the best", ORANGE, "^", [row.uct for row in rows], [p.uct for p in PRINTED]),
        ("best survives elimination", BLUE, "o", [row.survived for row in rows], [p.paccf for p in PRINTED]),
    )
    drawn: list[Any] = []
    for label, colour, mark, shares, paper in series:
        y = [s.value for s in shares]
        error = [[s.value - s.low for s in shares], [s.high - s.value for s in shares]]
        line = axes.errorbar(
            x, y, error, color=colour, marker=mark, markersize=5, linewidth=1.6, capsize=2, label=label
        )
        axes.plot(printed, paper, mark, color=colour, fillstyle="none", markersize=9)
        drawn.append(line)
    drawn += axes.plot([], [], "o", color="black", fillstyle="none", markersize=9, label="open: the paper's table")
    axes.axvline(0.25, color=GREY, linewidth=1, linestyle="--")
    axes.annotate("gap = 4L", (0.25, 0.02), (4, 0), textcoords="offset points", color=GREY, fontsize=9)
    axes.set_ylim(0, 1.04)
    figure.legend(handles=drawn, loc="outside lower center", ncols=2, fontsize=9, frameon=False)
    save(figure, path)
