"""From a spec to a model that answers. Each kind is imported when it is opened."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from paccf.models.live import Attempting, Live
from paccf.models.spec import ModelSpec
from paccf.search.world import Answer, Request

if TYPE_CHECKING:
    from paccf.models.pace import Pace
    from paccf.models.simulated import Simulated


def fingerprint(spec: ModelSpec) -> str:
    """A text that changes whenever the answers may. Neither the seed nor how fast, dear or often is asked is in it."""
    if spec.simulated:
        from paccf.models.simulated import digest, load

        profile = load(spec.profile)
        return f"SIMULATED/{profile.name}@{digest(profile)}"
    if spec.preset == "local":
        from paccf.models import local

        return local.fingerprint(spec)
    from paccf.models import openai

    return openai.fingerprint(spec)


def parameters(
    spec: ModelSpec, domain: str, seed: int, settings: Mapping[str, Any] | None = None
) -> Callable[[Request], str]:
    """What `opened` would say of a request, without opening anything: for a replay, which has no model."""
    if spec.simulated:
        return partial(_simulated_parameters, seed)
    if spec.preset == "local":
        from paccf.domains.registry import world
        from paccf.models import local

        return partial(local.parameters, spec, world(domain, **(settings or {})), seed)
    from paccf.models import openai

    return partial(openai.parameters, spec, seed)


Answering = Callable[[str, Mapping[str, Any]], Live]


@asynccontextmanager
async def connected(spec: ModelSpec, seed: int, pace: Pace | None = None) -> AsyncIterator[Answering]:
    """Who answers, for searches in any domain: called with a domain and its world's settings, it gives the model there.
    All of these share their connections and their ``pace``. Raises `SpecError`, `ModelFailure`."""
    spec.checked()
    if spec.simulated:
        yield partial(_waiting, spec, seed)
    elif spec.preset == "local":
        from paccf.models.local import answering, served

        async with served(spec) as url, answering(spec, url, seed, pace) as answers:
            yield answers
    else:
        from paccf.models.openai import chat

        async with chat(spec, seed, pace=pace) as model:
            yield lambda domain, settings: model


@asynccontextmanager
async def opened(
    spec: ModelSpec, domain: str, seed: int, settings: Mapping[str, Any] | None = None
) -> AsyncIterator[Live]:
    """The model of ``spec`` for searches in ``domain`` whose world has these ``settings``. It holds connections, so
    one is shared by all searches of a process. Raises `SpecError`, `ModelFailure`."""
    async with connected(spec, seed) as answering:
        yield answering(domain, settings or {})


def _waiting(spec: ModelSpec, seed: int, domain: str, settings: Mapping[str, Any]) -> Waiting:
    from paccf.models.simulated import simulated

    return Waiting(simulated(domain, spec.profile, seed, **settings), fingerprint(spec), spec.latency_ms)


def _simulated_parameters(seed: int, request: Request) -> str:
    """It answers by the task, not by the prompt's words; they need not tell two tasks apart."""
    return json.dumps({"kind": request.kind, "seed": seed, "task": request.subject.task.id})


@dataclass(frozen=True, slots=True)
class Waiting:
    """The simulated model for an asynchronous driver: waits its latency instead of blocking."""

    source: Simulated
    fingerprint: str
    latency_ms: float
    simulated: bool = True

    @property
    def name(self) -> str:
        return self.source.name

    def parameters(self, request: Request) -> str:
        return _simulated_parameters(self.source.seed, request)

    async def answer(self, request: Request, attempting: Attempting | None = None) -> Answer:
        if self.latency_ms:
            await asyncio.sleep(self.latency_ms / 1000)
        return self.source.answer(request)
