"""Gross subtree accounting (Five-view efficiency accounting): what the matched Native trees held below pruned roots.

A PAC-CF-pruned root is an eligible candidate that the margin rejected in the PAC-CF arm. It is matched if the Native
search has a node at its path. With S the union of matched roots and their observed Native descendants,

    gross physical nodes   |S| / |Native nodes|
    gross virtual nodes    scored occurrences at frontiers in S / all Native scored occurrences.

A frontier is in S if its node is, so a directly pruned root's own scoring is not counted, and that of a pruned root
nested below another one is. Unmatched roots contribute nothing; their share is printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paccf.record.values import Frontier, Path


@dataclass(frozen=True, slots=True)
class Gross:
    """The accounting of one pair at one budget, in counts."""

    nodes: int  # Native nodes, the root apart
    suppressed: int  # of them in S
    occurrences: int  # Native scored candidate occurrences
    avoided: int  # of them strictly below matched pruned roots
    roots: int  # PAC-CF-pruned roots
    matched: int  # of them with a Native node


def pruned_roots(frontiers: Sequence[Frontier]) -> set[Path]:
    """The paths that the margin cut off in a PAC-CF arm."""
    return {(*f.path, c.key) for f in frontiers for c in f.candidates if c.eligible and c.gap is False and not c.kept}


def gross(native: Sequence[Frontier], paccf: Sequence[Frontier]) -> Gross:
    """The accounting of a Native trace against the PAC-CF trace of the same task at the same budget.

    Costs one step a candidate. Frontiers may come in any order; a path that stands twice is one node.
    """
    roots = pruned_roots(paccf)
    nodes: set[Path] = set()
    gone: set[Path] = set()
    occurrences = avoided = 0
    for frontier in sorted(native, key=_depth):
        path, inside = frontier.path, frontier.path in gone
        occurrences += len(frontier.candidates)
        if inside:
            avoided += len(frontier.candidates)
        for candidate in frontier.candidates:
            if candidate.kept:
                child = (*path, candidate.key)
                nodes.add(child)
                if inside or child in roots:
                    gone.add(child)
    return Gross(len(nodes), len(gone), occurrences, avoided, len(roots), len(roots & nodes))


def _depth(frontier: Frontier) -> int:
    return len(frontier.path)
