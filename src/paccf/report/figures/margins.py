"""Where margins come from: the deficits they are ranks of, and what another Q would have given."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from paccf.audit.tables.table import Table
from paccf.report.figures.style import (
    GREY,
    Row,
    Theme,
    controllers,
    footed,
    grid,
    labels,
    number,
    ordered,
    percent,
    plain,
    rows,
    series,
    sheet,
)


def deficits(theme: Theme, data: Sequence[Table]) -> Figure:
    """Share of tasks whose deficit a margin survives, a panel a cell: calibration, test, and the frozen margin."""
    table, margins = data
    domains = ordered(table, "domain")
    by_domain = {d: controllers(table, d) for d in domains}
    across = max(len(c) for c in by_domain.values())
    figure = sheet(1.0 + 1.75 * across, 0.9 + 1.55 * len(domains))
    panels = figure.subplots(len(domains), across, sharey=True, squeeze=False)
    right = max((number(v) for v in table.values("deficit") if v is not None), default=1.0) or 1.0
    for line, domain in enumerate(domains):
        for place in range(across):
            axes = panels[line, place]
            if place >= len(by_domain[domain]):
                axes.set_visible(False)
                continue
            controller = by_domain[domain][place]
            axes.set_title(plain(controller), fontsize=9)
            frozen = rows(margins, domain=domain, controller=controller)
            _share(axes, rows(table, domain=domain, controller=controller), frozen, right, theme)
            percent(axes)
            grid(axes)
            axes.set_xlim(-0.03 * right, 1.04 * right)
            axes.set_ylim(0, 1.04 * 100)
            axes.tick_params(labelbottom=line == len(domains) - 1)
        panels[line, 0].set_ylabel(plain(domain), fontweight="bold")
    handles = [
        Line2D([], [], color=GREY, lw=2, label="calibration tasks"),
        Line2D([], [], color=theme.ink, lw=1, ls="--", label="test tasks"),
        Line2D([], [], color=theme.ink, lw=0, marker="|", ms=12, mew=1.2, label="frozen margin"),
    ]
    footed(figure, "score deficit of a task, on the evaluator's scale", handles)
    return figure


def _share(axes: Axes, found: Sequence[Row], frozen: Sequence[Row], right: float, theme: Theme) -> None:
    """The share of exposed tasks with at most a deficit, unresolved tasks never counted as survived."""
    colour, _ = series(str(found[0]["controller"]))
    for phase, style in (("calibration", {"color": colour, "lw": 2}), ("test", {"color": theme.ink, "lw": 1})):
        exposed = [r for r in found if r["phase"] == phase and r["state"] != "missing"]
        known = sorted(number(r["deficit"]) for r in exposed if r["deficit"] is not None)
        if not exposed:
            continue
        steps = [0.0, *(100 * (i + 1) / len(exposed) for i in range(len(known)))]
        ls = "--" if phase == "test" else "-"
        axes.step([-0.03 * right, *known, 1.04 * right], [*steps, steps[-1]], where="post", ls=ls, **style)  # type: ignore[arg-type]
    margin = number(frozen[0]["margin"]) if frozen else math.nan
    if not math.isnan(margin):
        axes.axvline(margin, ymax=0.93, color=theme.ink, lw=1.2)
        left = margin > right / 2
        axes.annotate(
            f"{margin:g}",
            (margin, 6),
            (-4 if left else 4, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            fontweight="bold",
        )
    elif frozen:
        axes.text(0.95, 0.08, "keeps everything", transform=axes.transAxes, ha="right", fontsize=8)


def margin_by_q(theme: Theme, data: Sequence[Table]) -> Figure:
    """The staircase of margins over Q, a panel a domain; the dot is what was frozen."""
    (table,) = data
    domains = ordered(table, "domain")
    figure = sheet(1.0 + 3.2 * len(domains), 3.4)
    panels = figure.subplots(1, len(domains), squeeze=False)[0]
    for axes, domain in zip(panels, domains, strict=True):
        named = []
        for place, controller in enumerate(controllers(table, domain)):
            steps = rows(table, domain=domain, controller=controller)
            colour, mark = series(controller, place)
            known = [r for r in steps if not math.isnan(number(r["margin"]))]
            if not known:
                continue
            x = [0.0, *(100 * number(r["q"]) for r in known)]
            y = [number(r["margin"]) for r in known]
            axes.step(x, [y[0], *y], where="pre", color=colour, lw=1.6)
            for r in known:
                if r["frozen"]:
                    axes.plot(100 * number(r["q"]), number(r["margin"]), mark, color=colour, markersize=7, zorder=5)
            named.append((y[-1], plain(controller), colour))
        axes.set_title(plain(domain), fontweight="bold")
        axes.set_xlim(0, 100)
        axes.set_ylim(0, None)
        percent(axes, "x")
        grid(axes)
        labels(axes, 100, named)
    panels[0].set_ylabel("margin, on the evaluator's scale")
    footed(figure, "Q, the share of tasks promised")
    return figure
