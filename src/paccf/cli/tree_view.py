"""A search as it grows, for a terminal: every frontier with its candidates, what became of each and why.

Task and model text is cleaned piece by piece before it is styled: only our own colours reach the terminal.
"""

from __future__ import annotations

from collections.abc import Callable

import click

from paccf.cli.output import clean
from paccf.search.trace import Arm, Frontier


def watcher(arm: Arm) -> Callable[[Frontier], None]:
    """Print every frontier as it is admitted."""

    def show(frontier: Frontier) -> None:
        click.echo("\n".join(lines(frontier, arm)))

    return show


def lines(frontier: Frontier, arm: Arm) -> list[str]:
    """A frontier as styled lines, indented by its depth: its path, then its candidates in the order proposed."""
    indent = "    " * len(frontier.path)
    path = " > ".join(clean(key) for key in frontier.path) or "root"
    out = [f"{indent}{click.style(path, bold=True)}"]
    if not frontier.actions:
        out.append(f"{indent}    {click.style('no legal proposal', dim=True)}")
    for i, (action, score) in enumerate(zip(frontier.actions, frontier.scores, strict=True)):
        shown = "    -" if score is None else f"{score:5.1f}"
        kept = i in frontier.kept
        why = reason(frontier, arm, i)
        mark = click.style("keep", fg="green") if kept else click.style("drop", fg="red")
        text = clean(action.text) if kept else click.style(clean(action.text), dim=True)
        out.append(f"{indent}    {shown}  {mark}  {text}" + (click.style(f"  {why}", fg="yellow") if why else ""))
    return out


def reason(frontier: Frontier, arm: Arm, i: int) -> str:
    """Why candidate ``i`` was dropped, or what else is to be said of it; empty for one that was simply kept."""
    if i not in frontier.eligible:
        return "ineligible: below the controller's own threshold"
    if frontier.scores[i] is None:
        return "unscored, so it is kept" if i in frontier.kept else "native rule"
    native = i in frontier.native
    if arm.gap is None or frontier.gap is None:
        return "" if native else "native rule"
    inside = i in frontier.gap
    beyond = f"deficit {deficit(frontier, i):g} > {arm.gap.reach:g}"
    if arm.name == "paccf":
        return ("" if native else "the native rule would drop it") if inside else f"beyond the margin: {beyond}"
    if native:
        return "" if inside else f"the margin would drop it: {beyond}"
    return "native rule" + ("; the margin would keep it" if inside else f"; the margin too: {beyond}")


def deficit(frontier: Frontier, i: int) -> float:
    """How far the score of ``i`` is below the best eligible one, for printing."""
    scores = [s for j in frontier.eligible if (s := frontier.scores[j]) is not None]
    score = frontier.scores[i]
    assert score is not None
    return round(max(scores) - score, 6)
