"""What an endpoint can do, found out with a handful of tiny requests: one, and if it is answered six more."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from time import perf_counter

import msgspec

from paccf.models.openai import ChatModel, chat
from paccf.models.spec import ModelSpec
from paccf.search.tree import Action, Task
from paccf.search.world import ModelFailure, Request, Subject

TOGETHER = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """``works`` is `None` where it cannot be told."""

    what: str
    works: bool | None
    note: str


def probe(draw: int, candidates: int = 1) -> Request:
    actions = tuple(Action(str(i), str(i)) for i in range(candidates))
    prompt = f"Rate {candidates} random things. Answer with a JSON list of {candidates} whole numbers from 0 to 100."
    return Request("evaluate", prompt, draw, Subject(Task("check", None), None, actions))


async def checked(spec: ModelSpec) -> list[Finding]:
    """All findings; after a first that does not work there is no other."""
    spec = msgspec.structs.replace(spec, patience=msgspec.structs.replace(spec.patience, attempts=2))
    small = msgspec.structs.replace(spec, json_schema=False)
    async with chat(small, 1) as model:
        try:
            first = await model.answer(probe(0))
        except ModelFailure as error:
            return [Finding("answers", False, str(error))]
        known = first.prompt_tokens is not None and first.completion_tokens is not None
        counts = (
            f"{first.prompt_tokens} prompt, {first.completion_tokens} completion" if known else "bills stay unknown"
        )
        return [
            Finding(
                "answers", True, f"{first.latency or 0:.2f} s, {first.attempts} attempt{'s' * (first.attempts > 1)}"
            ),
            Finding("usage", known, counts),
            await _seed(model, first.text),
            await _schema(msgspec.structs.replace(spec, json_schema=True)),
            await _logprobs(model),
            await _concurrency(model, first.latency or 0.0),
        ]


async def _seed(model: ChatModel, text: str) -> Finding:
    if not model.spec.seeded or "seed" in model.spec.omit:
        return Finding("seed", None, "not sent, as the spec says")
    try:
        again = await model.answer(probe(0))
    except ModelFailure as error:
        return Finding("seed", False, str(error))
    same = again.text == text
    return Finding(
        "seed", same, "the same seed gave " + ("the same text" if same else "another text: only the tape repeats")
    )


async def _schema(spec: ModelSpec) -> Finding:
    async with chat(spec, 1) as model:
        try:
            text = (await model.answer(probe(0, 3))).text
        except ModelFailure as error:
            return Finding("json_schema", False, str(error))
    try:
        scores = msgspec.json.decode(text, type=dict[str, list[int]])["scores"]
    except (msgspec.DecodeError, KeyError):
        return Finding("json_schema", False, "accepted, and not kept to: leave json_schema = false")
    works = len(scores) == 3
    return Finding("json_schema", works, "kept to" if works else f"3 scores asked for, {len(scores)} given")


async def _logprobs(model: ChatModel) -> Finding:
    spec = msgspec.structs.replace(model.spec, extra={**model.spec.extra, "logprobs": True})
    async with chat(spec, 1) as asking:
        try:
            await asking.answer(probe(0))
        except ModelFailure as error:
            return Finding("logprobs", False, str(error))
        given = asking.logprobs
    return Finding("logprobs", given, "given" if given else "asked for and not given")


async def _concurrency(model: ChatModel, alone: float) -> Finding:
    start = perf_counter()
    results = await asyncio.gather(*[model.answer(probe(n)) for n in range(1, 1 + TOGETHER)], return_exceptions=True)
    wall = perf_counter() - start
    failed = [result for result in results if isinstance(result, BaseException)]
    for error in failed:
        if not isinstance(error, ModelFailure):
            raise error
    if failed:
        return Finding("concurrency", False, str(failed[0]))
    note = f"{TOGETHER} at once took {wall:.2f} s, one alone {alone:.2f} s"
    return Finding("concurrency", True if wall < 2 * alone else None, note)
