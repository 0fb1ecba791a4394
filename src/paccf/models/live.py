"""What the engine's asynchronous side asks of a model, and how a model says that it cannot answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from paccf.search.world import Answer, ModelFailure, Request

Attempting = Callable[[int], Awaitable[None]]


class Live(Protocol):
    """Two methods. `answer` asks; `parameters` names, as canonical JSON, all that decides an answer besides the
    fingerprint, the prompt and the draw: a tape's key is the digest of these four."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str:
        """A text that changes whenever answers may; it holds no seed, and nothing secret."""
        ...

    @property
    def simulated(self) -> bool: ...

    def parameters(self, request: Request) -> str: ...

    async def answer(self, request: Request, attempting: Attempting | None = None) -> Answer:
        """Raises `ModelFailure`, `CeilingReached` or `Ended`. ``attempting(n)`` is awaited before the n-th send of this
        request, so that what may have been billed can be known after a crash; a model that sends nothing never
        calls it."""
        ...


class Refused(ModelFailure):
    """This request will not be answered, others may be: too long, filtered, or malformed."""


class Withheld(Refused):
    """The model or its provider did answer, and would not speak of this prompt, or said nothing of use. Of a scoring
    this is no more than a failed observation: `ChatModel` answers it with an empty text, and the driver asks anew."""


class Unusable(ModelFailure):
    """No request will be answered until somebody changes the spec, the key or the account."""


class Unavailable(ModelFailure):
    """The endpoint did not answer in as many attempts as the spec allows. Running again later may help."""


class CeilingReached(Exception):
    """A ceiling of the spec forbids the next send. No failure of a search: the run ends, and can go on later."""


class Ended(Exception):
    """Somebody asked that nothing more be sent (`paccf.models.pace.Pace.end`). What was in flight is finished."""
