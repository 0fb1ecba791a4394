"""The world: online. It transforms, asks, reads and verifies, and does not know what can be solved."""

import re
from dataclasses import dataclass

from paccf.domains.answers import listed_lines, read_scores
from paccf.search.tree import Action, Outcome, Task
from paccf.search.world import Reading

STEPS = {"double": lambda n: 2 * n, "add three": lambda n: n + 3, "take one": lambda n: n - 1}
ACTIONS = {key: Action(key, key) for key in STEPS}
SAMPLE = ("2 to 25", "double\nadd three")  # a task as one writes it, and an answer that proposes legal actions in it


def task_of(text):
    """The task that ``text`` writes out; its id is the same for equal tasks. ValueError says how to write one."""
    match = re.fullmatch(r"\s*(\d{1,3})[ -]to[ -](\d{1,3})\s*", text)
    if match is None or match[1] == match[2]:
        raise ValueError(f"{text!r:.60} is no task: write two different numbers, like '2 to 25'")
    start, goal = int(match[1]), int(match[2])
    return Task(f"{start}-to-{goal}", (start, goal))


def legal(state):
    """The actions that keep a number between 0 and 999."""
    return [ACTIONS[key] for key, step in STEPS.items() if 0 <= step(state[0]) <= 999]


@dataclass(frozen=True)
class Counting:
    """A state is the number and the steps that are left. The fields are the settings: a margin is bound to them."""

    horizon: int = 6
    name = "counting"
    verified = True  # a terminal state carries the verifier's word

    def start(self, task):
        return Outcome((task.data[0], self.horizon), task.data[0])

    def execute(self, task, state, action):
        if action not in legal(state):
            raise ValueError(f"{action.key!r:.40} is not legal at {state[0]}")
        number, left = STEPS[action.key](state[0]), state[1] - 1
        solved = number == task.data[1]
        ended = solved or not left
        return Outcome((number, left), number, terminal=ended, solved=solved if ended else None)

    def utility(self, task, actions):
        outcome = self.start(task)
        for action in actions:
            outcome = self.execute(task, outcome.state, action)
        return float(bool(outcome.solved))

    def metrics(self, task, actions):
        return {"steps": float(len(actions))}

    def solution(self, task, actions):
        return ", ".join(action.text for action in actions)

    # what a model is asked, and how its answers are read: a foreign text never raises, and is never evaluated

    def _situation(self, task, state, notes):
        lessons = "".join(f"Lesson: {note}\n" for note in notes)
        return f"Reach {task.data[1]} from {state[0]} in at most {state[1]} steps.\n{lessons}"

    def propose(self, task, state, k, notes):
        said = f"Name up to {k} different next steps, one a line, of: {', '.join(STEPS)}."
        return self._situation(task, state, notes) + said

    def read_proposals(self, task, state, text):
        said = [line.lower().strip(" -*.") for line in listed_lines(text)]
        known = [ACTIONS[line] for line in said if line in ACTIONS]
        found = [action for action in known if action in legal(state)]
        return Reading(tuple(found), illegal=len(known) - len(found), unparsable=len(said) - len(known))

    def evaluate(self, task, state, actions, channel, notes, outcomes):
        lines = [f"{i}. {action.text}: {STEPS[action.key](state[0])}" for i, action in enumerate(actions, 1)]
        said = f"How likely does each step ({channel}) lead there, 0 to 100? A JSON list of {len(lines)} numbers:"
        return "\n".join([self._situation(task, state, notes) + said, *lines])

    def read_scores(self, text, count):
        return read_scores(text, count)

    def reflect(self, task, actions):
        return f"{task.id}: {self.solution(task, actions)} failed. What should be done differently? One sentence."


make = Counting  # called with the settings
