"""The Game of 24 as a `paccf.search.world.World`. It transforms and verifies; it does not know what is solvable."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paccf.domains.answers import read_scores
from paccf.domains.game24 import prompts
from paccf.domains.game24.expression import verify, written
from paccf.domains.game24.moves import Move, move_of, moves
from paccf.domains.game24.numbers import GOAL, State, text_of
from paccf.domains.game24.reading import read_moves
from paccf.search.effects import Channel
from paccf.search.tree import Action, Outcome, Task
from paccf.search.world import Reading

CARDS = 4
LARGEST = 13
SAMPLE = ("4 7 8 8", "8 / 8 = 1 (left: 1 4 7)\n8 - 7 = 1 (left: 1 4 8)")


def task_of(text: str) -> Task:
    """The task of a hand written like ``4 7 8 8`` or ``4-7-8-8``, in any order. Raises ValueError."""
    words = [word for word in re.split(r"[\s,;-]+", text.strip()) if word]
    numbers = [int(word) for word in words if re.fullmatch("[0-9]{1,4}", word)]
    if len(numbers) != len(words) or len(words) != CARDS or not all(1 <= n <= LARGEST for n in numbers):
        raise ValueError(f"{text!r:.80} is no hand: write four whole numbers from 1 to {LARGEST}, like '4 7 8 8'")
    return hand(numbers)


def hand(numbers: Sequence[int]) -> Task:
    """The task of these numbers. Its data is them in order, its id ``4-7-8-8``."""
    data = tuple(sorted(numbers))
    return Task("-".join(map(str, data)), data)


@dataclass(frozen=True, slots=True)
class Game24:
    """A state is the sorted tuple of the exact numbers left. An action combines two of them; its key names what is
    left then, so that two ways to the same numbers are one action."""

    name = "game24"
    horizon = CARDS - 1
    verified = True

    def start(self, task: Task) -> Outcome:
        state: State = task.data
        return Outcome(state, text_of(state))

    def legal(self, state: State) -> list[Action]:
        """All distinct legal actions, in an order that depends on the state alone."""
        return [move.action for move in moves(state).by_key.values()]

    def execute(self, task: Task, state: State, action: Action) -> Outcome:
        """Raises ValueError if ``action`` is not legal in ``state``."""
        after = move_of(state, action).after
        if len(after) > 1:
            return Outcome(after, action.key)
        return Outcome(after, action.key, terminal=True, solved=after[0] == GOAL)

    def utility(self, task: Task, actions: Sequence[Action]) -> float:
        """1 if the actions make 24 of the hand, by the verifier's word on the whole expression; else 0."""
        return float(verify(task.data, self.solution(task, actions)))

    def metrics(self, task: Task, actions: Sequence[Action]) -> Mapping[str, float]:
        return {}

    def verify(self, task: Task, expression: str) -> bool:
        """Whether ``expression`` is a solution: each number of the hand once, exactly 24. Safe for any text."""
        return verify(task.data, expression)

    def solution(self, task: Task, actions: Sequence[Action]) -> str:
        return written(task.data, self._replay(task, actions))

    def _replay(self, task: Task, actions: Sequence[Action]) -> list[Move]:
        state: State = task.data
        made = []
        for action in actions:
            made.append(move_of(state, action))
            state = made[-1].after
        return made

    def propose(self, task: Task, state: State, k: int, notes: Sequence[str]) -> str:
        return prompts.propose(task.data, state, k, notes)

    def read_proposals(self, task: Task, state: State, text: str) -> Reading:
        return read_moves(state, text)

    def evaluate(
        self,
        task: Task,
        state: State,
        actions: Sequence[Action],
        channel: Channel,
        notes: Sequence[str],
        outcomes: Sequence[Outcome] | None,
    ) -> str:
        """The outcomes add nothing: a move's text says what it leaves."""
        return prompts.evaluate(task.data, state, actions, channel, notes)

    def read_scores(self, text: str, count: int) -> list[float | None]:
        return read_scores(text, count)

    def reflect(self, task: Task, actions: Sequence[Action]) -> str:
        return prompts.reflect(task.data, actions)


make = Game24
