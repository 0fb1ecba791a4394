"""What can still be solved: for labels after a search has ended. No search can reach this module."""

from dataclasses import dataclass
from functools import cache

from counting.world import STEPS, Counting, legal


@cache
def reaches(number, left, goal):
    """Whether ``goal`` can be reached from ``number`` in ``left`` steps."""
    if number == goal:
        return True
    return left > 0 and any(reaches(STEPS[a.key](number), left - 1, goal) for a in legal((number, left)))


@dataclass(frozen=True)
class Oracle:
    horizon: int

    def protected(self, task, state, actions):
        return [reaches(STEPS[a.key](state[0]), state[1] - 1, task.data[1]) for a in actions]

    def value(self, task, state, depth):
        return float(reaches(*state, task.data[1]))

    def solution(self, task):  # optional, for `paccf solve`
        world = Counting(self.horizon)
        outcome, line = world.start(task), []
        while not outcome.solved and not outcome.terminal:
            good = [a for a in legal(outcome.state) if self.protected(task, outcome.state, [a])[0]]
            if not good:
                return None
            line.append(good[0])
            outcome = world.execute(task, outcome.state, good[0])
        return line


def make(horizon=6):
    return Oracle(horizon)
