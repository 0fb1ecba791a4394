"""Tool cards and calls. Two calls with one key are the same call, however they were written.

A call keeps its arguments as they were given, for the strict measures. Its key is canonical: keys sorted, 5.0 is 5,
and an image is named by its place in the dataset (``image/image_1.jpg``), wherever the dataset lies.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from paccf.search.tree import Action

Value = str | int | float | bool
Type = Literal["text", "image", "int", "bool"]
TYPES: tuple[Type, ...] = ("text", "image", "int", "bool")

FINISH = "finish"
EXACT = 1 << 53  # whole floats up to here are ints without loss
_IMAGE = re.compile(r"(?:\S*/)?(image/[^/\s]+\.\w{3,4})")


@dataclass(frozen=True, slots=True)
class Slot:
    """An input of a tool. ``default`` is what the tool takes if an optional input is left out."""

    name: str
    type: Type
    description: str = ""
    optional: bool = False
    default: Value | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """A tool as it is shown to a model."""

    name: str
    description: str
    inputs: tuple[Slot, ...]
    output: Type

    def slot(self, name: str) -> Slot | None:
        """The input called ``name``."""
        return next((slot for slot in self.inputs if slot.name == name), None)


@dataclass(frozen=True, slots=True)
class Call:
    """A call with its arguments as given, in their order. ``canonical`` has them by name, each in its canonical form;
    ``key`` is one line of ASCII that is equal for equal calls, ``text`` the call as the JSON that a proposal has."""

    tool: str
    args: tuple[tuple[str, Value], ...] = ()
    canonical: tuple[tuple[str, Value], ...] = field(init=False, repr=False, compare=False)
    key: str = field(init=False, repr=False)
    text: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "canonical", tuple(sorted((name, canonical(value)) for name, value in self.args)))
        object.__setattr__(self, "key", _key(self))
        object.__setattr__(self, "text", json.dumps({"tool": self.tool, "args": dict(self.args)}, ensure_ascii=False))

    @property
    def line(self) -> str:
        """The call as a person reads it, on one line."""
        return f"{self.tool}({', '.join(f'{k}={json.dumps(v, ensure_ascii=False)}' for k, v in self.args)})"

    @property
    def action(self) -> Action:
        return Action(self.key, self.text)


def canonical(value: Value) -> Value:
    """``value`` without the ways in which equal arguments may differ."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= EXACT:
        return int(value)
    if isinstance(value, str):
        match = _IMAGE.fullmatch(value.strip().replace("\\", "/"))
        if match:
            return match[1]
    return value


def _key(call: Call) -> str:
    if call.tool == FINISH:
        return FINISH  # what it answers is no part of the plan
    return f"{call.tool} {json.dumps(dict(call.canonical), separators=(',', ':'))}"


@lru_cache(1 << 14)  # ours: some 300 bytes each
def call_of(action: Action) -> Call:
    """The call that ``action`` stands for. Raises ValueError if its text is none."""
    try:
        said = json.loads(action.text)
        call = Call(said["tool"], tuple(said["args"].items()))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(f"{action.text!r:.80} is no tool call") from None
    if call.key != action.key:
        raise ValueError(f"{action.text!r:.80} is not the call {action.key!r:.80}")
    return call


FINISH_CARD = Card(
    FINISH,
    "Ends the plan. Take it when the calls made so far are all that the request needs.",
    (Slot("answer", "text", "what you would tell the user, if words answer the request", optional=True),),
    "text",
)


def problem_with(call: Call, cards: Mapping[str, Card]) -> str | None:
    """What keeps ``call`` from being a legal call of one of ``cards``; `None` if nothing does."""
    card = cards.get(call.tool)
    if card is None:
        return f"there is no tool {call.tool!r:.40}"
    given = {name for name, _ in call.args}
    if len(given) < len(call.args):
        return "an argument is given twice"
    for name, value in call.args:
        slot = card.slot(name)
        if slot is None:
            return f"{call.tool} has no input {name!r:.40}"
        if not _fits(value, slot.type):
            return f"{call.tool}: {name} has to be of the type {slot.type}"
    missing = [slot.name for slot in card.inputs if not slot.optional and slot.name not in given]
    return f"{call.tool} needs {', '.join(missing)}" if missing else None


def _fits(value: Value, type: Type) -> bool:
    if type == "bool":
        return isinstance(value, bool)
    if type == "int":
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        return whole and not isinstance(value, bool)
    return isinstance(value, str)


def by_name(cards: Iterable[Card]) -> dict[str, Card]:
    """The cards under their names."""
    return {card.name: card for card in cards}
