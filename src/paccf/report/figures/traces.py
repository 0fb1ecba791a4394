"""What the Native traces say of margins and of the evaluator."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from paccf.audit.tables.table import Table
from paccf.report.figures.style import (
    Theme,
    controllers,
    ends,
    footed,
    grid,
    key,
    number,
    ordered,
    percent,
    plain,
    rows,
    series,
    sheet,
)

KINDS = ("#2b7bba", "#e0a03c", "#8a63a8", "#5aa68a", "#c26a5a", "#7d8794")  # kinds of requests


def coverage_sweep(theme: Theme, data: Sequence[Table]) -> Figure:
    """Coverage against pruning over all thresholds, a panel a domain; the mark is the frozen margin."""
    (table,) = data
    domains = ordered(table, "domain")
    figure = sheet(1.0 + 3.3 * len(domains), 3.9)
    panels = figure.subplots(1, len(domains), sharey=True, squeeze=False)[0]
    for axes, domain in zip(panels, domains, strict=True):
        for place, controller in enumerate(controllers(table, domain)):
            sweep = rows(table, domain=domain, controller=controller)
            colour, mark = series(controller, place)
            x = [number(r["pruned"]) for r in sweep]
            y = [number(r["coverage"]) for r in sweep]
            axes.plot(x, y, color=colour, lw=1.5)
            for r in sweep:
                if r["frozen"]:
                    point = number(r["pruned"]), number(r["coverage"])
                    axes.plot(*point, mark, color=colour, ms=8, markeredgecolor=theme.ink, zorder=5, clip_on=False)
        for q in dict.fromkeys(str(r["q"]) for r in rows(table, domain=domain)):
            axes.axhline(100 * float(q), color=theme.faint, ls=":", lw=1.2)
            axes.text(0.005, 100 * float(q), "Q", transform=axes.get_yaxis_transform(), va="top", color=theme.faint)
        axes.set_title(plain(domain), fontweight="bold")
        axes.set_ylim(None, 102)
        axes.set_xlim(0, None)
        percent(axes)
        percent(axes, "x")
        grid(axes)
    panels[0].set_ylabel("test tasks covered")
    footed(figure, "scored candidates beyond the threshold, on fixed Native traces", key(table))
    return figure


def evaluator_curve(theme: Theme, data: Sequence[Table]) -> Figure:
    """The share of protected candidates by score, a panel a domain."""
    (table,) = data
    domains = ordered(table, "domain")
    figure = sheet(1.0 + 3.2 * len(domains), 3.5)
    panels = figure.subplots(1, len(domains), sharey=True, squeeze=False)[0]
    for axes, domain in zip(panels, domains, strict=True):
        for place, controller in enumerate(controllers(table, domain)):
            found = rows(table, domain=domain, controller=controller)
            colour, mark = series(controller, place)
            x = [number(r["mean"]) for r in found]
            axes.plot(x, [number(r["protected"]) for r in found], mark + "-", color=colour, ms=4)
            for at, r in zip(x, found, strict=True):
                axes.plot([at, at], ends(r["ci"]), color=colour, lw=0.9, alpha=0.7)
        axes.set_title(plain(domain), fontweight="bold")
        axes.set_ylim(0, 101)
        percent(axes)
        grid(axes)
    panels[0].set_ylabel("candidates that lead to a solution")
    footed(figure, "score", key(table))
    return figure


def bill(theme: Theme, data: Sequence[Table]) -> Figure:
    """Requests by kind of both arms at the largest budget, a panel a domain."""
    (table,) = data
    budget = ordered(table, "budget")[-1]
    kinds = [c.key for c in table.columns if c.key.startswith("requests_")]
    shades = [KINDS[i % len(KINDS)] for i in range(len(kinds))]
    domains = ordered(table, "domain")
    deep = max(len(rows(table, domain=d, budget=budget)) for d in domains)
    figure = sheet(1.6 + 2.9 * len(domains), 1.35 + 0.27 * deep)
    panels = figure.subplots(1, len(domains), squeeze=False)[0]
    for axes, domain in zip(panels, domains, strict=True):
        found = rows(table, domain=domain, budget=budget)
        most = max(number(r["requests"]) for r in found) or 1.0
        words, places, y = [], [], 0.0
        for r in found:
            left = 0.0
            for kind, shade in zip(kinds, shades, strict=True):
                n = number(r[kind])
                axes.barh(y, n, 0.82, left=left, color=shade if r["arm"] == "Native" else _pale(shade), linewidth=0)
                left += n
            axes.text(left + 0.015 * most, y, f"{left:,.0f}", va="center", fontsize=7.5)
            words.append(f"{plain(str(r['controller']))}   Native" if r["arm"] == "Native" else "PAC-CF")
            places.append(y)
            y += 1.0 if r["arm"] == "Native" else 1.45
        axes.set_yticks(places, words)
        axes.set_ylim(y - 0.6, -0.7)
        axes.set_xlim(0, 1.2 * most)
        axes.set_title(plain(domain), fontweight="bold")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_formatter(lambda v, _: f"{v:,.0f}")
        axes.locator_params(axis="x", nbins=4)
        grid(axes, "x")
    handles = [Patch(color=c, label=plain(k.removeprefix("requests_"))) for k, c in zip(kinds, shades, strict=True)]
    footed(figure, f"requests over all paired tasks at {budget}; PAC-CF in the lighter shade", handles)
    return figure


def _pale(colour: str) -> tuple[float, ...]:
    return tuple(0.62 * part + 0.38 * 0.86 for part in to_rgb(colour))
