"""How every picture looks: few colours that differ in lightness too, words at the lines, and SIMULATED where it was.

A picture is drawn in one of two themes. Text from a record is never markup: mathematical notation is off, and signs
that the font lacks are written as their code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from paccf.audit.names import CONTROLLERS
from paccf.audit.resample import Interval
from paccf.audit.tables.table import Table, Value
from paccf.record.foreign import clean

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours of what is not data. Those of data are the same in both themes."""

    ink: str
    faint: str
    grid: str
    paper: str


LIGHT = Theme(ink="#1a2029", faint="#626c7a", grid="#dfe3e8", paper="#ffffff")
DARK = Theme(ink="#e7eaef", faint="#98a2b0", grid="#39414c", paper="#14181f")
THEMES = {"light": LIGHT, "dark": DARK}

# Okabe & Ito, legible to colour-blind readers, on white and on black
BLUE, ORANGE, GREEN, VERMILION, PURPLE, GREY = "#2b7bba", "#e08e0b", "#169a73", "#d55e00", "#b668a4", "#7d8794"
NATIVE, PACCF = BLUE, VERMILION
# controller -> colour and mark; the paper's five, others in grey
MARKS = ((BLUE, "o"), (ORANGE, "s"), (GREEN, "^"), (VERMILION, "D"), (PURPLE, "v"))
SERIES = dict(zip(CONTROLLERS.values(), MARKS, strict=True))
OTHERS = ((GREY, "P"), ("#4e8fa8", "X"), ("#a58a5d", "*"))

LONGEST = 20  # ours: signs of a name from a record, so that a long one leaves room for the data

Row = dict[str, Value]


def series(name: str, place: int = 0) -> tuple[str, str]:
    """The colour and mark of a controller; ``place`` tells those apart that the paper does not know."""
    return SERIES.get(name) or OTHERS[place % len(OTHERS)]


def rows(table: Table, **keys: Value) -> list[Row]:
    """The rows with these cells, by column key."""
    found = [dict(zip((c.key for c in table.columns), row, strict=True)) for row in table.rows]
    return [row for row in found if all(row[key] == value for key, value in keys.items())]


def ordered(table: Table, key: str) -> list[str]:
    """The different words of a column, in the order of the table."""
    return list(dict.fromkeys(str(value) for value in table.values(key)))


def controllers(table: Table, domain: str) -> list[str]:
    """The controllers of a domain, in the order of the table."""
    return list(dict.fromkeys(str(row["controller"]) for row in rows(table, domain=domain)))


def number(value: Value) -> float:
    """A figure to draw; NaN where there is none."""
    return float(value) if isinstance(value, (int, float)) else math.nan


def ends(value: Value) -> tuple[float, float]:
    """The ends of an interval to draw; NaN where there is none."""
    return (value.lo, value.hi) if isinstance(value, Interval) else (math.nan, math.nan)


def plain(text: str, most: int = LONGEST) -> str:
    """Foreign text as it may stand in a picture, cut to ``most`` signs."""
    known = _glyphs()
    shown = "".join(c if ord(c) in known else f"[U+{ord(c):04X}]" for c in clean(text))
    return shown if len(shown) <= most else shown[: most - 1] + "…"


@cache
def _glyphs() -> frozenset[int]:
    from matplotlib import font_manager

    font = font_manager.get_font(font_manager.findfont("DejaVu Sans"))
    return frozenset(font.get_charmap())


@contextmanager
def styled(theme: Theme) -> Iterator[None]:
    """Matplotlib's settings while something is drawn or written."""
    settings: dict[Any, Any] = {
        "font.family": "DejaVu Sans",
        "font.size": 9,
        "text.color": theme.ink,
        "text.parse_math": False,
        "axes.edgecolor": theme.faint,
        "axes.labelcolor": theme.ink,
        "axes.titlesize": 10,
        "axes.titlelocation": "left",
        "axes.facecolor": "none",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.linewidth": 0.8,
        "axes.formatter.use_mathtext": False,
        "xtick.color": theme.faint,
        "ytick.color": theme.faint,
        "xtick.labelcolor": theme.ink,
        "ytick.labelcolor": theme.ink,
        "xtick.labelsize": 8.5,
        "ytick.labelsize": 8.5,
        "grid.color": theme.grid,
        "grid.linewidth": 0.7,
        "figure.facecolor": theme.paper,
        "figure.dpi": 150,
        "savefig.dpi": 150,
        "lines.linewidth": 1.8,
        "lines.solid_capstyle": "butt",
        "legend.frameon": False,
        "svg.hashsalt": "paccf",
        "pdf.fonttype": 42,
    }
    with matplotlib.rc_context(settings):
        yield


def sheet(width: float, height: float) -> Figure:
    """An empty picture; inches. The line on top is left free for `headed`."""
    return Figure(figsize=(width, height), layout=_layout(0.28 / height))


def _layout(top: float) -> ConstrainedLayoutEngine:
    """Everything below the share ``top`` of the picture."""
    return ConstrainedLayoutEngine(w_pad=0.06, h_pad=0.06, wspace=0.03, hspace=0.04, rect=(0, 0, 1, 1 - top))


def headed(figure: Figure, title: str, simulated: bool, theme: Theme, caveats: Sequence[str] = ()) -> None:
    """The line on top: what it is, and whether the model was simulated. Below it, in small print, what has to be said
    of every figure of this run; the picture grows by as much."""
    words = plain(title, 120)
    width, height = map(float, figure.get_size_inches())
    small = [line for caveat in caveats for line in wrap(plain(caveat, 400), max(40, int(20 * width)))]
    more = 0.13 * len(small) + 0.04 * bool(small)
    height += more
    figure.set_size_inches(width, height)
    if small:
        figure.set_layout_engine(_layout((0.28 + more) / height))
    size = min(11.0, 126 * width / (len(words) + (14 if simulated else 0)))
    top: dict[str, Any] = {"y": 1 - 0.07 / height, "va": "top", "fontsize": size, "fontweight": "bold"}
    figure.text(0.01, s=words, ha="left", color=theme.ink, **top)
    if simulated:
        figure.text(0.99, s="SIMULATED", ha="right", color=VERMILION, **top)
    for place, line in enumerate(small):
        y = 1 - (0.28 + 0.13 * place) / height
        figure.text(0.01, y, line, ha="left", va="top", fontsize=6.5, color=VERMILION)


def footed(figure: Figure, words: str, handles: Sequence[Artist] = (), columns: int = 6) -> None:
    """The line below: what the common axis is, and the key of what is not named in place."""
    if not handles:
        figure.supxlabel(words, fontsize=9)
        return
    figure.legend(
        handles=list(handles),
        title=words,
        loc="outside lower center",
        ncols=min(columns, len(handles)),
        fontsize=8.5,
        title_fontsize=9,
    )


def grid(axes: Axes, axis: str = "y") -> None:
    """Faint lines behind the data."""
    axes.grid(True, axis=axis)  # type: ignore[arg-type]
    axes.set_axisbelow(True)


def labels(axes: Axes, x: float, named: Iterable[tuple[float, str, str]], gap: float = 0.058) -> None:
    """Words at the right end of lines: (height, word, colour), moved apart so that none covers another. ``gap`` is the
    height of a word as a share of the axes."""
    low, high = axes.get_ylim()
    places = sorted(((y - low) / (high - low), word, colour) for y, word, colour in named if not math.isnan(y))
    for (_, word, colour), y in zip(places, apart([p for p, *_ in places], gap), strict=True):
        axes.annotate(
            word,
            (x, low + y * (high - low)),
            (5, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            fontsize=8.5,
            annotation_clip=False,
        )


def key(table: Table) -> list[Line2D]:
    """Which colour and mark is which controller, once for all panels."""
    found: dict[tuple[str, str, str], None] = {}
    for domain in ordered(table, "domain"):
        for place, name in enumerate(controllers(table, domain)):
            found[(plain(name), *series(name, place))] = None
    return [Line2D([], [], color=colour, marker=mark, ms=5, label=name) for name, colour, mark in found]


def apart(places: Sequence[float], gap: float) -> list[float]:
    """Increasing places moved as little as need be to stand ``gap`` apart: blocks of neighbours around their mean."""
    found: list[list[float]] = []
    for place in places:
        found.append([place])
        while len(found) > 1 and _middle(found[-1]) - _middle(found[-2]) < gap * (len(found[-1]) + len(found[-2])) / 2:
            last = found.pop()
            found[-1] += last
    return [_middle(block) + gap * (i - (len(block) - 1) / 2) for block in found for i in range(len(block))]


def _middle(block: Sequence[float]) -> float:
    return sum(block) / len(block)


def percent(axes: Axes, axis: str = "y") -> None:
    """Ticks that say per cent."""
    one = axes.yaxis if axis == "y" else axes.xaxis
    one.set_major_formatter(_percent)


def _percent(value: float, _: object = None) -> str:
    return f"{value:g} %".replace("-", "−")


Drawing = Callable[[Theme, Sequence[Table]], Figure]
