"""What the simulated model has to know in order to distort it. Every output that comes of it says SIMULATED."""

from counting.oracle import make as oracle
from counting.world import STEPS, legal


class Truth:
    def __init__(self, horizon):
        self.oracle = oracle(horizon)

    def key(self, state):
        return f"{state[0]} {state[1]}"

    def legal(self, task, state):
        return legal(state)

    def value(self, task, state, action):
        return self.oracle.value(task, (STEPS[action.key](state[0]), state[1] - 1), 0)

    def wrong(self, task, state, action):  # read as illegal
        return next((key for key in STEPS if key not in {a.key for a in legal(state)}), "halve")

    def garbled(self, task, state, action):  # not to be read at all
        return f"{action.text} or so"


def make(horizon=6):
    return Truth(horizon)
