"""Every condition at once: the heat map of utility and workload, and the forest of utility intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from paccf.audit.names import GROSS, VIEWS
from paccf.audit.tables.table import Table
from paccf.report.figures.style import (
    Row,
    Theme,
    controllers,
    ends,
    footed,
    number,
    ordered,
    plain,
    rows,
    series,
    sheet,
)

# both arms of the scale darken alike, and words on it stay legible; the sign is written out
SCALE = LinearSegmentedColormap.from_list("paccf", ["#e59a5b", "#f6d9bf", "#f7f7f5", "#bfdcee", "#6fb0d8"])
CELL_INK = "#14181e"  # not the theme's: cells are light on any page
NONE = "#d5d9de"


def heat_map(theme: Theme, data: Sequence[Table]) -> Figure:
    """Rows are controllers by domain, columns are budgets, a panel a quantity."""
    workload, utility = data
    budgets = ordered(workload, "budget")
    cells = list(dict.fromkeys((str(row["domain"]), str(row["controller"])) for row in rows(workload)))
    views = [view for view in VIEWS if any(value is not None for value in workload.values(view))]
    panels: list[tuple[str, Sequence[Row], str]] = [("Utility, points", rows(utility), "utility")]
    panels += [(f"{VIEWS[v]} {'(gross)' if v in GROSS else 'saved'}, %", rows(workload), v) for v in views]
    across = min(3, len(panels))
    down = math.ceil(len(panels) / across)
    figure = sheet(1.6 + across * (0.62 + 0.56 * len(budgets)), 0.9 + down * (0.75 + 0.25 * len(cells)))
    grid = figure.subplots(down, across, squeeze=False)
    for axes, (title, found, key) in zip(grid.flat, panels, strict=False):
        _panel(axes, title, found, key, budgets, cells)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for line in range(down):
        _names(grid[line, 0], cells)
        for axes in grid[line, 1:]:
            axes.set_yticks([])
    return figure


def _panel(
    axes: Axes,
    title: str,
    found: Sequence[Row],
    key: str,
    budgets: Sequence[str],
    cells: Sequence[tuple[str, str]],
) -> None:
    values = {(str(r["domain"]), str(r["controller"]), str(r["budget"])): number(r[key]) for r in found}
    known = [abs(v) for v in values.values() if not math.isnan(v)]
    most = max(known, default=0.0) or 1.0
    for y, (domain, controller) in enumerate(cells):
        for x, budget in enumerate(budgets):
            value = values.get((domain, controller, budget), math.nan)
            colour = NONE if math.isnan(value) else SCALE(0.5 + value / most / 2)
            axes.add_patch(Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, facecolor=colour, linewidth=0))
            text = "n/a" if math.isnan(value) else f"{value:+.1f}".replace("-", "−")
            axes.text(x, y, text, ha="center", va="center", fontsize=7.5, color=CELL_INK)
    axes.set_xlim(-0.5, len(budgets) - 0.5)
    axes.set_ylim(len(cells) - 0.5, -0.5)
    axes.set_xticks(range(len(budgets)), budgets)
    axes.set_title(title, fontsize=9.5, fontweight="bold")
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)


def _names(axes: Axes, cells: Sequence[tuple[str, str]]) -> None:
    """Controllers beside the rows, and each domain once, at its first."""
    words = []
    for place, (domain, controller) in enumerate(cells):
        first = not place or cells[place - 1][0] != domain
        words.append(f"{plain(domain)}   {plain(controller)}" if first else plain(controller))
    axes.set_yticks(range(len(cells)), words)
    for place in range(1, len(cells)):
        if cells[place][0] != cells[place - 1][0]:
            axes.axhline(place - 0.5, xmin=-0.6, color="#7d8794", lw=0.8, clip_on=False)


def forest(theme: Theme, data: Sequence[Table]) -> Figure:
    """Utility of every condition with its interval, a panel a budget; the macros below each domain."""
    conditions, macros, over = data
    budgets = ordered(conditions, "budget")
    lines = _lines(conditions)
    whole = [row for row in rows(over) if str(row["row"]) in budgets] if len(ordered(macros, "domain")) > 1 else []
    height = len(lines) + (1.4 if whole else 0)
    figure = sheet(1.6 + 1.75 * len(budgets), 1.3 + 0.2 * height)
    panels = figure.subplots(1, len(budgets), sharex=True, sharey=True, squeeze=False)[0]
    for axes, budget in zip(panels, budgets, strict=True):
        axes.axvline(0, color=theme.faint, lw=0.9)
        by_cell = {(str(r["domain"]), str(r["controller"])): r for r in rows(conditions, budget=budget)}
        by_domain = {str(r["domain"]): r for r in rows(macros, budget=budget)}
        for y, (domain, controller) in lines:
            if controller is None:
                if domain in by_domain:
                    _diamond(axes, y, by_domain[domain], theme)
            elif (domain, controller) in by_cell:
                row = by_cell[domain, controller]
                colour, mark = series(controller)
                axes.plot(ends(row["ci"]), (y, y), color=colour, lw=1.6)
                axes.plot(number(row["utility"]), y, mark, color=colour, markersize=4.5)
        for row in whole:
            if row["row"] == budget:
                _diamond(axes, lines[-1][0] + 1.4, row, theme)
        axes.set_title(budget, fontweight="bold")
        axes.grid(True, axis="x")
        axes.set_axisbelow(True)
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
    words = [_word(lines, domain, controller) for _, (domain, controller) in lines]
    places = [y for y, _ in lines]
    if whole:
        places.append(lines[-1][0] + 1.4)
        words.append("mean over domains")
    panels[0].set_yticks(places, words)
    panels[0].set_ylim(places[-1] + 0.7, -0.7)
    footed(figure, "PAC-CF minus Native utility, points")
    return figure


Line = tuple[float, tuple[str, str | None]]


def _lines(table: Table) -> list[Line]:
    """A height for every controller, domain by domain, and one for the domain's mean."""
    found: list[Line] = []
    y = 0.0
    for domain in ordered(table, "domain"):
        for controller in controllers(table, domain):
            found.append((y, (domain, controller)))
            y += 1
        found.append((y, (domain, None)))
        y += 1.5
    return found


def _word(lines: Sequence[Line], domain: str, controller: str | None) -> str:
    if controller is None:
        return f"{plain(domain)}, mean"
    first = next(c for _, (d, c) in lines if d == domain)
    return f"{plain(domain)}   {plain(controller)}" if controller == first else plain(controller)


def _diamond(axes: Axes, y: float, row: Row, theme: Theme) -> None:
    """A mean: as wide as its interval."""
    value = number(row["utility"])
    low, high = ends(row["utility_ci"])
    if math.isnan(low):
        axes.plot(value, y, "D", color=theme.ink, markersize=5)
        return
    axes.fill([low, value, high, value], [y, y - 0.32, y, y + 0.32], color=theme.ink, lw=0)
