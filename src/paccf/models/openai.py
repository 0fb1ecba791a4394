"""A model behind ``/chat/completions``: DeepSeek, OpenAI, vLLM, SGLang, llama.cpp, Ollama, gateways.

One request is one prompt and one completion. Attempts are counted before they are sent: each is a physical request on
the wire, all of them are one request of the budget. Backoff is a hash of what is asked, so nothing here is random.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache
from hashlib import blake2b
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

import msgspec

from paccf.models.live import Attempting, Refused, Unavailable, Unusable, Withheld
from paccf.models.pace import Lease, Pace
from paccf.models.redaction import hide
from paccf.models.replies import Again, Said, failure, judged
from paccf.models.spec import LIMITS, ModelSpec
from paccf.models.wire import CAP, Broken, Untrusted, Wire
from paccf.search.chance import chance
from paccf.search.world import Answer, Kind, Request

CONCURRENCY = 16  # ours: requests in flight where the spec does not say
OBSERVING: tuple[Kind, ...] = ("evaluate", "appraise")  # a search goes on without one of their answers
LOCAL_CONCURRENCY = 2  # ours: the same for the server in this process; more are no faster on few cores


class ChatModel:
    """Implements `paccf.models.live.Live`. Made by `chat`."""

    simulated = False

    def __init__(self, spec: ModelSpec, wire: Wire, pace: Pace, seed: int) -> None:
        self.spec, self.pace, self.seed = spec, pace, seed
        self.name = spec.model or spec.endpoint.model
        self.fingerprint = fingerprint(spec)
        self.logprobs = False  # whether the last answer had any
        self._wire = wire
        self._parameters: dict[tuple[str, int, int], str] = {}

    def parameters(self, request: Request) -> str:
        kind = request.kind, request.draw, len(request.subject.actions)  # all of it that `asked` looks at
        if kind not in self._parameters:
            self._parameters[kind] = parameters(self.spec, self.seed, request)
        return self._parameters[kind]

    async def answer(self, request: Request, attempting: Attempting | None = None) -> Answer:
        """An answer that is withheld from a scoring is an empty one: a failed observation, as durable as any other."""
        sends = 0

        async def counted(attempt: int) -> None:
            nonlocal sends
            sends = attempt
            if attempting is not None:
                await attempting(attempt)

        try:
            return await self._answered(request, counted)
        except Withheld:
            if request.kind not in OBSERVING:
                raise
            return Answer("", finish="withheld", attempts=sends)

    async def _answered(self, request: Request, attempting: Attempting) -> Answer:
        fields = asked(self.spec, self.seed, request)
        try:
            body = encoded(self.name, fields, request.prompt)
        except UnicodeEncodeError:
            raise failure(
                Refused, "the prompt holds characters that no encoding has; look at the task's text"
            ) from None
        at_most = bound(self.spec, fields, request.kind, body)
        why, answered = "", 0
        for attempt in range(1, self.spec.patience.attempts + 1):
            async with self.pace.lease(at_most) as lease:
                await attempting(attempt)
                lease.sent = True
                start = perf_counter()
                outcome = await self._attempt(body, lease)
                latency = perf_counter() - start
            if isinstance(outcome, Said):
                counts = outcome.prompt_tokens, outcome.completion_tokens
                return Answer(outcome.text, *counts, outcome.finish, latency, attempt)
            why, answered = outcome.why, answered + outcome.answered
            if attempt < self.spec.patience.attempts:
                await self.pace.pause(self._pause(request, attempt, outcome))
        if answered == attempt:
            raise failure(
                Withheld, f"the endpoint answered {attempt} times and never with anything of use, the last time: {why}"
            )
        raise failure(
            Unavailable,
            f"no answer in {attempt} attempt{'s' * (attempt > 1)}, the last one: {why}; run the same command "
            "again later, or raise patience.attempts",
        )

    async def _attempt(self, body: bytes, lease: Lease) -> Said | Again:
        try:
            reply = await self._wire.post(body, self.spec.patience.attempt)
        except Broken as error:
            lease.unbilled = not error.sent
            return Again(str(error))
        except Untrusted as error:
            lease.unbilled = True
            raise failure(Unusable, f"the server's certificate does not hold: {error}; check the base URL") from None
        lease.unbilled = reply.status != 200
        outcome = judged(reply, self.spec.key_env or self.spec.endpoint.key_env)
        if isinstance(outcome, Said):
            self.logprobs = outcome.logprobs
            lease.used(outcome.prompt_tokens, outcome.completion_tokens)
        else:
            lease.busy = outcome.busy
            if outcome.busy and outcome.after is not None:
                self.pace.hold(min(outcome.after, self.spec.patience.longest))
        return outcome

    def _pause(self, request: Request, attempt: int, outcome: Again) -> float:
        """Seconds until the next attempt: doubling, with hashed jitter over its upper half, or what the server asks."""
        patience = self.spec.patience
        jitter = chance(self.seed, request.kind, request.draw, request.prompt, "attempt", attempt)
        backoff = patience.pause * 2.0 ** (attempt - 1) * (0.5 + jitter / 2)
        return min(max(backoff, outcome.after or 0.0), patience.longest)


def asked(spec: ModelSpec, seed: int, request: Request) -> dict[str, Any]:
    """The body of a request but for the model and the prompt."""
    body: dict[str, Any] = {
        "temperature": spec.temperature.of(request.kind),
        "max_tokens": spec.max_tokens.of(request.kind),
    }
    if spec.seeded:
        body["seed"] = seed + request.draw
    if spec.stop:
        body["stop"] = list(spec.stop)
    if spec.json_schema and request.kind in ("evaluate", "appraise"):
        body["response_format"] = scores_format(len(request.subject.actions))
    body = {key: value for key, value in body.items() if key not in spec.omit}
    if "max_tokens" in body:
        body[spec.endpoint.limit] = body.pop("max_tokens")
    return body | spec.extra


def encoded(name: str, fields: Mapping[str, Any], prompt: str) -> bytes:
    """The body of a request. Raises `UnicodeEncodeError` for a prompt that has no encoding."""
    return msgspec.json.encode({**fields, "model": name, "messages": [{"role": "user", "content": prompt}]})


def bound(spec: ModelSpec, fields: Mapping[str, Any], kind: Kind, body: bytes) -> tuple[int, int]:
    """The most prompt and completion tokens that a send of ``body`` can take."""
    longest = next((fields[key] for key in LIMITS if key in fields), spec.max_tokens.of(kind))
    return len(body), longest  # no token is shorter than a byte


def at_most(spec: ModelSpec, kind: Kind, parameters: str, prompt: str) -> tuple[int, int]:
    """`bound` of a send as a tape knows it."""
    fields = msgspec.json.decode(parameters, type=dict[str, Any]) if parameters else {}
    try:
        body = encoded(spec.model or spec.endpoint.model, fields, prompt)
    except UnicodeEncodeError:  # it was never sent
        return 0, 0
    return bound(spec, fields, kind, body)


def parameters(spec: ModelSpec, seed: int, request: Request) -> str:
    """`asked` as canonical JSON."""
    return msgspec.json.encode(asked(spec, seed, request), order="sorted").decode()


@lru_cache
def scores_format(count: int) -> dict[str, Any]:
    """The ``response_format`` that admits ``count`` scores from 0 to 100 and nothing else."""
    score = {"type": "integer", "minimum": 0, "maximum": 100}
    scores = {"type": "array", "items": score, "minItems": count, "maxItems": count}
    schema = {
        "type": "object",
        "properties": {"scores": scores},
        "required": ["scores"],
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": "scores", "strict": True, "schema": schema}}


def asked_of(spec: ModelSpec) -> list[Any]:
    """All of a spec that changes what a model says, whoever it is."""
    return [spec.temperature, spec.max_tokens, spec.seeded, spec.stop, spec.json_schema, spec.extra, spec.omit]


def fingerprint(spec: ModelSpec) -> str:
    """The model, where it is asked, and a digest of all that changes what it says."""
    endpoint = spec.endpoint
    parts = urlsplit(endpoint.url)
    place = f"{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"
    digest = blake2b(msgspec.json.encode([place, *asked_of(spec)], order="sorted"), digest_size=4).hexdigest()
    return f"{spec.model or endpoint.model} at {place}@{digest}"


def key_of(spec: ModelSpec) -> str:
    """The key from the environment, empty if the endpoint needs none; hidden from every text from now on. Raises
    `Unusable` for one that is missing or no key."""
    variable = spec.key_env or spec.endpoint.key_env
    if not variable:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise Unusable(f"no key: set the environment variable {variable}, or name another one in key_env")
    hide(key)
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise Unusable(f"the environment variable {variable} holds no key: blanks or characters that no key has")
    return key


def paced(spec: ModelSpec, before: tuple[int, int] = (0, 0)) -> Pace:
    """The pace that ``spec`` asks for; ``before`` was paid for already."""
    ceiling = spec.concurrency or (LOCAL_CONCURRENCY if spec.preset == "local" else CONCURRENCY)
    return Pace(ceiling, spec.ceilings, spec.prices, before)


@asynccontextmanager
async def chat(spec: ModelSpec, seed: int, *, pace: Pace | None = None, cap: int = CAP) -> AsyncIterator[ChatModel]:
    """The model at the endpoint of ``spec``, with connections of its own, and a pace of its own unless one is given.
    Raises `Unusable` without its key."""
    key = key_of(spec)
    wire = Wire(f"{spec.endpoint.url}/chat/completions", {"Authorization": f"Bearer {key}"} if key else {}, cap=cap)
    try:
        yield ChatModel(spec, wire, pace or paced(spec), seed)
    finally:
        await wire.close()
