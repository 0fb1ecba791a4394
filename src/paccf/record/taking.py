"""A finished search as the values that the record keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from paccf.record import values
from paccf.search import trace as live
from paccf.search.meter import Bill
from paccf.search.tree import Action, Node, Path
from paccf.search.world import World


def taken(
    trace: live.Trace,
    key: values.Key,
    world: World,
    *,
    metrics: Mapping[str, float] | None = None,
    sent: int = 0,
    effects: Sequence[str] = (),
    asked: Sequence[bytes] = (),
) -> values.Search:
    """``trace`` as values. ``metrics`` are the domain's further utilities; by default what ``world.metrics`` says, if
    it has such a method. ``sent`` are the attempts that went over the wire for it; ``effects`` and ``asked`` are those
    of its `Journal`."""
    actions = [] if trace.answer is None else trace.answer.actions
    solution = "" if trace.answer is None else world.solution(trace.task, actions)
    if metrics is None:
        metrics = _metrics(world, trace, actions)
    outcome = values.Outcome(
        key,
        trace.reason,
        trace.solved,
        float(trace.utility),
        None if trace.answer is None else trace.answer.path,
        solution,
        costs(trace.bill, sent),
        len(trace.frontiers),
        trace.failure,
        metrics,
    )
    return values.Search(
        outcome, tuple(map(frontier, trace.frontiers)), tuple(nodes(trace.root)), tuple(effects), tuple(asked)
    )


def _metrics(world: World, trace: live.Trace, actions: Sequence[Action]) -> Mapping[str, float]:
    further: Any = getattr(world, "metrics", None)
    found: Mapping[str, float] = {} if further is None else further(trace.task, actions)
    return found


def costs(bill: Bill, sent: int = 0) -> values.Costs:
    return values.Costs(
        {kind: bill.requests[kind] for kind in sorted(bill.requests)},
        bill.prompt_tokens,
        bill.completion_tokens,
        bill.unknown_tokens,
        bill.nodes,
        bill.expansions,
        bill.scored,
        bill.illegal,
        bill.unparsable,
        bill.malformed,
        bill.unscored,
        sent,
    )


def frontier(f: live.Frontier) -> values.Frontier:
    eligible, native, kept = set(f.eligible), set(f.native), set(f.kept)
    gap = None if f.gap is None else set(f.gap)
    candidates = [
        values.Candidate(
            action.key,
            action.text,
            f.observations[i],
            f.scores[i],
            i in eligible,
            i in native,
            None if gap is None else i in gap,
            i in kept,
        )
        for i, action in enumerate(f.actions)
    ]
    return values.Frontier(f.path, f.channel, tuple(candidates), f.spent)


def nodes(root: Node) -> Iterator[values.Node]:
    """The tree, parents first, siblings in order. Takes time in proportion to it, however deep it is."""
    stack: list[tuple[Node, Path]] = [(root, ())]
    while stack:
        node, path = stack.pop()
        done = node.outcome
        yield values.Node(
            path,
            node.score,
            node.visits,
            node.q,
            done is not None,
            done is not None and done.terminal,
            None if done is None else done.solved,
            node.dead,
            node.pruned,
        )
        for kid in reversed(node.kids or ()):
            assert kid.action is not None
            stack.append((kid, (*path, kid.action.key)))
