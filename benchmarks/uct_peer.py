"""Whether our UCT-MCTS walks the paths that llm-reasoners' MCTS walks, on random trees.

A tree has three actions a state and five steps, random scores, no verifier. llm-reasoners is set to
what ours takes from others: the constant of Kocsis and Szepesvari, unvisited children first, and as the return of a
path its mean reward, which is what ours backs up where nobody verifies. Paths are compared in order, until
llm-reasoners walks a finished one again, which ours never does.

    python benchmarks/uct_peer.py --trees 300
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from measure import Table, emit
from paccf.search.chance import chance
from paccf.search.controllers import controller
from paccf.search.driver import run, search
from paccf.search.scoring import Scoring
from paccf.search.tree import Action, Outcome, Task
from paccf.search.world import Answer, Reading, Request
from search_overhead import llm_reasoners

BRANCHING, HORIZON = 3, 5  # 243 paths a tree
ACTIONS = tuple(Action(str(i), str(i)) for i in range(BRANCHING))


def score(tree: int, state: str) -> float:
    """0 to 100, three decimals."""
    return round(100 * chance(tree, state), 3)


@dataclass
class Random:
    """The tree as a world, which notes the paths that end in it, and as its own model."""

    tree: int
    ends: list[str] = field(default_factory=list)
    horizon: int = HORIZON
    verified: bool = False
    name: str = "random"

    def start(self, task: Task) -> Outcome:
        return Outcome("", "")

    def execute(self, task: Task, state: str, action: Action) -> Outcome:
        new = state + action.key
        if len(new) == HORIZON:
            self.ends.append(new)
        return Outcome(new, new, len(new) == HORIZON)

    def utility(self, task: Task, actions: Sequence[Action]) -> float:
        return 0.0

    def propose(self, task: Task, state: str, k: int, notes: Sequence[str]) -> str:
        return ""

    def read_proposals(self, task: Task, state: str, text: str) -> Reading:
        return Reading(ACTIONS)

    def evaluate(self, task: Task, state: str, actions: Sequence[Action], *rest: Any) -> str:
        return json.dumps([score(self.tree, state + action.key) for action in actions])

    def read_scores(self, text: str, count: int) -> list[float | None]:
        return list(json.loads(text))

    def answer(self, request: Request) -> Answer:
        return Answer(request.prompt)


def ours(tree: int) -> list[str]:
    """The paths in order, every one once."""
    world: Any = Random(tree)
    run(search(Task("t", None), world, controller("uct"), budget=10**6, scoring=Scoring(1)), world)
    return list(world.ends)


def theirs(tree: int) -> list[str]:
    """The paths in order, until one comes again."""

    class World:
        def init_state(self) -> str:
            return ""

        def step(self, state: str, action: str) -> tuple[str, dict[str, Any]]:
            return state + action, {}

        def is_terminal(self, state: str) -> bool:
            return len(state) == HORIZON

    class Config:
        def get_actions(self, state: str) -> list[str]:
            return [action.key for action in ACTIONS]

        def fast_reward(self, state: str, action: str) -> tuple[float, dict[str, Any]]:
            return score(tree, state + action) / 100, {}

        def reward(self, state: str, action: str, **_: Any) -> tuple[float, dict[str, Any]]:
            return self.fast_reward(state, action)

    MCTS = llm_reasoners().MCTS

    class Noted(MCTS):  # type: ignore[misc,valid-type]
        def _back_propagate(self, path: list[Any]) -> float:
            value = sum(node.reward for node in path[1:]) / HORIZON
            for node in path:
                node.cum_rewards.append(value)
            return value

    algorithm = Noted(
        depth_limit=HORIZON,
        n_iters=0,
        w_exp=math.sqrt(2),
        uct_with_fast_reward=False,
        output_strategy="last_iter",
    )
    algorithm(World(), Config())  # makes the root
    ends: list[str] = []
    while True:
        end = "".join(node.action for node in algorithm.iterate(algorithm.root)[1:])
        if end in ends:
            return ends
        ends.append(end)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    asked.add_argument("--trees", type=int, default=300)
    asked.add_argument("--json", action="store_true")
    options = asked.parse_args()
    alike, compared, all_of_them = 0, 0, 0
    for tree in range(options.trees):
        mine, other = ours(tree), theirs(tree)
        alike += mine[: len(other)] == other
        compared += len(other)
        all_of_them += len(mine) == len(set(mine)) == BRANCHING**HORIZON
    row = {
        "trees": options.trees,
        "walked alike": alike,
        "paths compared a tree": compared / options.trees,
        "trees that ours walks whole": all_of_them,
    }
    note = "Alike: the same paths in the same order, until llm-reasoners walks a finished one again."
    emit([Table("UCT-MCTS beside llm-reasoners' MCTS", note, [row])], options.json)


if __name__ == "__main__":
    main()
