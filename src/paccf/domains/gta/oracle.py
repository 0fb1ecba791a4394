"""Which calls stay consistent with the recorded plan. For labels after a search, and for the simulated model.

- ``prefix`` (the rule): the steps so far and the call are a beginning of the recorded plan; ``finish`` is protected
  just behind all of it.
- ``multiset``: every step so far is a recorded call, none of them twice, and so is the call, in any order; ``finish``
  when all of them were made.

``match="tool"`` compares tools alone, which relaxes both rules: what differs in words only then counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from paccf.domains.gta.calls import FINISH, Call, call_of
from paccf.domains.gta.records import Problem
from paccf.domains.gta.world import State
from paccf.search.tree import Action, Task

Rule = Literal["prefix", "multiset"]
Match = Literal["call", "tool"]


@dataclass(frozen=True, slots=True)
class GtaOracle:
    """Exact knowledge, by one of the rules."""

    rule: Rule = "prefix"
    match: Match = "call"

    def __post_init__(self) -> None:
        if self.rule not in ("prefix", "multiset") or self.match not in ("call", "tool"):
            raise ValueError(
                f'rule is "prefix" or "multiset", match is "call" or "tool"; not {self.rule!r}, {self.match!r}'
            )

    def protected(self, task: Task, state: State, actions: Sequence[Action]) -> list[bool]:
        """For each action, whether the plan with it can still become the recorded one."""
        due = self.due(task.data, [step.call for step in state])
        if self.match == "call":
            return [action.key in due for action in actions]
        return [call_of(action).tool in due for action in actions]

    def due(self, problem: Problem, made: Sequence[Call]) -> frozenset[str]:
        """What may come next, by name; nothing if the steps made are not consistent."""
        names = [self._name(call) for call in made]
        gold = [self._name(call) for call in problem.gold.calls]
        if self.rule == "prefix":
            if names != gold[: len(names)]:
                return frozenset()
            return frozenset([gold[len(names)] if len(names) < len(gold) else FINISH])
        left = Counter(gold)
        left.subtract(names)
        if any(count < 0 for count in left.values()):
            return frozenset()
        return frozenset(name for name, count in left.items() if count > 0) or frozenset([FINISH])

    def value(self, task: Task, state: State, depth: int) -> float:
        """1 if the plan so far can still become the recorded one, else 0."""
        made = [step.call for step in state]
        if made and made[-1].tool == FINISH:
            return float(FINISH in self.due(task.data, made[:-1]))
        return float(bool(self.due(task.data, made)))

    def solution(self, task: Task) -> Sequence[Action]:
        """The recorded plan."""
        return [call.action for call in (*task.data.gold.calls, Call(FINISH))]

    def facts(self, task: Task) -> Mapping[str, object]:
        """What is recorded about the task."""
        problem: Problem = task.data
        gold = problem.gold
        return {
            "request": problem.query,
            "files": list(problem.files),
            "recorded calls": [call.line for call in gold.calls],
            "recorded answer": gold.answer,
            "protected by": f"the {self.rule} rule, equal {self.match}s",
        }

    def _name(self, call: Call) -> str:
        return call.key if self.match == "call" else call.tool


def make(rule: Rule = "prefix", match: Match = "call") -> GtaOracle:
    return GtaOracle(rule, match)
