"""Problems, and reading them from records as GTA's ``dataset.json`` has them.

What is irregular in the real file is read as it stands: no closing answer, a call without a thought or with text
beside it, a last call without an output, gold images that are not among the files. What no plan could be made of is
refused, with the file and the place in it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Literal, cast, get_args

from paccf.domains.gta.calls import FINISH, Call, Card, Slot, Type, Value, by_name, problem_with
from paccf.search.tree import Task

OutputType = Literal["text", "image"]


class DataError(ValueError):
    """A file or record that cannot be used; says where and why."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a tool gave: words, or the path of an image."""

    type: OutputType
    content: str


@dataclass(frozen=True, slots=True)
class Gold:
    """The recorded plan with its outputs (`None` where none was recorded), the closing words, and what an answer is
    compared with: groups of names that must and names that must not be there, or sample answers."""

    calls: tuple[Call, ...]
    outputs: tuple[Output | None, ...]
    answer: str | None = None
    required: tuple[tuple[str, ...], ...] | None = None
    forbidden: tuple[tuple[str, ...], ...] = ()
    samples: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """One request. ``cards`` are all tools there are, ``declared`` the names that the record lists, which are nearly
    always those of the gold plan. ``gold`` is for the tool environment and for what comes after a search."""

    query: str
    files: tuple[str, ...]
    cards: tuple[Card, ...]
    declared: tuple[str, ...]
    gold: Gold

    def __hash__(self) -> int:
        return hash((self.query, self.files))  # the rest is long, and seldom all that differs

    @property
    def about(self) -> str:
        """The request on one line."""
        return " ".join(self.query.split())

    @property
    def digest(self) -> str:
        """Of all that makes the problem, the cards apart."""
        content = [self.query, self.files, self.declared, [call.text for call in self.gold.calls], repr(self.gold)]
        return blake2b(json.dumps(content).encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class Place:
    """A JSON value and where it stands."""

    value: Any
    where: str

    def wrong(self, expected: str) -> DataError:
        kind = {dict: "an object", list: "a list", str: "a text", type(None): "null", bool: "true or false"}
        found = kind.get(type(self.value), "a number")
        return DataError(f"{self.where}: {expected} was expected, not {found}")

    def at(self, key: str) -> Place:
        """The value under ``key``, which has to be there."""
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        if key not in self.value:
            raise DataError(f"{self.where}: {key!r} is missing")
        return Place(self.value[key], f"{self.where}.{key}")

    def maybe(self, key: str) -> Place | None:
        """The value under ``key``, `None` if it is missing or null."""
        return self.at(key) if isinstance(self.value, dict) and self.value.get(key) is not None else None

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.wrong("a text")
        return self.value

    def items(self) -> list[Place]:
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        return [Place(item, f"{self.where}[{i}]") for i, item in enumerate(self.value)]

    def fields(self) -> list[tuple[str, Place]]:
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        return [(key, Place(value, f"{self.where}.{key}")) for key, value in self.value.items()]

    def one_of(self, *known: str) -> str:
        if self.text() not in known:
            raise DataError(f"{self.where}: {self.value!r:.40} is none of {', '.join(known)}")
        return self.text()


def parsed(text: str, where: str) -> Place:
    """``text`` as JSON. Raises `DataError` that says where it breaks off."""
    try:
        return Place(json.loads(text), where)
    except RecursionError:
        raise DataError(f"{where}: nested too deeply to be a record") from None
    except ValueError as error:
        raise DataError(f"{where}: no JSON: {error}") from None


def read_card(record: Place) -> Card:
    """A tool record of a task, or of ``toolmeta.json``."""
    name = record.at("name").text()
    inputs = tuple(_slot(slot) for slot in record.at("inputs").items())
    outputs = record.at("outputs").items()
    if name == FINISH or len({slot.name for slot in inputs}) < len(inputs):
        raise DataError(f"{record.where}: a tool is not called {FINISH!r}, and its inputs have different names")
    output = cast(Type, outputs[0].at("type").one_of(*get_args(Type))) if outputs else "text"
    return Card(name, _words(record.maybe("description")), inputs, output)


def _slot(record: Place) -> Slot:
    type = cast(Type, record.at("type").one_of(*get_args(Type)))
    default = record.maybe("default")
    optional = record.at("optional").value
    if not isinstance(optional, bool):
        raise record.at("optional").wrong("true or false")
    about = _words(record.maybe("description"))
    return Slot(record.at("name").text(), type, about, optional, _value(default) if default else None)


def _words(place: Place | None) -> str:
    return "" if place is None else place.text()


def _value(place: Place) -> Value:
    value = place.value
    if isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise place.wrong("a text, a number, true or false")


def merged(cards: Iterable[Card], variants: Iterable[Card]) -> tuple[Card, ...]:
    """``cards`` with the further inputs that some tasks declare, optional for all: shown to every task alike, so that a
    card says nothing about the task it is shown with. Tools that are only declared are added."""
    found = by_name(cards)
    for variant in variants:
        card = found.setdefault(variant.name, variant)
        more = [replace(slot, optional=True) for slot in variant.inputs if card.slot(slot.name) is None]
        if more:
            found[card.name] = replace(card, inputs=(*card.inputs, *more))
    return tuple(found.values())


def read_problem(record: Place, cards: Sequence[Card]) -> Problem:
    """One record. ``cards`` are the tools that are offered. Raises `DataError`."""
    declared = tuple(tool.at("name").text() for tool in record.at("tools").items())
    known = {card.name for card in cards}
    for name in declared:
        if name not in known:
            raise DataError(f"{record.where}.tools: there is no card for the tool {name!r:.40}")
    files = tuple(file.at("path").text() for file in record.at("files").items())
    messages = record.at("dialogs").items()
    if not messages or messages[0].at("role").text() != "user":
        raise DataError(f"{record.where}.dialogs: the first message has to be the user's")
    gold = _gold(messages[1:], known, record.maybe("gt_answer"))
    if not gold.calls:
        raise DataError(f"{record.where}.dialogs: there is no tool call, so there is no plan to compare with")
    return Problem(messages[0].at("content").text(), files, tuple(cards), declared, gold)


def _gold(messages: Sequence[Place], known: set[str], criterion: Place | None) -> Gold:
    calls: list[Call] = []
    outputs: list[Output | None] = []
    answer = None
    for message in messages:
        role = message.at("role").one_of("assistant", "tool")
        if role == "tool":
            if not calls or outputs[-1] is not None:
                raise DataError(f"{message.where}: a tool's message without a call before it")
            if message.at("name").text() != calls[-1].tool:
                raise DataError(f"{message.where}.name: the call before it was of {calls[-1].tool}")
            content = message.at("content")
            kind = cast(OutputType, content.at("type").one_of("text", "image"))
            outputs[-1] = Output(kind, content.at("content").text())
        elif message.maybe("tool_calls") is None:
            answer = message.at("content").text()
        else:
            said = message.at("tool_calls").items()
            if len(said) != 1:
                raise DataError(f"{message.where}.tool_calls: one call a message was expected, not {len(said)}")
            calls.append(_call(said[0].at("function"), known))
            outputs.append(None)
    return Gold(tuple(calls), tuple(outputs), answer, *_criterion(criterion))


def _call(function: Place, known: set[str]) -> Call:
    name = function.at("name").one_of(*sorted(known))
    return Call(name, tuple((key, _value(value)) for key, value in function.at("arguments").fields()))


Groups = tuple[tuple[str, ...], ...]


def _criterion(place: Place | None) -> tuple[Groups | None, Groups, tuple[str, ...] | None]:
    if place is None:
        return None, (), None
    if isinstance(place.value, list):
        return None, (), tuple(sample.text() for sample in place.items())
    forbidden = place.maybe("blacklist")
    return _groups(place.at("whitelist")), _groups(forbidden) if forbidden else (), None


def _groups(place: Place) -> Groups:
    return tuple(tuple(name.text() for name in group.items()) for group in place.items())


def irregular(problem: Problem) -> list[str]:
    """What is odd about a problem, in words; nothing of it keeps it from being used."""
    gold, found = problem.gold, []
    cards = by_name(problem.cards)
    for i, (call, output) in enumerate(zip(gold.calls, gold.outputs, strict=True), 1):
        if reason := problem_with(call, cards):
            found.append(f"gold call {i} is no legal call: {reason}")
        if output is None:
            found.append(f"gold call {i} has no recorded output")
    if gold.answer is None:
        found.append("no closing answer")
    if unused := [name for name in problem.declared if name not in {call.tool for call in gold.calls}]:
        found.append(f"declared but never called: {', '.join(unused)}")
    given = {*problem.files, *(output.content for output in gold.outputs if output and output.type == "image")}
    shown = {value for call in gold.calls for _, value in call.args if str(value).lstrip("/").startswith("image/")}
    if strange := sorted(str(value) for value in shown - given):
        found.append(f"gold images that the task does not have: {', '.join(strange)}")
    return found


def read_tools(text: str, where: str) -> tuple[Card, ...]:
    """The cards of a file like ``toolmeta.json``."""
    return tuple(read_card(record) for _, record in parsed(text, where).fields())


def read_dataset(text: str, where: str, cards: Sequence[Card]) -> dict[str, Problem]:
    """All problems of a file like ``dataset.json``, under their names in it."""
    records = parsed(text, where).fields()
    if not records:
        raise DataError(f"{where}: there is no task in it")
    places = [Place(record.value, f"{where}: task {name}") for name, record in records]
    variants = [read_card(tool) for record in places for tool in record.at("tools").items()]
    offered = merged(cards, variants)
    return {name: read_problem(record, offered) for (name, _), record in zip(records, places, strict=True)}


def task(id: str, problem: Problem) -> Task:
    """The task that poses ``problem``."""
    return Task(id, problem)


def named(problem: Problem) -> Task:
    """The task of ``problem`` under a name that is made of its content."""
    return Task(f"task-{problem.digest}", problem)


def raw(record: Mapping[str, object]) -> str:
    """A record as the text that `task_of` reads."""
    return json.dumps(record, ensure_ascii=False)
