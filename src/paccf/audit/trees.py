"""Both arms' trees of one task as one: the same path in two arms is the same node, so they are joined by path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paccf.record.values import Candidate, Label, Node, Outcome, Path, Search


@dataclass(frozen=True, slots=True)
class Side:
    """One arm's word on a candidate: its score, how far behind the best of its frontier, whether it was admitted, the
    node it became, if it was, and whether the search came back to it for a frontier of its own."""

    score: float | None
    deficit: float | None
    kept: bool
    eligible: bool
    node: Node | None
    searched: bool


@dataclass(frozen=True, slots=True)
class Line:
    """A candidate at its place in the joined tree. A side is `None` where that arm never saw it. ``protected`` is its
    label, `None` if unknown."""

    path: Path
    text: str
    native: Side | None
    paccf: Side | None
    protected: Label

    @property
    def pruned(self) -> bool:
        """Dropped by the margin."""
        return self.paccf is not None and self.paccf.eligible and not self.paccf.kept


def at_budget(search: Search, outcome: Outcome) -> Search:
    """The search as far as a smaller budget's outcome went. Final nodes are known of the largest budget only."""
    same = outcome.key == search.outcome.key
    return Search(outcome, search.frontiers[: outcome.frontiers], search.nodes if same else ())


def joined(native: Search, paccf: Search) -> Iterator[Line]:
    """All candidates of both arms, parents first, in the order of Native where it saw them. A path that was at several
    frontiers (a step may be judged before and after it is taken) stands once, as the first one has it."""
    sides = [_Arm(native), _Arm(paccf)]
    stack: list[tuple[Path, str]] = [((), "")]
    while stack:
        path, text = stack.pop()
        if path:
            found = [side.at(path) for side in sides]
            label = next((arm.labels[path] for arm in sides if path in arm.labels), None)
            yield Line(path, text, found[0], found[1], label)
        below: dict[Path, str] = {}
        for arm in sides:
            for key, candidate in arm.below.get(path, {}).items():
                below.setdefault((*path, key), candidate)
        stack += reversed(below.items())


class _Arm:
    """One search by path."""

    def __init__(self, search: Search) -> None:
        self.below: dict[Path, dict[str, str]] = {}  # key and text of what was ever proposed below a path
        self.candidates: dict[Path, tuple[Candidate, float | None]] = {}  # with the best score of its frontier
        self.labels: dict[Path, Label] = {}
        self.nodes = {node.path: node for node in search.nodes}
        for f in search.frontiers:
            there = self.below.setdefault(f.path, {})
            best = max((c.score for c in f.candidates if c.eligible and c.score is not None), default=None)
            for i, candidate in enumerate(f.candidates):
                path = (*f.path, candidate.key)
                self.candidates.setdefault(path, (candidate, best))
                there.setdefault(candidate.key, candidate.text)
                if f.protected is not None:
                    self.labels.setdefault(path, f.protected[i])

    def at(self, path: Path) -> Side | None:
        if path not in self.candidates:
            return None
        c, best = self.candidates[path]
        deficit = None if c.score is None or best is None or not c.eligible else best - c.score
        return Side(c.score, deficit, c.kept, c.eligible, self.nodes.get(path), path in self.below)


@dataclass(frozen=True, slots=True)
class Removal:
    """What pruning took away: roots, how many of them Native knew, the nodes it had there, and the pruned roots under
    which a solution was."""

    roots: int
    matched: int
    nodes: int
    scored: int
    protected: int


def removal(native: Search, lines: list[Line]) -> Removal:
    """The Native subtrees under what the margin dropped, overlapping ones once; nothing is guessed for a root that
    Native never had."""
    pruned = [line for line in lines if line.pruned]
    roots = {line.path for line in pruned}
    known = {node.path for node in native.nodes}

    def under(path: Path) -> bool:
        return any(path[:depth] in roots for depth in range(1, len(path) + 1))

    nodes = [path for path in known if path and under(path)]
    scored = sum(len(f.candidates) for f in native.frontiers if under(f.path))
    saved = sum(line.protected is True for line in pruned)
    return Removal(len(pruned), len(roots & known), len(nodes), scored, saved)
