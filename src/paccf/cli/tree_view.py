"""A search as it grows, for a terminal: every frontier with its candidates, what became of each and why.

Task and model text is cleaned piece by piece before it is styled: only our own colours reach the terminal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import click

from paccf.cli.fitting import cells, coloured, fit, fit_both, fit_end, flowed, foreign, padded, rich_text, width
from paccf.search.trace import Arm, Frontier

BAR = 10  # ours: columns for 100 points
TEXT, DRAWN = 24, 64  # ours: columns that a text has before its reason moves to the next line, and that bars need
_EIGHTHS = "▏▎▍▌▋▊▉█"


def watcher(arm: Arm, budget: int, before: Callable[[], None]) -> Callable[[Frontier], None]:
    """Print every frontier as it is admitted; ``before`` is called first."""

    def show(frontier: Frontier) -> None:
        before()
        click.echo("\n".join(lines(frontier, arm, budget, width(), rich_text())), color=coloured())

    return show


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things stand in the lines of one frontier."""

    indent: str
    room: int  # columns after the indent
    rich: bool
    drawn: bool  # whether there is room for bars
    column: int  # of the texts that a reason stands beside

    @property
    def more(self) -> str:
        """What stands for the rest of a text."""
        return "…" if self.rich else "..."

    @property
    def left(self) -> int:
        """Columns before a candidate's text: score, bar, mark."""
        return 2 + 5 + (1 + BAR if self.drawn else 0) + 2 + 4 + 2


def lines(frontier: Frontier, arm: Arm, budget: int, room: int, rich: bool = True) -> list[str]:
    """A frontier as styled lines of at most ``room`` columns, indented by its depth: its path and what was spent so
    far, then its candidates, the best score first, with a line where the margin ends."""
    indent = "  " * min(len(frontier.path), room // 12)
    room -= len(indent)
    longest = max((cells(foreign(action.text, rich)) for action in frontier.actions), default=0)
    beside = max((cells(reason(frontier, arm, i)) for i in range(len(frontier.actions))), default=0)
    layout = Layout(indent, room, rich, room >= DRAWN, 0)
    layout = replace(layout, column=min(longest, max(TEXT, room - layout.left - 2 - beside)))
    out = [indent + _head(frontier, budget, room, rich)]
    if not frontier.actions:
        out.append(f"{indent}  {click.style('no legal proposal', dim=True)}")
    cut = _cut(frontier, arm)
    for i in ranked(frontier):
        score = frontier.scores[i]
        if cut is not None and (score is None or score < cut or i not in frontier.eligible):
            out.append(indent + _edge(cut, arm, layout))
            cut = None
        out += _candidate(frontier, arm, i, layout)
    return out


def _candidate(frontier: Frontier, arm: Arm, i: int, layout: Layout) -> list[str]:
    """One candidate: a line, or more if what is to be said of it has no room beside its text."""
    score, kept, why = frontier.scores[i], i in frontier.kept, reason(frontier, arm, i)
    text, free = foreign(frontier.actions[i].text, layout.rich), layout.room - layout.left
    line = layout.indent + ("      -" if score is None else f"  {score:5.1f}")
    if layout.drawn:
        line += " " + (click.style(bar(score, layout.rich), fg="green") if kept else _dim(bar(score, layout.rich)))
    line += "  " + (click.style("keep", fg="green") if kept else click.style("drop", fg="red")) + "  "
    styled = str if kept else _dim
    if why and layout.column + 2 + cells(why) <= free:
        text = padded(fit_both(text, layout.column, layout.more), layout.column)
        return [f"{line}{styled(text)}  {click.style(why, fg='yellow')}"]
    below = layout.indent + " " * layout.left
    further = [below + click.style(part, fg="yellow") for part in flowed(why.split(" "), free)]
    return [line + styled(fit_both(text, free, layout.more)), *further]


def _dim(text: str) -> str:
    return click.style(text, dim=True)


def _head(frontier: Frontier, budget: int, room: int, rich: bool) -> str:
    path = (" › " if rich else " > ").join(foreign(key, rich) for key in frontier.path) or "root"
    spent = f"{frontier.spent:,} of {budget:,} requests"
    path = fit_end(path, room - 2 - len(spent) if room > 2 * len(spent) else room, "…" if rich else "...")
    gap = room - cells(path) - len(spent)
    if gap < 2:
        return click.style(path, bold=True)
    line = ("─" if rich else "-") * (gap - 2)
    return f"{click.style(path, bold=True)} {click.style(f'{line} {spent}', dim=True)}"


def _cut(frontier: Frontier, arm: Arm) -> float | None:
    """The lowest score that the margin keeps, where it drops something."""
    if arm.gap is None or frontier.gap is None or math.isinf(arm.gap.reach):
        return None
    if len(frontier.gap) == len(frontier.eligible):
        return None
    return best(frontier) - arm.gap.reach


def _edge(cut: float, arm: Arm, layout: Layout) -> str:
    assert arm.gap is not None
    line = f" {('┄' if layout.rich else '.') * BAR}" if layout.drawn else ""
    said = f"margin {arm.gap.reach:g} {'ends' if arm.name == 'paccf' else 'would end'} here"
    return click.style(fit(f"  {cut:5.1f}{line}  {said}", layout.room, layout.more), fg="cyan")


def bar(score: float | None, rich: bool = True) -> str:
    """``score`` of 100 as a bar of `BAR` columns."""
    eighths = round(8 * BAR * min(max(score or 0.0, 0.0), 100.0) / 100)
    if not rich:
        return ("#" * round(eighths / 8)).ljust(BAR)
    part = _EIGHTHS[eighths % 8 - 1] if eighths % 8 else ""
    return ("█" * (eighths // 8) + part).ljust(BAR)


def ranked(frontier: Frontier) -> Iterator[int]:
    """The candidates as they are shown: scored and eligible ones, the best first; unscored; ineligible."""

    def place(i: int) -> tuple[int, float, int]:
        score = frontier.scores[i]
        rank = 2 if i not in frontier.eligible else 1 if score is None else 0
        return rank, -(score or 0.0), i

    yield from sorted(range(len(frontier.actions)), key=place)


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
        return ("" if native else "the native rule would drop it") if inside else beyond
    if native:
        return "" if inside else f"would drop: {beyond}"
    return "native rule; the margin would keep it" if inside else f"native rule, and {beyond}"


def best(frontier: Frontier) -> float:
    """The largest score of an eligible candidate; 0 if none has one."""
    return max((s for j in frontier.eligible if (s := frontier.scores[j]) is not None), default=0.0)


def deficit(frontier: Frontier, i: int) -> float:
    """How far the score of ``i`` is below the best eligible one, for printing."""
    score = frontier.scores[i]
    assert score is not None
    return round(best(frontier) - score, 6)
