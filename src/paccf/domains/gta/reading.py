"""Reading the calls that a model proposes, as models really write them.

Shapes: a list of objects, one object a line, ``{"tool": ..., "args": {...}}`` under any of the names in use, arguments
as an object, as JSON in a text or beside the tool's name, ``{"OCR": {...}}``, wrappers like ``{"tool_calls": [...]}``,
and ``OCR(image="a.jpg")``. A call counts if its tool is on offer and its arguments fit the tool's inputs, after what
can be turned into the right type without a guess has been. A call that stands in the history already is no new step.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from paccf.domains.gta.calls import FINISH, Call, Card, Slot, Value, problem_with
from paccf.domains.gta.loose import Found, Made, read
from paccf.search.tree import Action
from paccf.search.world import Reading

MOST = 64  # ours: distinct calls of one answer that count
LONGEST = 8000  # ours: characters of one call; the longest recorded one has 874

_NAMES = ("tool", "tool_name", "name", "function", "action", "api", "tool_call")
_ARGS = ("args", "arguments", "parameters", "params", "input", "inputs", "action_input", "tool_input", "kwargs")
_ASIDE = {
    "thought",
    "thoughts",
    "reason",
    "reasoning",
    "rationale",
    "explanation",
    "id",
    "type",
    "score",
    "step",
    "rank",
}
_FINISHES = {"finish", "final_answer", "finalanswer", "final answer", "done", "stop", "end"}
_INT = re.compile(r"[-+]?\d{1,15}(?:\.0{1,6})?")


class _Said(NamedTuple):
    """A call as it was said, whatever it is worth. ``aside``: it may as well be a function named in passing."""

    name: str
    args: Mapping[str, object]
    positional: tuple[object, ...] = ()
    aside: bool = False


def read_calls(text: str, cards: Mapping[str, Card], done: Collection[str] = ()) -> Reading:
    """The legal calls in ``text`` in order, each once; how many proposals were illegal, and how many could not be
    read. ``done`` are the keys of the calls made so far. Never raises; linear in the text."""
    legal: dict[str, Action] = {}
    illegal = 0
    found = read(text)
    said, unparsable = _calls(found)
    for entry in said:
        if entry.aside and _card(entry.name, cards) is None:
            continue
        call = _call(entry, cards)
        if call is None or call.key in done or (call.key not in legal and len(legal) == MOST):
            illegal += 1
        else:
            legal.setdefault(call.key, call.action)
    if not said and not unparsable and _bare(text):
        finish = Call(FINISH)
        legal[finish.key] = finish.action
    return Reading(tuple(legal.values()), illegal, unparsable)


def _bare(text: str) -> bool:
    """Whether the answer is the word alone."""
    return text[:40].strip(" \t\r\n`\"'.[]").lower() in _FINISHES


def _calls(found: Found, level: int = 0) -> tuple[list[_Said], int]:
    said: list[_Said] = []
    unparsable = found.broken
    for value in found.values:
        for entry in _walk(value, level):
            if entry is None:
                unparsable += 1
            else:
                said.append(entry)
    return said, unparsable


def _walk(value: object, level: int) -> Iterator[_Said | None]:
    """The calls in a value; `None` for an object that is none and holds none."""
    if isinstance(value, Made):
        yield _Said(value.name, value.named, tuple(value.positional), aside=not value.named)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, level)
    elif isinstance(value, str):
        yield from _inside(value, level)
    elif isinstance(value, dict):
        said = _said(value)
        if said is not None:
            yield said
            return
        inner = [
            entry for item in value.values() if isinstance(item, list | dict | Made) for entry in _walk(item, level)
        ]
        yield from inner or [None]


def _inside(text: str, level: int) -> Iterator[_Said | None]:
    """Calls written as texts in a list: ``["OCR(image='a.jpg')", "finish"]``."""
    if text.strip().lower() in _FINISHES:
        yield _Said(FINISH, {})
    elif level < 2 and ("(" in text or "{" in text):
        said, broken = _calls(read(text), level + 1)
        yield from said
        yield from [None] * broken


def _said(value: Mapping[str, object]) -> _Said | None:
    """The call that an object is."""
    for key in _NAMES:
        name = value.get(key)
        if isinstance(name, str):
            return _Said(name, *_arguments({k: v for k, v in value.items() if k != key}))
    if len(value) == 1:
        ((name, args),) = value.items()
        if isinstance(args, dict) and name not in _NAMES and name not in _ARGS:
            return _Said(name, args)
    return None


def _arguments(rest: Mapping[str, object]) -> tuple[Mapping[str, object], tuple[object, ...]]:
    """Arguments by name, and those without one."""
    for key in _ARGS:
        if key in rest:
            args = rest[key]
            if isinstance(args, str) and len(values := read(args).values) == 1 and isinstance(values[0], dict):
                args = values[0]  # JSON in a text
            if isinstance(args, dict):
                return args, ()
            return {}, tuple(args) if isinstance(args, list) else (args,) if args else ()
    return {k: v for k, v in rest.items() if k not in _ASIDE}, ()


def _call(said: _Said, cards: Mapping[str, Card]) -> Call | None:
    """The legal call that was meant, if there is one."""
    card = _card(said.name, cards)
    if card is None:
        return None
    named = dict(said.args)
    slots = [slot for slot in card.inputs if slot.name not in named]
    if len(said.positional) > len(slots):
        return None
    named |= {slot.name: value for slot, value in zip(slots, said.positional, strict=False)}
    args: list[tuple[str, Value]] = []
    for name, value in named.items():
        slot = card.slot(name)
        if slot is None:
            if card.name == FINISH:
                continue  # however it is called, what is said in the end is no part of the plan
            return None
        if value is None and slot.optional:
            continue
        typed = _typed(value, slot)
        if typed is None:
            return None
        args.append((name, typed))
    call = Call(card.name, tuple(args))
    return None if problem_with(call, cards) or len(call.text) > LONGEST else call


def _card(name: str, cards: Mapping[str, Card]) -> Card | None:
    """The tool that ``name`` means: exactly, or in other letters of the same words."""
    name = name.strip().removeprefix("functions.")
    if name in cards:
        return cards[name]
    plain = name.lower().replace("_", "").replace(" ", "")
    if name.lower() in _FINISHES:
        return cards.get(FINISH)
    return next((card for card in cards.values() if card.name.lower() == plain), None)


def _typed(value: object, slot: Slot) -> Value | None:
    """``value`` in the slot's type, if that takes no guess."""
    if slot.type == "bool":
        words = {"true": True, "false": False}
        return value if isinstance(value, bool) else words.get(str(value).lower()) if isinstance(value, str) else None
    if isinstance(value, bool):
        return None
    if slot.type == "int":
        if isinstance(value, str) and _INT.fullmatch(value.strip()):
            return int(float(value))
        return value if isinstance(value, int | float) and float(value).is_integer() else None
    if isinstance(value, str):
        return value
    if slot.type == "image":
        return None
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list) and value and all(type(x) in (int, float) for x in value):  # a rectangle
        return f"({', '.join(map(str, value))})"
    return None
