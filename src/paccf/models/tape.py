"""The tape: answers by what was asked, so that none is asked for twice, and a search can be run again without a model.

A search is deterministic given its answers, so running it again over its tape is its replay, and running it over a
part of its tape with a model behind it is its resumption.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from paccf.search.world import Answer, Model, Request


class NotOnTape(Exception):
    """A replay asked for an answer that was never recorded."""


def key(request: Request) -> str:
    """What an answer is filed under: the kind, the prompt, and which draw of it."""
    text = f"{request.kind}\x1f{request.draw}\x1f{request.prompt}"
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


class Tape:
    """Answers in memory, in the order they came. Give it to a `Taped` model."""

    def __init__(self, answers: Mapping[str, Answer] | None = None) -> None:
        self._answers = dict(answers or {})

    def __len__(self) -> int:
        return len(self._answers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._answers)

    def find(self, request: Request) -> Answer | None:
        return self._answers.get(key(request))

    def put(self, request: Request, answer: Answer) -> None:
        self._answers[key(request)] = answer

    def first(self, count: int) -> Tape:
        """The tape as it was after its first ``count`` answers."""
        return Tape(dict(list(self._answers.items())[:count]))


class Taped:
    """A model that answers from ``tape`` and asks ``source`` for the rest; without a source, a replay that raises
    `NotOnTape` if it is asked for more. ``sent`` counts what the source answered."""

    def __init__(self, tape: Tape, source: Model | None = None) -> None:
        self.tape, self.source, self.sent = tape, source, 0
        self.name = "tape" if source is None else source.name

    def answer(self, request: Request) -> Answer:
        known = self.tape.find(request)
        if known is not None:
            return known
        if self.source is None:
            raise NotOnTape(f"no answer for {request.kind}, draw {request.draw}: {request.prompt:.200}")
        answer = self.source.answer(request)
        self.sent += 1
        self.tape.put(request, answer)
        return answer
