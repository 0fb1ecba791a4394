"""What the engine asks of a domain and of a model. Both are protocols: anything of this shape will do."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from paccf.search.effects import Channel
from paccf.search.tree import Action, Outcome, Task

_TO_LAST_BREAK = re.compile(r"[^\n\r,]*\Z")

Kind = Literal["propose", "evaluate", "appraise", "reflect"]


@dataclass(frozen=True, slots=True)
class Subject:
    """What a request is about, in the domain's own values: for a simulated model, which must know what it distorts.
    A real model is sent the prompt alone."""

    task: Task
    state: Any
    actions: tuple[Action, ...] = ()  # in the order asked
    channel: Channel = "child"
    k: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a model: the unit of the budget. ``draw`` tells repeated observations of one prompt apart."""

    kind: Kind
    prompt: str
    draw: int
    subject: Subject


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's text. Unknown token counts are `None`, never a guess. ``attempts`` are the requests on the wire that it
    took (0: none, it was known), ``latency`` the seconds of the last one; both are told apart from the logical request
    that the budget counts."""

    text: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    finish: str | None = None  # the provider's finish reason
    latency: float | None = None
    attempts: int = 1

    @property
    def said(self) -> str:
        """The text outside of the thoughts that it marks; nothing, if it was cut off while thinking. What a model
        weighed there it did not answer, so it is all that is read. Where the answer ended because it was long enough,
        nobody knows what its last words were on their way to: it is read up to its last line break or comma."""
        said = self.text.rpartition("</think>")[2].partition("<think>")[0]
        return _TO_LAST_BREAK.sub("", said) if self.finish == "length" else said


class ModelFailure(Exception):
    """The model cannot answer, and asking again is no use: the search ends as a technical failure."""


class Model(Protocol):
    """Who answers a prompt. The answer depends on the request alone."""

    @property
    def name(self) -> str: ...

    def answer(self, request: Request) -> Answer: ...


class AsyncModel(Protocol):
    """A model that is waited for."""

    async def answer(self, request: Request) -> Answer: ...


@dataclass(frozen=True, slots=True)
class Reading:
    """What could be read from a proposal: legal actions in order (repeats allowed), and what was left out."""

    actions: tuple[Action, ...]
    illegal: int = 0
    unparsable: int = 0


class World(Protocol):
    """A domain: states, transitions, prompts and their readers, and the verifier. It knows no solutions. A frozen
    dataclass, whose fields are its settings: a margin is matched to them."""

    @property
    def name(self) -> str: ...

    @property
    def horizon(self) -> int: ...

    @property
    def verified(self) -> bool:
        """Whether a terminal state carries a verifier's word, online."""
        ...

    def start(self, task: Task) -> Outcome: ...

    def execute(self, task: Task, state: Any, action: Action) -> Outcome: ...

    def utility(self, task: Task, actions: Sequence[Action]) -> float:
        """What these actions are worth in the end, 0 to 1."""
        ...

    def metrics(self, task: Task, actions: Sequence[Action]) -> Mapping[str, float]:
        """Further utilities by name, if the domain has any. Like `utility`, for a search that has ended."""
        ...

    def solution(self, task: Task, actions: Sequence[Action]) -> str:
        """The answer as a person would write it."""
        ...

    def propose(self, task: Task, state: Any, k: int, notes: Sequence[str]) -> str: ...

    def read_proposals(self, task: Task, state: Any, text: str) -> Reading: ...

    def evaluate(
        self,
        task: Task,
        state: Any,
        actions: Sequence[Action],
        channel: Channel,
        notes: Sequence[str],
        outcomes: Sequence[Outcome] | None,
    ) -> str: ...

    def read_scores(self, text: str, count: int) -> list[float | None]:
        """One entry a candidate, 0-100, `None` where none can be read."""
        ...

    def reflect(self, task: Task, actions: Sequence[Action]) -> str: ...
