"""Which states can still reach the goal in the steps that are left: exact, by breadth-first search backwards from all
states that hold the goal. For labels after a search, and for the simulated model.

For this, blocks are numbers and a state is a row of bytes, what each block is on, so that one graph of all states
serves every problem of as many blocks. It is written without the operators' preconditions; tests compare the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from paccf.domains.blocksworld.blocks import HAND, TABLE, places
from paccf.domains.blocksworld.moves import State, after, described, moves
from paccf.domains.blocksworld.strips import Atoms, Problem, apply
from paccf.search.tree import Action, Task

MOST_BLOCKS = 7  # ours: 65,990 states, about a second; 8 blocks have 695,417, and 50 more than 10^77
FAR = 255  # no state is so far: a plan of 4 steps a block always does


class TooManyBlocks(ValueError):
    """Exact distances were asked for where there are too many states."""


def too_many(count: int) -> str:
    """Why nothing exact is known of ``count`` blocks."""
    return (
        f"{count} blocks: exact distances go through all states, and that is done for at most {MOST_BLOCKS} blocks; "
        "their searches can be labelled by what they found, or by probing"
    )


def states(count: int) -> dict[bytes, int]:
    """All states of ``count`` blocks, numbered. Entry i is the block that block i is on, ``count`` for the table,
    ``count + 1`` for the hand."""
    found = {bytes([count] * count): 0}
    queue = list(found)
    for state in queue:
        for other in neighbours(state):
            if other not in found:
                found[other] = len(found)
                queue.append(other)
    return found


def neighbours(state: bytes) -> Iterator[bytes]:
    """The states one step away. Every step can be taken back at once, so they are also those it is one step from."""
    table, hand = len(state), len(state) + 1
    clear = [block for block in range(table) if block not in state and state[block] != hand]
    held = state.find(hand)
    moved = bytearray(state)
    if held < 0:
        for block in clear:
            moved[block] = hand
            yield bytes(moved)
            moved[block] = state[block]
    else:
        for place in (*clear, table):
            moved[held] = place
            yield bytes(moved)


@lru_cache(maxsize=MOST_BLOCKS)
def graph(count: int) -> tuple[dict[bytes, int], list[list[int]]]:
    """The states of ``count`` blocks and, by their numbers, the neighbours of each."""
    found = states(count)
    return found, [[found[other] for other in neighbours(state)] for state in found]


class Distances:
    """Steps from every state of ``objects`` to the nearest one that holds ``goal``."""

    __slots__ = ("_far", "_index", "_number")

    def __init__(self, objects: tuple[str, ...], goal: Atoms) -> None:
        """Raises `TooManyBlocks`."""
        count = len(objects)
        if count > MOST_BLOCKS:
            raise TooManyBlocks(too_many(count))
        self._number = {block: i for i, block in enumerate(objects)} | {TABLE: count, HAND: count + 1}
        self._index, neighbour = graph(count)
        wanted = [(self._number[block], self._number[below]) for block, below in places(goal).items()]
        clear = [self._number[atom[1]] for atom in goal if atom[0] == "clear"]
        empty = ("handempty",) in goal
        far = bytearray([FAR]) * len(self._index)
        queue = [
            number
            for state, number in self._index.items()
            if all(state[block] == below for block, below in wanted)
            and not (empty and count + 1 in state)
            and not any(block in state or state[block] == count + 1 for block in clear)
        ]
        for number in queue:
            far[number] = 0
        for number in queue:
            step = far[number] + 1
            for other in neighbour[number]:
                if far[other] == FAR:
                    far[other] = step
                    queue.append(other)
        self._far = bytes(far)

    def of(self, atoms: Atoms) -> int:
        """How far the state ``atoms`` is from the goal."""
        row = bytearray(len(self._number) - 2)
        for atom in atoms:
            if atom[0] == "on":
                row[self._number[atom[1]]] = self._number[atom[2]]
            elif atom[0] == "ontable":
                row[self._number[atom[1]]] = len(row)
            elif atom[0] == "holding":
                row[self._number[atom[1]]] = len(row) + 1
        return self._far[self._index[bytes(row)]]


@lru_cache(maxsize=1024)  # ours: a byte a state; one search asks about one goal
def distances(objects: tuple[str, ...], goal: Atoms) -> Distances:
    """As `Distances`, remembered."""
    return Distances(objects, goal)


@lru_cache(maxsize=1 << 14)  # ours: some 500 bytes each
def _ahead(objects: tuple[str, ...], goal: Atoms, atoms: Atoms) -> dict[str, int]:
    """The distance after each legal action of the state ``atoms``, by the action's key."""
    known = distances(objects, goal)
    return {key: known.of(apply(move.step, atoms)) for key, move in moves(atoms).items()}


@dataclass(frozen=True, slots=True)
class Oracle:
    """Knows every distance to the goal. Refuses more blocks than `MOST_BLOCKS` with `TooManyBlocks`."""

    horizon: int = 16

    def refuses(self, task: Task) -> str | None:
        """Why nothing exact can be known of ``task``; `None` if it can."""
        count = len(task.data.objects)
        return too_many(count) if count > MOST_BLOCKS else None

    def distance(self, task: Task, atoms: Atoms) -> int:
        """Steps from ``atoms`` to the nearest state that holds the goal."""
        problem: Problem = task.data
        return distances(problem.objects, problem.goal).of(atoms)

    def protected(self, task: Task, state: State, actions: Sequence[Action]) -> list[bool]:
        """For each action, whether the goal can be reached after it in the steps that are left then: d(child) <= H -
        depth(child)."""
        problem: Problem = task.data
        ahead = _ahead(problem.objects, problem.goal, state.atoms)
        try:
            return [ahead[action.key] < state.left for action in actions]
        except KeyError as error:
            raise ValueError(f"{error.args[0]!r:.80} is not legal where {described(state.atoms)}") from None

    def value(self, task: Task, state: State, depth: int) -> float:
        """The share of spare steps, (left + 1 - d) / (left + 1): 1 at the goal, above 0 while it can be reached in
        time, else 0. The state knows the steps that are left, so ``depth`` adds nothing."""
        far = self.distance(task, state.atoms)
        return max(0.0, 1 - far / (state.left + 1))

    def solution(self, task: Task) -> list[Action] | None:
        """A shortest plan, the first in order of actions; `None` if it is longer than the horizon."""
        atoms: Atoms = task.data.init
        far = self.distance(task, atoms)
        if far > self.horizon:
            return None
        plan: list[Action] = []
        while far:
            far -= 1
            move = next(m for m in moves(atoms).values() if self.distance(task, after(atoms, m.action)) == far)
            plan.append(move.action)
            atoms = after(atoms, move.action)
        return plan

    def facts(self, task: Task) -> Mapping[str, object]:
        """What `paccf solve` says beside the protected actions."""
        named = {"instance": task.data.name} if task.data.name else {}
        return {**named, "distance": self.distance(task, task.data.init), "horizon": self.horizon}


make = Oracle
