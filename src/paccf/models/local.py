"""A small real model in this process: llama.cpp's server on a loopback port, no key, no network.

It is asked over HTTP like any endpoint. It is too small to propose, so proposals are the domain's legal actions, in a
hashed order: no model is asked for them. Two evaluators judge them:

- ``verdict``: the domain's own question, answered with scores from 0 to 100. From this model they carry no signal.
- ``likelihood``: how likely the model is to go on with the right answer where code has done all but the last step.
  One evaluation is many short completions; what it says of a prompt is remembered. All draws agree, so one is enough.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec

from paccf.domains.registry import part, world
from paccf.models import openai
from paccf.models.live import Attempting, Refused, Unavailable, Unusable
from paccf.models.openai import LOCAL_CONCURRENCY, ChatModel, asked_of
from paccf.models.pace import Pace
from paccf.models.replies import failure, refusal
from paccf.models.spec import ModelSpec, Patience, SpecError
from paccf.models.weights import SMOLLM2, NoWeights, digest, found
from paccf.models.wire import Broken, Wire
from paccf.search.chance import chance, shuffled
from paccf.search.world import Answer, Request, World

CONTEXT = 4096  # ours: tokens a request may have, prompt and answer
PATIENCE = 300.0  # ours: seconds for an answer; a busy machine takes its time
DECADES = 4  # ours: a likelihood of 1 scores 100, one of 10^-4 or less scores 0


class LocalModel:
    """Implements `paccf.models.live.Live`. Made by `answering`."""

    simulated = False

    def __init__(self, spec: ModelSpec, chatting: ChatModel, place: World, completions: Wire, seed: int) -> None:
        self.spec, self.place, self.seed = spec, place, seed
        self.name = f"{Path(spec.weights).stem if spec.weights else SMOLLM2.name} ({spec.evaluator})"
        self.fingerprint = fingerprint(spec)
        self.pace = chatting.pace
        self._chat, self._wire = chatting, completions
        self._scorer = scorer(place.name) if spec.evaluator == "likelihood" else None
        self._known: dict[str, tuple[float, int, int]] = {}  # of a prompt: log-likelihood, tokens of it and its answer

    def parameters(self, request: Request) -> str:
        return parameters(self.spec, self.place, self.seed, request)

    async def answer(self, request: Request, attempting: Attempting | None = None) -> Answer:
        if by_code(self.place, request):
            return Answer(self._proposals(request), 0, 0, "code", 0.0, 0)
        if by_likelihood(self.spec, request):
            return await self._likelihoods(request, attempting)
        return await self._chat.answer(request, attempting)

    def _proposals(self, request: Request) -> str:
        legal = self.place.legal(request.subject.state)  # type: ignore[attr-defined]
        count = request.subject.k
        if count == 1 and legal:
            return str(legal[int(chance(self.seed, request.prompt, request.draw) * len(legal))].text)
        order = shuffled(len(legal), self.seed, request.prompt, request.draw)
        return "\n".join(legal[i].text for i in order[:count])

    async def _likelihoods(self, request: Request, attempting: Attempting | None) -> Answer:
        """One completion after the other, each only if it is new; they are this request's sends."""
        scorer, subject, sends = self._scorer, request.subject, 0
        assert scorer is not None
        prompt_tokens = completion_tokens = 0
        scores = []
        for action in subject.actions:
            best = -math.inf
            for prompt in scorer.questions(subject.task, subject.state, action):
                if prompt not in self._known:
                    sends += 1
                    self._known[prompt] = await self._complete(prompt, scorer.ANSWER, sends, attempting)
                likelihood, asked, said = self._known[prompt]
                best = max(best, likelihood)
                prompt_tokens += asked
                completion_tokens += said
            scores.append(on_scale(best))
        return Answer(msgspec.json.encode(scores).decode(), prompt_tokens, completion_tokens, "stop", None, sends)

    async def _complete(
        self, prompt: str, answer: str, number: int, attempting: Attempting | None
    ) -> tuple[float, int, int]:
        """The log-likelihood that ``prompt`` goes on with ``answer``: a grammar admits nothing else, and the server
        tells each token's probability before the grammar."""
        body = {
            "prompt": prompt,
            "max_tokens": 16,
            "temperature": 0,
            "logprobs": 1,
            "grammar": f'root ::= "{answer}"',
        }
        async with self.pace.lease((len(prompt), 16)) as lease:
            if attempting is not None:
                await attempting(number)
            lease.sent = True
            try:
                reply = await self._wire.post(msgspec.json.encode(body), self._chat.spec.patience.attempt)
                if reply.status != 200:
                    raise refusal(reply)
                read = msgspec.json.decode(reply.body, type=_Completion)
            except Broken as error:
                raise failure(Unavailable, f"the local server did not answer: {error}") from None
            except msgspec.DecodeError as error:
                raise failure(Refused, f"the local server's answer cannot be read: {error}") from None
            usage, choice = read.usage, read.choices[0]
            likelihood = None if choice.logprobs is None else likelihood_of(answer, choice.logprobs.content)
            if likelihood is None:
                raise Unusable("the local server gave no likelihood; is this the xllamacpp that paccf[local] names?")
            lease.used(usage.prompt_tokens, usage.completion_tokens)
        return likelihood, usage.prompt_tokens, usage.completion_tokens


def by_code(place: World, request: Request) -> bool:
    """Whether this is a proposal that the domain can list by itself."""
    return request.kind == "propose" and hasattr(place, "legal")


def by_likelihood(spec: ModelSpec, request: Request) -> bool:
    return spec.evaluator == "likelihood" and request.kind in ("evaluate", "appraise")


def parameters(spec: ModelSpec, place: World, seed: int, request: Request) -> str:
    """What decides an answer besides the fingerprint, the prompt and the draw."""
    if by_code(place, request):
        return msgspec.json.encode({"proposals": "legal actions", "seed": seed}).decode()
    if by_likelihood(spec, request):
        return msgspec.json.encode({"evaluator": "likelihood"}).decode()
    return openai.parameters(inner(spec), seed, request)


def inner(spec: ModelSpec, url: str = "http://127.0.0.1") -> ModelSpec:
    """What the server in this process is asked by: scores always in the form that they can be read in."""
    return msgspec.structs.replace(
        spec,
        preset=f"{url}/v1",
        model="local",
        evaluator="verdict",
        json_schema=True,
        concurrency=spec.concurrency or LOCAL_CONCURRENCY,
        patience=spec.patience if spec.patience != Patience() else Patience(attempt=PATIENCE),
    )


class Token(msgspec.Struct):
    token: str
    logprob: float


class _Logprobs(msgspec.Struct):
    content: list[Token]


class _Choice(msgspec.Struct):
    text: str
    logprobs: _Logprobs | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int
    completion_tokens: int


class _Completion(msgspec.Struct):
    choices: Annotated[list[_Choice], msgspec.Meta(min_length=1)]
    usage: _Usage


def likelihood_of(answer: str, tokens: list[Token]) -> float | None:
    """The log-likelihood of ``answer`` where ``tokens`` begin with it; what comes after it, such as the end, is not
    part of it. `None` if they do not."""
    text, total = "", 0.0
    for token in tokens:
        text += token.token
        total += token.logprob
        if text == answer:
            return total
    return None


def on_scale(likelihood: float) -> float:
    """A log-likelihood as a score, by its decades: 100 for certain, 0 for 10^-`DECADES` or less."""
    if likelihood == -math.inf:
        return 0.0
    return round(min(100.0, max(0.0, 100 + 100 / DECADES * likelihood / math.log(10))), 2)


def scorer(domain: str) -> ModuleType:
    """The domain's likelihood questions. Raises `SpecError` if it has none."""
    try:
        return part(domain, "likelihood")
    except ValueError:
        raise SpecError(f"evaluator: {domain} has no likelihood questions; use evaluator = 'verdict'") from None


def fingerprint(spec: ModelSpec) -> str:
    """The weights, the runtime, and all that changes what they say; only foreign weights are read for it."""
    try:
        runtime = version("xllamacpp")
    except PackageNotFoundError:
        runtime = "none"
    weights = digest(Path(spec.weights)) if spec.weights else SMOLLM2.sha256
    asked = [weights, runtime, spec.evaluator, CONTEXT, *asked_of(spec)]
    short = blake2b(msgspec.json.encode(asked, order="sorted"), digest_size=4).hexdigest()
    return f"local {Path(spec.weights).stem if spec.weights else SMOLLM2.name} {spec.evaluator}@{short}"


def threads() -> int:
    """Half of the cores, at most 4: they wait for each other by turning, which ruins a machine that is busy."""
    return max(1, min(4, (os.cpu_count() or 1) // 2))


@asynccontextmanager
async def answering(
    spec: ModelSpec, url: str, seed: int, pace: Pace | None = None
) -> AsyncIterator[Callable[[str, Mapping[str, Any]], LocalModel]]:
    """The local model on a server that runs at ``url``, for any domain and its world's settings."""
    completions = Wire(f"{url}/v1/completions", {})
    try:
        async with openai.chat(inner(spec, url), seed, pace=pace or openai.paced(spec)) as chatting:
            yield lambda domain, settings: LocalModel(spec, chatting, world(domain, **settings), completions, seed)
    finally:
        await completions.close()


@asynccontextmanager
async def served(spec: ModelSpec) -> AsyncIterator[str]:
    """llama.cpp's server on a free loopback port; yields its address."""
    try:
        path = Path(spec.weights) if spec.weights else found()
    except NoWeights as error:
        raise Unusable(str(error)) from None
    if not path.is_file():
        raise Unusable(f"weights: there is no file {path}")
    try:
        import xllamacpp
    except ModuleNotFoundError:
        raise Unusable('the local model needs its runtime: pip install "paccf[local]"') from None
    slots = spec.concurrency or LOCAL_CONCURRENCY
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.port = 0
    params.n_parallel = slots
    params.n_ctx = CONTEXT * slots
    params.n_gpu_layers = 0
    params.ui = False
    params.verbosity = -1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = spec.threads or threads()
    logging.getLogger("xllamacpp").setLevel(logging.ERROR)
    try:
        server = await asyncio.to_thread(partial(xllamacpp.Server, params))
    except (RuntimeError, ValueError) as error:
        raise failure(Unusable, f"the local server did not start with {path.name}: {error}") from None
    try:
        await _works(server.listening_address)
        yield server.listening_address
    finally:
        del server


async def _works(url: str) -> None:
    """Wait until the server has made a token. One that is let go of before its loop runs misses the wish to end, and
    whoever let go of it waits for ever."""
    place, body = urlsplit(url), b'{"prompt": "1", "n_predict": 1}'
    head = f"POST /completion HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    async with asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        try:
            writer.write(head.encode() + body)
            await reader.read()
        finally:
            writer.close()
