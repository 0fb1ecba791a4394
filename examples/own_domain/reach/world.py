"""States, actions, prompts, readers and the verifier. No file that a search uses may know what is solvable."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from paccf.domains.answers import read_scores
from paccf.search.effects import Channel
from paccf.search.tree import Action, Outcome, Task
from paccf.search.world import Reading

STEPS: dict[str, Callable[[int], int]] = {
    "double": lambda n: 2 * n,
    "add": lambda n: n + 7,
    "subtract": lambda n: n - 3,
    "halve": lambda n: n // 2,
}
State = tuple[int, int]  # the number, and how many steps are left
SAMPLE = ("3 to 20 in 5", "double: 3 -> 6\nadd: 3 -> 10")  # a task, and an answer that proposes legal actions in it


def task_of(text: str) -> Task:
    """What people write for a task. Raises ValueError that shows how."""
    found = re.fullmatch(r"\s*(\d{1,4})[- ]to[- ](\d{1,4})[- ]in[- ](\d)\s*", text)
    if found is None:
        raise ValueError(f"{text!r:.80} is no task: write it like '3 to 20 in 5'")
    start, target, steps = map(int, found.groups())
    return Task(f"{start}-to-{target}-in-{steps}", (start, target, steps))


def action(name: str, n: int) -> Action:
    return Action(name, f"{name}: {n} -> {STEPS[name](n)}")


def after(state: State, name: str) -> State:
    return STEPS[name](state[0]), state[1] - 1


@dataclass(frozen=True, slots=True)
class Reach:
    """Its fields are its settings (`--world bound=500`), and part of what a margin is matched to."""

    bound: int = 1000  # a number beyond it ends the game
    name = "reach"
    horizon = 9
    verified = True

    def start(self, task: Task) -> Outcome:
        start, _, steps = task.data
        return Outcome((start, steps), (start, steps))

    def execute(self, task: Task, state: State, action: Action) -> Outcome:
        new = n, left = after(state, action.key)
        solved = n == task.data[1]
        return Outcome(new, new, True, solved) if solved or not left or abs(n) > self.bound else Outcome(new, new)

    def utility(self, task: Task, actions: Sequence[Action]) -> float:
        found = self.start(task)
        for step in actions:
            found = self.execute(task, found.state, step)
        return float(found.solved is True)

    def metrics(self, task: Task, actions: Sequence[Action]) -> Mapping[str, float]:
        return {}

    def solution(self, task: Task, actions: Sequence[Action]) -> str:
        return ", ".join(step.text for step in actions)

    def propose(self, task: Task, state: State, k: int, notes: Sequence[str]) -> str:
        return (
            f"Reach {task.data[1]} from {state[0]} in {state[1]} steps. Steps: double, add (7), subtract (3), halve "
            f"(rounded down).\nName up to {k} next steps, one a line, like 'double: 3 -> 6'.\n" + "\n".join(notes)
        )

    def read_proposals(self, task: Task, state: State, text: str) -> Reading:
        """Models say anything: what is illegal or cannot be read is counted, and never raises."""
        legal, illegal, unparsable = [], 0, 0
        for line in filter(str.strip, text.splitlines()):
            found = re.match(r"\W*(\w+)\s*:\s*(-?\d{1,9})\s*->\s*(-?\d{1,9})\s*$", line)
            if found is None:
                unparsable += 1
            elif found[1] in STEPS and line.strip().endswith(action(found[1], state[0]).text):
                legal.append(action(found[1], state[0]))
            else:
                illegal += 1
        return Reading(tuple(legal), illegal, unparsable)

    def evaluate(
        self,
        task: Task,
        state: State,
        actions: Sequence[Action],
        channel: Channel,
        notes: Sequence[str],
        outcomes: Sequence[Outcome] | None,
    ) -> str:
        asked = {"child": "promising each step is", "pre": "useful each step looks", "post": "useful each step was"}
        steps = "\n".join(f"{i}. {step.text}" for i, step in enumerate(actions, 1))
        return (
            f"Reach {task.data[1]} from {state[0]} in {state[1]} steps. Say how {asked.get(channel, 'good this is')}, "
            f"0 to 100, as a JSON list.\n{steps}\n" + "\n".join(notes)
        )

    def read_scores(self, text: str, count: int) -> list[float | None]:
        return read_scores(text, count)

    def reflect(self, task: Task, actions: Sequence[Action]) -> str:
        return f"Reach {task.data[1]} from {task.data[0]}: why did {self.solution(task, actions)} fail? One sentence."


make = Reach
