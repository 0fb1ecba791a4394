"""From a spec to a model that answers. Each kind is imported when it is opened."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paccf.models.live import Attempting, Live
from paccf.models.spec import ModelSpec
from paccf.search.world import Answer, Request

if TYPE_CHECKING:
    from paccf.models.simulated import Simulated


def fingerprint(spec: ModelSpec) -> str:
    """A text that changes whenever the answers may. Neither the seed nor how fast, dear or often is asked is in it."""
    if spec.simulated:
        from paccf.models.simulated import digest, load

        profile = load(spec.profile)
        return f"SIMULATED/{profile.name}@{digest(profile)}"
    from paccf.models import openai

    return openai.fingerprint(spec)


@asynccontextmanager
async def opened(
    spec: ModelSpec, domain: str, seed: int, settings: Mapping[str, Any] | None = None
) -> AsyncIterator[Live]:
    """The model of ``spec`` for searches in ``domain`` whose world has these ``settings``. It holds connections, so
    one is shared by all searches of a process. Raises `SpecError`, `ModelFailure`."""
    spec.checked()
    if spec.simulated:
        from paccf.models.simulated import simulated

        yield Waiting(simulated(domain, spec.profile, seed), fingerprint(spec), spec.latency_ms)
        return
    from paccf.models.openai import chat

    async with chat(spec, seed) as model:
        yield model


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
        return json.dumps({"kind": request.kind, "seed": self.source.seed})

    async def answer(self, request: Request, attempting: Attempting | None = None) -> Answer:
        if self.latency_ms:
            await asyncio.sleep(self.latency_ms / 1000)
        return self.source.answer(request)
