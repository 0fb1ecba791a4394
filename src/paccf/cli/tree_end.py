"""A finished search as one tree: what was looked at, what it was found to be worth, and where the answer lies."""

from __future__ import annotations

from collections.abc import Iterator

import click

from paccf.cli.fitting import cells, fit, fit_both, foreign
from paccf.search.trace import Trace
from paccf.search.tree import Node, Path, ancestors, solved

MOST = 40  # ours: lines; the record has everything
TEXT = 8  # ours: columns of a text that what is said behind it must leave


def drawing(trace: Trace, room: int, rich: bool = True) -> list[str]:
    """The executed nodes as styled lines of at most ``room`` columns, siblings in order of admission, a star where the
    answer ends; candidates that the search never came back to, and those that were dropped, are counted."""
    line = set() if trace.answer is None else {v.path for v in ancestors(trace.answer)}
    rows = []
    for guide, path, found in _places(trace, ("├ ", "└ ", "│ ") if rich else ("+ ", "+ ", "| ")):
        guide = guide[-2 * (room // 4) :]
        left = room - cells(guide)
        if isinstance(found, str):
            rows.append(guide + click.style(fit(found, left, "…" if rich else "..."), dim=True))
        else:
            rows.append(guide + _node(found, left, path in line, found is trace.answer, rich))
    if len(rows) <= MOST:
        return rows
    further = fit(f"{len(rows) - MOST + 1:,} more; --json has everything", room, "...")
    return [*rows[: MOST - 1], click.style(further, dim=True)]


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


def _node(node: Node, room: int, on_line: bool, answer: bool, rich: bool) -> str:
    """A node in ``room`` columns; its visits go first if there is no room for them, its text last."""
    visits = f"  n={node.visits} q={node.q:.2f}" if node.visits else ""
    if node.action is None:
        return click.style("root", bold=True) + click.style(visits, dim=True)
    score = "    -" if node.score is None else f"{node.score:5.1f}"
    mark = f"  {'★' if rich else '*'} {'solved' if solved(node) else 'answer'}" if answer else ""
    mark += "  post-pruned" if node.pruned else ""
    room -= len(score) + 2
    visits = visits if len(visits) + len(mark) + TEXT <= room else ""
    mark = mark if len(mark) + TEXT <= room else mark[:3] * answer

    def styled(part: str) -> str:
        if on_line:
            return click.style(part, fg="green", bold=True)
        return click.style(part, dim=True) if node.dead else part

    text = styled(fit_both(foreign(node.action.text, rich), room - len(visits) - len(mark), "…" if rich else "..."))
    return f"{score}  {text}{click.style(visits, dim=True)}{styled(mark)}"


def _rest(waiting: int, dropped: int) -> str:
    said = [f"{waiting:,} admitted, never looked at"] * bool(waiting) + [f"{dropped:,} dropped"] * bool(dropped)
    return ", ".join(said)
