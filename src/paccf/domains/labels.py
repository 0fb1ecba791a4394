"""Labels for a finished search: offline, and never anything that a search could read.

A label is true if the subtree of a candidate holds a valid completion, false if not, `None` if nobody could tell.
There are three ways to know, and each promises something else (see docs/labels.md):

- ``oracle``: the domain's exact oracle. True and false speak of what can be reached.
- ``found``: a completion that the verifier accepted lies under the candidate in this very search's tree. False says no
  more than that this search found none there: the target is what such searches find, not what there is.
- ``probed``: whether a probe that starts at the candidate, blind to scores, found one; see `probing`.

All take a finished search, so that solution information cannot reach one that is under way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from paccf.domains.oracles import Oracle, oracle_for
from paccf.record.values import Search
from paccf.search.trace import Trace
from paccf.search.tree import Action, Node, Path, Task, descendants
from paccf.search.world import World

Label = bool | None
Labels = list[tuple[Label, ...]]  # one tuple a frontier, in order of admission


# what has to be said of every figure that labels of a mode went into, promises and coverage alike
CAVEATS: dict[str, tuple[str, ...]] = {
    "found": (
        "labels are found: solution-bearing means that the labelled search itself found a completion below; of what it "
        "did not find nothing is promised, and coverage of the truth may be far lower",
    ),
    "probed": ("labels are probed: solution-bearing means that a probe which asks the proposer found a completion",),
}


class Place(NamedTuple):
    """An admitted frontier: the state it is at, the ``line`` of actions that led there, and its candidates."""

    state: Any
    line: tuple[Action, ...]
    actions: tuple[Action, ...]


def places(trace: Trace) -> list[Place]:
    """The frontiers of a search that has just ended, in order of admission."""
    expanded: dict[Path, tuple[Node, tuple[Action, ...]]] = {}
    stack: list[tuple[Path, tuple[Action, ...], Node]] = [((), (), trace.root)]
    while stack:
        path, line, node = stack.pop()
        expanded[path] = node, line
        for kid in node.kids or ():
            if kid.kids is not None and kid.action is not None:
                stack.append(((*path, kid.action.key), (*line, kid.action), kid))
    found = []
    for frontier in trace.frontiers:
        # a budget that ends inside an expansion ends it before admission, so an admitted frontier has its node
        node, line = expanded[frontier.path]
        assert node.outcome is not None
        found.append(Place(node.outcome.state, line, frontier.actions))
    return found


def recorded_places(search: Search, world: World, task: Task) -> list[Place]:
    """The frontiers of a recorded search, whose states come about anew: ``world`` and ``task`` have to be those of the
    search. Raises ValueError if they are not."""
    if task.id != search.outcome.key.task:
        raise ValueError(f"the record is of the task {search.outcome.key.task}, not of {task.id}")
    known: dict[Path, Place] = {}
    found = []
    for frontier in search.frontiers:
        path = frontier.path
        actions = tuple([_action(c.key, c.text) for c in frontier.candidates])
        if not path:
            place = Place(world.start(task).state, (), actions)
        else:
            before = known.get(path[:-1])
            for step in before.actions if before else ():
                if step.key == path[-1]:
                    break
            else:
                raise ValueError(f"the record of {task.id} has no frontier that leads to {' > '.join(path)}")
            assert before is not None
            place = Place(world.execute(task, before.state, step).state, (*before.line, step), actions)
        known[path] = place
        found.append(place)
    return found


_action = lru_cache(1 << 12)(Action)  # ours; the same few actions stand at many frontiers


def labels(
    finished: Trace | Search,
    mode: Literal["oracle", "found"],
    world: World,
    task: Task,
    oracle: Oracle | None = None,
) -> Labels:
    """The labels of a finished search, recorded or not. The ``oracle`` is by default the one that fits the world.
    Raises ValueError for a mode that needs what is not there."""
    frontiers = places(finished) if isinstance(finished, Trace) else recorded_places(finished, world, task)
    if mode == "oracle":
        return by_oracle(task, frontiers, oracle or oracle_for(world))
    if mode == "found":
        finds = accepted(finished, world) if isinstance(finished, Trace) else recorded_finds(finished, world, task)
        return by_finds(frontiers, finds)
    raise ValueError(f"there is no way of labelling called {mode!r} here: oracle or found; probing asks a model")


def protected(trace: Trace, oracle: Oracle) -> list[list[bool]]:
    """P(p) of every frontier of ``trace``, in order of admission: for each of its candidates, whether a solution can
    still be reached after it. Ineligible candidates are labelled too; who calibrates leaves them out."""
    return [[bool(p) for p in oracle.protected(trace.task, p.state, p.actions)] for p in places(trace)]


def by_oracle(task: Task, frontiers: Sequence[Place], oracle: Oracle) -> Labels:
    """Labels in the mode ``oracle``."""
    return [tuple([bool(label) for label in oracle.protected(task, p.state, p.actions)]) for p in frontiers]


def by_finds(frontiers: Sequence[Place], finds: Sequence[Path]) -> Labels:
    """Labels in the mode ``found``; ``finds`` are the paths of the accepted completions, see `accepted`."""
    below = {path[:depth] for path in finds for depth in range(1, len(path) + 1)}
    labels: Labels = []
    for place in frontiers:
        path = tuple([action.key for action in place.line])
        labels.append(tuple([(*path, action.key) in below for action in place.actions]))
    return labels


def accepted(trace: Trace, world: World) -> list[Path]:
    """The completions in a search's tree that are valid: by the verifier's word, or where a domain has no online
    verifier, by their utility of 1."""
    return [
        node.path
        for node in descendants(trace.root)
        if node.outcome is not None and is_valid(world, trace.task, node.actions, node.outcome)
    ]


def recorded_finds(search: Search, world: World, task: Task) -> list[Path]:
    """As `accepted`, for a recorded search. Raises ValueError for one whose tree was not kept."""
    if search.frontiers and not search.nodes:
        raise ValueError(f"the record of {task.id} has no tree: found labels are made at the largest budget")
    known = {path: action for place in recorded_places(search, world, task) for path, action in _steps(place)}
    found = []
    for node in search.nodes:
        if not node.terminal:
            continue
        line = [known[node.path[:depth]] for depth in range(1, len(node.path) + 1)]
        if node.solved or (node.solved is None and world.utility(task, line) >= 1):
            found.append(node.path)
    return found


def _steps(place: Place) -> Iterator[tuple[Path, Action]]:
    path = tuple([action.key for action in place.line])
    for action in place.actions:
        yield (*path, action.key), action


def is_valid(world: World, task: Task, line: Sequence[Action], outcome: Any) -> bool:
    """Whether ``line``, which ended in ``outcome``, is a valid completion."""
    if not outcome.terminal:
        return False
    return bool(outcome.solved) or (outcome.solved is None and world.utility(task, line) >= 1)
