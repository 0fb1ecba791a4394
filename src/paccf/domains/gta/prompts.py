"""What a model is asked, in words. A prompt depends on its arguments alone, and the gold plan is none of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from paccf.domains.gta.calls import Card, Slot
from paccf.search.effects import Channel

SHOWN = 1200  # ours: characters of one tool output that are shown


class Asked(NamedTuple):
    """What a model is told of a problem: all of it but the gold plan. ``tools`` are the cards in words."""

    query: str
    files: Sequence[str]
    tools: str


class Done(NamedTuple):
    """A step that was taken: the call as JSON, and what the tool gave."""

    call: str
    output: str


_TASK = "Plan tool calls that serve a user's request about images. Calls are made one after the other."
_FORM = '{"tool": "OCR", "args": {"image": "image/image_1.jpg"}}'
_END = '{"tool": "finish", "args": {"answer": "..."}}'

_ASK: dict[Channel, str] = {
    "child": "Each of these could be the next call. For each: how useful is it as the next step of the plan?",
    "pre": "None of these calls has been made yet. For each: how good are its tool and arguments as the next step?",
    "post": "Each of these calls was made next, with the output given. For each: how far did it bring the request?",
}
_SCALE = "0 means that it is useless or wrong, 100 that it is just the right step."


def propose(asked: Asked, history: Sequence[Done], k: int, left: int, notes: Sequence[str]) -> str:
    """``left``: steps that the plan may still have."""
    return "\n".join(
        [
            *_situation(asked, history, notes),
            "",
            f"Name up to {k} different next calls, the most promising first; at most {left} more steps can be taken. "
            "Use no other tools and no other inputs, write out every argument, and repeat no call that was made.",
            f"The plan ends with {_END}.",
            f"Answer with a JSON list and nothing else, each entry in this form: {_FORM}",
        ]
    )


def evaluate(
    asked: Asked,
    history: Sequence[Done],
    calls: Sequence[str],
    outputs: Sequence[str] | None,
    channel: Channel,
    notes: Sequence[str],
) -> str:
    """``outputs``: what the calls gave, if they were made before they are judged."""
    count = len(calls)
    lines = [f"{i}. {call}" for i, call in enumerate(calls, 1)]
    if outputs is not None:
        lines = [f"{line}\n   output: {shown(output)}" for line, output in zip(lines, outputs, strict=True)]
    return "\n".join(
        [
            *_situation(asked, history, notes),
            "",
            f"{_ASK[channel]} {_SCALE}",
            *lines,
            "",
            f"Answer with a JSON list of {count} whole number{'s' * (count != 1)} from 0 to 100, "
            "in the order of the calls, and nothing else.",
        ]
    )


def reflect(asked: Asked, calls: Sequence[str]) -> str:
    return "\n".join(
        [
            f"Request: {asked.query}",
            *_files(asked.files),
            "This plan was made for it:",
            *[f"{i}. {call}" for i, call in enumerate(calls, 1)],
            "",
            "In one or two sentences: what is weak about it, and what should the next attempt do differently?",
        ]
    )


def shown(output: str) -> str:
    """An output on one line, cut to what is shown of it."""
    text = " ".join(output.split())
    return text if len(text) <= SHOWN else text[:SHOWN] + " ..."


def _situation(asked: Asked, history: Sequence[Done], notes: Sequence[str]) -> list[str]:
    lines = [_TASK, "", "Tools:", asked.tools]
    if notes:
        lines += ["", "Lessons from earlier attempts:", *[f"- {' '.join(note.split())}" for note in notes]]
    lines += ["", f"Request: {' '.join(asked.query.split())}", *_files(asked.files)]
    if not history:
        return [*lines, "No call has been made yet."]
    lines.append("Calls made so far:")
    return lines + [f"{i}. {step.call}\n   output: {shown(step.output)}" for i, step in enumerate(history, 1)]


def _files(files: Sequence[str]) -> list[str]:
    return [f"Files: {', '.join(files)}"] if files else []


def tools(cards: Iterable[Card]) -> str:
    """The cards in words, one a line."""
    return "\n".join(map(_card, cards))


def _card(card: Card) -> str:
    inputs = "; ".join(map(_slot, card.inputs))
    return f"- {card.name}: {' '.join(card.description.split())} Inputs: {inputs or 'none'}. Gives: {card.output}."


def _slot(slot: Slot) -> str:
    about = f", {slot.description}" if slot.description else ""
    default = f", default {json.dumps(slot.default)}" if slot.default is not None else ""
    return f"{slot.name} ({slot.type}{', optional' * slot.optional}{default}{about})"
