"""The truth about a plan, for the simulated model. Its proposals are the recorded calls and noisy variants of them: a
wrong tool, a wrong or a dropped argument, other words, an early finish. Without that a simulated proposer could not hit
the free text that most arguments are. So results say SIMULATED, seeded with gold.

What makes the variants is a hash of the task and the call, hence the same in every draw, order and arm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from paccf.domains.gta.calls import FINISH, Call, Card, Slot, Value, call_of, canonical, problem_with
from paccf.domains.gta.oracle import GtaOracle
from paccf.domains.gta.records import Output, Problem
from paccf.domains.gta.world import Gta, State
from paccf.search.chance import chance
from paccf.search.tree import Action, Task

WORDS = 0.15  # ours, tuned: share of free arguments that come to mind as they were recorded; see docs/gta.md
STRAY = 6  # ours: calls of tools that the plan does not need, a state
EARLY = 0.1  # ours, tuned: share of states in which an early finish comes to mind
CLOSE = 0.9  # ours: what the recorded call in other words is worth
EARLIER = 0.5  # ours: what a recorded call is worth before its turn

_RECTANGLE = re.compile(r"\(\s*-?\d[^()]*,[^()]*\d\)")
_SUM = re.compile(r"[\d\s.+*/()-]+")


@dataclass(frozen=True, slots=True)
class GtaTruth:
    """``value`` is graded: 1 on the recorded plan, less for what comes near to it and is not protected, 0 for the rest.
    ``words`` is the share of free arguments that come to mind as they were recorded; the others never do."""

    world: Gta
    words: float = WORDS
    note = "seeded with gold"

    def key(self, state: State) -> str:
        return " | ".join(step.call.key for step in state)

    def legal(self, task: Task, state: State) -> Sequence[Action]:
        """What can come to mind: the calls still due as they are meant, variants of the next one, stray calls, and
        ``finish``; not all that is legal, which has no end."""
        return list(_legal(self, task, state))

    def value(self, task: Task, state: State, action: Action) -> float:
        return _value(task, _made(state), action, self.words)

    def wrong(self, task: Task, state: State, action: Action) -> str:
        """The commonest slips: a needed argument is left out, or the tool is made up."""
        call = call_of(action)
        if call.tool == FINISH or not call.args:
            return Call("Answer", (("text", "done"),)).text
        return Call(call.tool, (*call.args[1:], ("note", "as above"))).text

    def garbled(self, task: Task, state: State, action: Action) -> str:
        return action.text[: max(12, 2 * len(action.text) // 3)].rstrip("}")


Made = tuple[Call, ...]


def _made(state: State) -> Made:
    return tuple([step.call for step in state])


@lru_cache(1 << 15)
def _value(task: Task, made: Made, action: Action, words: float) -> float:
    due = _due(task, made)
    exact = bool(GtaOracle().due(task.data, made))
    call = call_of(action)
    if call.tool == FINISH:
        return 0.0 if due else 1.0 if exact else CLOSE
    if not due:
        return 0.0
    if call.key in (due[0].key, _meant(task, due[0], words).key):
        return 1.0 if exact and call.key == due[0].key else CLOSE
    if any(call.key in (later.key, _meant(task, later, words).key) for later in due[1:]):
        return EARLIER
    return 0.2 + 0.4 * _shared(call, due[0]) if call.tool == due[0].tool else 0.0


@lru_cache(1 << 13)
def _due(task: Task, made: Made) -> tuple[Call, ...]:
    """The recorded calls that were not made yet, neither as they are nor, for want of that, with their tool."""
    left = list(task.data.gold.calls)
    inexact = []
    for call in made:
        found = next((gold for gold in left if gold.key == call.key), None)
        if found is None:
            inexact.append(call.tool)
        else:
            left.remove(found)
    for tool in inexact:
        near = next((gold for gold in left if gold.tool == tool), None)
        if near is not None:
            left.remove(near)
    return tuple(left)


@lru_cache(1 << 13)
def _legal(truth: GtaTruth, task: Task, state: State) -> tuple[Action, ...]:
    cards = truth.world.offered(task)
    made = {step.call.key for step in state}
    due = _due(task, _made(state))
    meant = [_meant(task, call, truth.words) for call in due]
    calls = [
        *meant,
        *(_variants(task, meant[0], cards[meant[0].tool], state) if meant and meant[0].tool in cards else ()),
    ]
    calls += _stray(task, state, list(cards.values()))
    if not due or chance(task.id, truth.key(state), "early") < EARLY:
        calls.append(Call(FINISH))
    found = {call.key: call.action for call in calls if call.key not in made and problem_with(call, cards) is None}
    return tuple(found.values())


@lru_cache(1 << 13)
def _meant(task: Task, call: Call, words: float) -> Call:
    """The recorded call with those free arguments reworded that do not come to mind."""
    problem: Problem = task.data
    place = problem.gold.calls.index(call)
    known = " ".join([problem.query, *(output.content for output in problem.gold.outputs[:place] if output)])
    card = next(card for card in problem.cards if card.name == call.tool)
    return Call(call.tool, tuple((k, _comes(task, call, card.slot(k), v, known, words)) for k, v in call.args))


def _comes(task: Task, call: Call, slot: Slot | None, value: Value, known: str, words: float) -> Value:
    """``value``, or another one if it is free (neither a file nor written down before) and does not come to mind."""
    if slot is None or slot.type == "image" or value == slot.default or str(value) in known:
        return value
    return value if chance(task.id, call.key, slot.name, "words") < words else other(value, 1)


def other(value: Value, way: int) -> Value:
    """Another value of the same type, by 1, 2 or 3 ways: a number beside it, a sum in brackets, code with a remark,
    other words."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + way
    if _RECTANGLE.fullmatch(value):
        return f"{value[:-1]}{way})"
    if _SUM.fullmatch(value):
        return f"({value})" if way == 1 else f"{value} + {way}"
    if "\n" in value:
        return f"{value.rstrip()}\n# way {way}\n"
    return (f"{value} here", f"the {value}", f"{value} there")[way - 1]


def _variants(task: Task, call: Call, card: Card, state: State) -> Iterator[Call]:
    """The call with one argument wrong, or an optional one dropped."""
    images = _images(task, state)
    for i, (name, value) in enumerate(call.args):
        slot = card.slot(name)
        before, after = call.args[:i], call.args[i + 1 :]
        if slot is None:
            continue
        if slot.optional:
            yield Call(call.tool, (*before, *after))
        others: list[Value] = [other(value, 2), other(value, 3)]
        if slot.type == "image":
            others = [*[image for image in images if image != canonical(value)][:2]]
        for wrong in others:
            yield Call(call.tool, (*before, (name, wrong), *after))


def _images(task: Task, state: State) -> list[str]:
    """The images there are by now."""
    outputs = [step.output for step in state]
    made = [output.content for output in outputs if isinstance(output, Output) and output.type == "image"]
    return list(dict.fromkeys([*task.data.files, *made]))


def _stray(task: Task, state: State, cards: Sequence[Card]) -> Iterator[Call]:
    """Calls of some tools with whatever comes to hand."""
    images = _images(task, state)
    words = " ".join(task.data.query.split()[:6])
    ranked = sorted(cards, key=lambda card: chance(task.id, len(state), card.name, "stray"))
    for card in [card for card in ranked if card.name != FINISH][:STRAY]:
        needed = [slot for slot in card.inputs if not slot.optional]
        if any(slot.type == "image" for slot in needed) and not images:
            continue
        yield Call(
            card.name,
            tuple((slot.name, images[-1] if slot.type == "image" else _filled(slot, words)) for slot in needed),
        )


def _filled(slot: Slot, words: str) -> Value:
    return {"bool": True, "int": 1}.get(slot.type, "(0, 0, 100, 100)" if slot.name == "bbox" else words)


def _shared(a: Call, b: Call) -> float:
    """The share of arguments that two calls have in common."""
    one, two = set(a.canonical), set(b.canonical)
    return len(one & two) / max(1, len(one | two))


def make(tools: str = "all", horizon: int = 10, words: float = WORDS) -> GtaTruth:
    return GtaTruth(Gta(horizon, "declared" if tools == "declared" else "all"), words)
