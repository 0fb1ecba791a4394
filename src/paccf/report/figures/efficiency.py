"""The paper's efficiency figure: macro utility of both arms, and three reductions, against the budget."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paccf.audit.names import REALIZED, VIEWS
from paccf.audit.tables.table import Table
from paccf.report.figures.style import (
    NATIVE,
    PACCF,
    Row,
    Theme,
    ends,
    footed,
    grid,
    number,
    ordered,
    percent,
    plain,
    rows,
    sheet,
)

NAMES = {"requests": "Physical requests", "net_graph": "Net graph nodes", "tokens": "End-to-end tokens"}


def draw(theme: Theme, data: Sequence[Table]) -> Figure:
    """A column a domain, the macro last; utility on top, a reduction a row."""
    (table,) = data
    domains = ordered(table, "domain")
    figure = sheet(2.2 + 1.95 * len(domains), 7.4)
    panels = figure.subplots(1 + len(REALIZED), len(domains), sharex=True, squeeze=False, height_ratios=[1.25, 1, 1, 1])
    budgets = [int(b[1:]) for b in ordered(table, "budget")]
    x = {f"B{b}": i for i, b in enumerate(budgets)}  # evenly spaced: it is a few settings, not a scale
    for column, domain in enumerate(domains):
        found = rows(table, domain=domain)
        top = panels[0, column]
        top.set_title(plain(domain), fontweight="bold", pad=14)
        _utility(top, found, x, last=column == len(domains) - 1)
        for line, view in enumerate(REALIZED, 1):
            _reduction(panels[line, column], found, x, view)
        panels[-1, column].set_xticks(list(x.values()), list(x))
        panels[-1, column].set_xlim(-0.35, len(x) - 0.65)
        for one in panels[1:, column] if column else ():
            one.tick_params(labelleft=False)
    _same_scale(list(panels[1:].flat))
    for line, view in enumerate(REALIZED, 1):
        panels[line, 0].set_ylabel(f"{NAMES.get(view, VIEWS[view])}\nsaved")
    panels[0, 0].set_ylabel("Utility × 100")
    footed(figure, "budget: physical-equivalent requests a task")
    return figure


def _utility(axes: Axes, found: Sequence[Row], x: dict[str, int], last: bool) -> None:
    at = [x[str(row["budget"])] for row in found]
    for arm, colour, mark, style in (("native", NATIVE, "o", "--"), ("paccf", PACCF, "s", "-")):
        axes.plot(at, [number(row[arm]) for row in found], style, color=colour, marker=mark, markersize=4.5)
    _above(axes, at, [number(row["utility"]) for row in found], "+.1f")
    if last:
        end = found[-1]
        higher = number(end["paccf"]) >= number(end["native"])
        for arm, colour, word in (("native", NATIVE, "Native"), ("paccf", PACCF, "PAC-CF")):
            axes.annotate(
                word,
                (at[-1], number(end[arm])),
                (12, 5 if (arm == "paccf") == higher else -5),
                textcoords="offset points",
                va="center",
                color=colour,
                fontweight="bold",
                annotation_clip=False,
            )


def _reduction(axes: Axes, found: Sequence[Row], x: dict[str, int], view: str) -> None:
    at = [x[str(row["budget"])] for row in found]
    values = [number(row[view]) for row in found]
    axes.axhline(0, color=NATIVE, ls="--", lw=1.6)
    for place, row in zip(at, found, strict=True):
        axes.plot([place, place], ends(row[f"{view}_ci"]), color=PACCF, lw=1.4)
    axes.plot(at, values, color=PACCF, marker="s", markersize=4.5)
    _above(axes, at, values, ".1f")
    percent(axes)


def _above(axes: Axes, at: Sequence[int], values: Sequence[float], form: str) -> None:
    """The figures in a line above the panel, where no line of the data runs through them."""
    grid(axes)
    for place, value in zip(at, values, strict=True):
        if not math.isnan(value):
            text = f"{value:{form}}".replace("-", "−")
            axes.text(place, 1.0, text, transform=axes.get_xaxis_transform(), ha="center", va="bottom", fontsize=7.5)


def _same_scale(panels: Sequence[Axes]) -> None:
    """One scale for all reductions, so that heights compare."""
    low, high = min(p.get_ylim()[0] for p in panels), max(p.get_ylim()[1] for p in panels)
    for p in panels:
        p.set_ylim(low, high)
