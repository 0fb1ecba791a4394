"""Labels for a finished search: offline, from the domain's oracle, and never anything that a search could read."""

from __future__ import annotations

from paccf.domains.oracles import Oracle
from paccf.search.trace import Trace
from paccf.search.tree import Node, Path, descendants


def protected(trace: Trace, oracle: Oracle) -> list[list[bool]]:
    """P(p) of every frontier of ``trace``, in order of admission: for each of its candidates, whether a solution can
    still be reached after it. Ineligible candidates are labelled too; who calibrates leaves them out.

    Takes a finished trace, so that solution information cannot reach a search that is still under way.
    """
    nodes: dict[Path, Node] = {node.path: node for node in descendants(trace.root) if node.kids is not None}
    labels = []
    for frontier in trace.frontiers:
        # a budget that ends inside an expansion ends it before admission, so an admitted frontier has its node
        outcome = nodes[frontier.path].outcome
        assert outcome is not None
        labels.append([bool(p) for p in oracle.protected(trace.task, outcome.state, frontier.actions)])
    return labels
