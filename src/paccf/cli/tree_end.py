"""A finished search as one tree: what was looked at, what it was found to be worth, and where the answer lies."""

from __future__ import annotations

from collections.abc import Iterator

import click

from paccf.cli.fitting import cells, fit
from paccf.cli.output import clean
from paccf.search.trace import Trace
from paccf.search.tree import Node, Path, ancestors, solved

MOST = 40  # ours: lines; the record has everything


def drawing(trace: Trace, room: int, rich: bool = True) -> list[str]:
    """The executed nodes as styled lines of at most ``room`` columns, siblings in order of admission, a star where the
    answer ends; candidates that the search never came back to, and those that were dropped, are counted."""
    line = set() if trace.answer is None else {v.path for v in ancestors(trace.answer)}
    rows = []
    for guide, path, found in _places(trace, ("├ ", "└ ", "│ ") if rich else ("+ ", "+ ", "| ")):
        guide = guide[-2 * (room // 4) :]
        left = room - cells(guide)
        if isinstance(found, str):
            rows.append(guide + click.style(fit(found, left), dim=True))
        else:
            star = "" if found is not trace.answer else "  ★" if rich else "  *"
            rows.append(guide + _node(found, left, path in line, star))
    if len(rows) <= MOST:
        return rows
    return [*rows[: MOST - 1], click.style(f"{len(rows) - MOST + 1:,} more lines; --json has everything", dim=True)]


def _places(trace: Trace, guides: tuple[str, str, str]) -> Iterator[tuple[str, Path, Node | str]]:
    """What has a line, parents first: the guide before it, its path, and the node or a remark. Without recursion, as a
    plan may be longer than the stack is deep."""
    tee, end, beside = guides
    dropped = {f.path: len(f.actions) - len(f.kept) for f in trace.frontiers}
    stack: list[tuple[str, str, Path, Node | str]] = [("", "", (), trace.root)]
    while stack:
        guide, below, path, found = stack.pop()
        yield guide, path, found
        if isinstance(found, str):
            continue
        kids: list[Node | str] = [kid for kid in found.kids or () if kid.outcome is not None]
        if rest := _rest(len(found.kids or ()) - len(kids), dropped.get(path, 0)):
            kids.append(rest)
        for i in reversed(range(len(kids))):
            kid, last = kids[i], i == len(kids) - 1
            key = () if isinstance(kid, str) or kid.action is None else (kid.action.key,)
            stack.append((below + (end if last else tee), below + ("  " if last else beside), path + key, kid))


def _node(node: Node, room: int, on_line: bool, star: str) -> str:
    visits = f"  n={node.visits} q={node.q:.2f}" if node.visits else ""
    if node.action is None:
        return click.style("root", bold=True) + click.style(visits, dim=True)
    score = "    -" if node.score is None else f"{node.score:5.1f}"
    mark = star + (" solved" if solved(node) else " answer" if star else "") + ("  post-pruned" if node.pruned else "")
    text = fit(clean(node.action.text), room - len(score) - 2 - len(visits) - len(mark))

    def styled(part: str) -> str:
        if on_line:
            return click.style(part, fg="green", bold=True)
        return click.style(part, dim=True) if node.dead else part

    return f"{score}  {styled(text)}{click.style(visits, dim=True)}{styled(mark)}"


def _rest(waiting: int, dropped: int) -> str:
    said = [f"{waiting:,} admitted, never looked at"] * bool(waiting) + [f"{dropped:,} dropped"] * bool(dropped)
    return ", ".join(said)
