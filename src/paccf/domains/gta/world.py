"""GTA as a `paccf.search.world.World`: tools are called, and nobody says online whether that helped.

The tools are not run: the tool environment gives the recorded output of a call that equals a recorded one, and for
every other says that nothing was recorded. This is planning only. Where an output is shown, it tells that the call is
a recorded one; that is the price of an environment that needs no images and no models of its own.

There is no verifier. A search returns the plan that its controller values most; utility and metrics compare it with
the recorded plan once the search has ended.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from paccf.domains.answers import read_scores
from paccf.domains.gta import measures, prompts
from paccf.domains.gta.calls import FINISH, FINISH_CARD, Call, Card, by_name, call_of, problem_with
from paccf.domains.gta.cards import CARDS
from paccf.domains.gta.prompts import Asked, Done
from paccf.domains.gta.reading import read_calls
from paccf.domains.gta.records import DataError, Output, Problem, merged, named, parsed, read_card, read_problem
from paccf.search.effects import Channel
from paccf.search.tree import Action, Outcome, Task
from paccf.search.world import Reading

LEAK = (
    "the tools that the task declares were offered, which gives away the recorded plan's tools: a leak; "
    "compare with no result of all tools"
)
KNOWN = {"tools": ("all", "declared"), "rule": ("prefix", "multiset"), "match": ("call", "tool")}


@dataclass(frozen=True, slots=True)
class NotRecorded:
    """What the tool environment says to a call that has no recorded output."""

    def __str__(self) -> str:
        return "(not recorded: this call was not made when the tools' outputs were recorded)"


@dataclass(frozen=True, slots=True)
class Step:
    """A call that was made, and what came of it; `None` for ``finish``."""

    call: Call
    output: Output | NotRecorded | None

    @property
    def observation(self) -> str:
        """The output in words."""
        if isinstance(self.output, Output):
            return self.output.content if self.output.type == "text" else f"image {self.output.content}"
        return str(self.output or "")


State = tuple[Step, ...]


def task_of(text: str) -> Task:
    """The task of one record in the JSON of GTA's ``dataset.json``, with our own cards for the fourteen tools. Raises
    `DataError`, which is a ValueError, that names the place in it."""
    if not text.lstrip().startswith("{"):
        raise DataError(f"{text!r:.60} is no task: write one in the JSON of a record of GTA's dataset.json")
    record = parsed(text, "task")
    variants = [read_card(tool) for tool in record.at("tools").items()]
    return named(read_problem(record, merged(CARDS, variants)))


def environment(problem: Problem, call: Call) -> Output | NotRecorded:
    """The tool environment: the recorded output of an equal call."""
    return _recorded(problem).get(call.key) or NotRecorded()


@lru_cache(1024)  # ours: a run has some hundred problems
def _recorded(problem: Problem) -> Mapping[str, Output]:
    gold = problem.gold
    return {call.key: output for call, output in zip(gold.calls, gold.outputs, strict=True) if output is not None}


@lru_cache(1024)
def _offered(problem: Problem, tools: str) -> Mapping[str, Card]:
    cards = [card for card in problem.cards if tools == "all" or card.name in problem.declared]
    return by_name([*cards, FINISH_CARD])


@lru_cache(1024)
def _shown(problem: Problem, tools: str) -> str:
    return prompts.tools(_offered(problem, tools).values())


@dataclass(frozen=True, slots=True)
class Gta:
    """A state is the steps so far. ``tools``: "all" offers every tool; "declared" those that the task's record lists,
    which leaks the recorded plan and says so in every result. ``rule`` and ``match`` are the oracle's, for labels; the
    world has no use for them, but a margin is bound to them as to its other settings."""

    horizon: int = 10  # steps, finish included; ToolTree's configuration for GTA
    tools: Literal["all", "declared"] = "all"
    rule: Literal["prefix", "multiset"] = "prefix"
    match: Literal["call", "tool"] = "call"
    name = "gta"
    verified = False

    def __post_init__(self) -> None:
        for name, known in KNOWN.items():
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is {' or '.join(known)}, not {getattr(self, name)!r:.40}")
        if not isinstance(self.horizon, int) or self.horizon < 1:
            raise ValueError(f"the horizon is a number of steps, 1 or more, not {self.horizon!r:.40}")

    @property
    def caveats(self) -> tuple[str, ...]:
        """What has to stand beside every result of this world."""
        return () if self.tools == "all" else (LEAK,)

    def start(self, task: Task) -> Outcome:
        return Outcome((), ())

    def offered(self, task: Task) -> Mapping[str, Card]:
        """The tools on offer by name, ``finish`` among them."""
        return _offered(task.data, self.tools)

    def execute(self, task: Task, state: State, action: Action) -> Outcome:
        """Raises ValueError if ``action`` is no legal call."""
        call = call_of(action)
        if reason := problem_with(call, self.offered(task)):
            raise ValueError(f"no legal call: {reason}")
        key = (*(step.call.key for step in state), call.key)
        if call.tool == FINISH:
            return Outcome((*state, Step(call, None)), key, terminal=True)
        step = Step(call, environment(task.data, call))
        return Outcome((*state, step), key, observation=step.observation)

    def utility(self, task: Task, actions: Sequence[Action]) -> float:
        """Avg3 of the plan, in canonical form. 0 to 1, a mean and no success."""
        plan = [call for call in map(call_of, actions) if call.tool != FINISH]
        return measures.avg3(plan, task.data.gold.calls)

    def metrics(self, task: Task, actions: Sequence[Action]) -> Mapping[str, float]:
        """The parts of Avg3, its strict variant, GTA's own figures; ``declared_tools`` if those were all on offer."""
        found = measures.metrics([call_of(action) for action in actions], task.data.gold)
        return found | {"declared_tools": 1.0} if self.tools == "declared" else found

    def solution(self, task: Task, actions: Sequence[Action]) -> str:
        plan = " -> ".join(call_of(action).line for action in actions) or "(no call)"
        return f"[LEAK: only declared tools offered] {plan}" if self.tools == "declared" else plan

    def propose(self, task: Task, state: State, k: int, notes: Sequence[str]) -> str:
        return prompts.propose(self._asked(task), _done(state), k, self.horizon - len(state), notes)

    def read_proposals(self, task: Task, state: State, text: str) -> Reading:
        return read_calls(text, self.offered(task), {step.call.key for step in state})

    def evaluate(
        self,
        task: Task,
        state: State,
        actions: Sequence[Action],
        channel: Channel,
        notes: Sequence[str],
        outcomes: Sequence[Outcome] | None,
    ) -> str:
        outputs = None if outcomes is None else [outcome.observation for outcome in outcomes]
        calls = [action.text for action in actions]
        return prompts.evaluate(self._asked(task), _done(state), calls, outputs, channel, notes)

    def read_scores(self, text: str, count: int) -> list[float | None]:
        return read_scores(text, count)

    def reflect(self, task: Task, actions: Sequence[Action]) -> str:
        return prompts.reflect(self._asked(task), [action.text for action in actions])

    def _asked(self, task: Task) -> Asked:
        problem: Problem = task.data
        return Asked(problem.query, problem.files, _shown(problem, self.tools))


make = Gta

_SAMPLE = {
    "tools": [],
    "files": [{"type": "image", "path": "image/image_1.jpg", "url": None}],
    "dialogs": [
        {"role": "user", "content": "How much do two cups of tea cost by this menu?"},
        {
            "role": "assistant",
            "tool_calls": [{"function": {"name": "OCR", "arguments": {"image": "image/image_1.jpg"}}}],
        },
        {"role": "tool", "name": "OCR", "content": {"type": "text", "content": "(10, 12, 210, 40) Tea 2.50"}},
        {
            "role": "assistant",
            "tool_calls": [{"function": {"name": "Calculator", "arguments": {"expression": "2*2.50"}}}],
        },
        {"role": "tool", "name": "Calculator", "content": {"type": "text", "content": "5.0"}},
        {"role": "assistant", "content": "5"},
    ],
    "gt_answer": {"whitelist": [["5", "5.00"]], "blacklist": None},
}
# a task as `task_of` reads it, and an answer that proposes calls in it
SAMPLE = (
    json.dumps(_SAMPLE),
    '[{"tool": "OCR", "args": {"image": "image/image_1.jpg"}}, {"tool": "finish", "args": {"answer": "5"}}]',
)


def _done(state: State) -> list[Done]:
    return [Done(step.call.text, step.observation) for step in state]
