"""The tape: answers by what was asked, so that none is paid for twice, and a search can be run again without a model.

A search is deterministic given its answers, so running it again over its tape is its replay, and running it over a
part of its tape with a model behind it is its resumption. An attempt is noted durably before it is sent, and an answer
is durable before the search sees it; so a crash costs at most what was in flight, and that can be told afterwards.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any, Protocol

from paccf.record.store import Store
from paccf.record.tape import Lookup, Question, Reply, name_of, write_begun, write_failures, write_replies
from paccf.search.world import Answer, Model, ModelFailure, Request

Attempting = Callable[[int], Awaitable[None]]
Parameters = Callable[[Request], str]


class NotOnTape(Exception):
    """A replay asked for an answer that was never recorded."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as the tape knows it. ``model`` and ``parameters`` are all else that decides the answer."""

    key: bytes
    model: str
    parameters: str
    request: Request


def key(request: Request, model: str = "", parameters: str = "") -> bytes:
    """What an answer is filed under."""
    return name_of(model, parameters, request.kind, request.draw, request.prompt)


class Kept(Protocol):
    """Where the answers of one model are kept. What is found has no attempts: it cost none. A future is done when what
    it stands for is durable."""

    @property
    def fingerprint(self) -> str:
        """Of the model."""
        ...

    @property
    def quick(self) -> bool:
        """Whether looking takes microseconds, so that it need not leave the event loop."""
        ...

    def get(self, name: bytes) -> Answer | None: ...

    def get_many(self, names: Sequence[bytes]) -> Mapping[bytes, Answer]: ...

    def begin(self, asked: Asked) -> Future[None]:
        """An attempt is about to be sent."""
        ...

    def keep(self, asked: Asked, answer: Answer) -> Future[Answer]:
        """The answer came. The result is the one on the tape: somebody else's, if theirs was first."""
        ...

    def fail(self, asked: Asked, failure: str) -> Future[None]:
        """The model ended without an answer."""
        ...


class Tape:
    """A tape that lasts as long as this process, in the order the answers came."""

    quick = True

    def __init__(self, answers: Mapping[bytes, Answer] | None = None, fingerprint: str = "") -> None:
        self.fingerprint = fingerprint
        self._answers = dict(answers or {})

    def __len__(self) -> int:
        return len(self._answers)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._answers)

    def find(self, request: Request) -> Answer | None:
        return self._answers.get(key(request, self.fingerprint))

    def put(self, request: Request, answer: Answer) -> None:
        self._answers[key(request, self.fingerprint)] = replace(answer, attempts=0)

    def first(self, count: int) -> Tape:
        """The tape as it was after its first ``count`` answers."""
        return Tape(dict(list(self._answers.items())[:count]), self.fingerprint)

    def get(self, name: bytes) -> Answer | None:
        return self._answers.get(name)

    def get_many(self, names: Sequence[bytes]) -> Mapping[bytes, Answer]:
        return {name: self._answers[name] for name in names if name in self._answers}

    def begin(self, asked: Asked) -> Future[None]:
        return _DONE

    def keep(self, asked: Asked, answer: Answer) -> Future[Answer]:
        self._answers.setdefault(asked.key, replace(answer, attempts=0))
        return _done(answer)

    def fail(self, asked: Asked, failure: str) -> Future[None]:
        return _DONE


def _done(value: Any) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(value)
    return future


_DONE: Future[None] = _done(None)


class DurableTape:
    """The tape of one model in a record's database, beside the record or without one. ``store`` is open for writing, or
    for reading if nothing new will be asked. ``parameters`` says what else decides an answer, where no source does."""

    def __init__(self, store: Store, fingerprint: str, parameters: Parameters | None = None) -> None:
        self.fingerprint, self.parameters = fingerprint, parameters
        self._database = store.database
        self._lookup = Lookup(store.database)
        self.quick = self._lookup.quick

    def get(self, name: bytes) -> Answer | None:
        reply = self._lookup.find([name]).get(name)
        return None if reply is None else _answer(reply, 0)

    def get_many(self, names: Sequence[bytes]) -> Mapping[bytes, Answer]:
        return {name: _answer(reply, 0) for name, reply in self._lookup.find(names).items()}

    def begin(self, asked: Asked) -> Future[None]:
        return self._database.submit(write_begun, _question(asked))

    def keep(self, asked: Asked, answer: Answer) -> Future[Answer]:
        reply = Reply(
            answer.text,
            answer.prompt_tokens,
            answer.completion_tokens,
            answer.finish,
            answer.latency,
            answer.attempts,
        )
        kept: Future[Answer] = Future()
        kept.set_running_or_notify_cancel()  # it cannot be taken back

        def told(written: Future[Reply]) -> None:
            error = written.exception()
            if error is not None:
                kept.set_exception(error)
            else:
                kept.set_result(_answer(written.result(), answer.attempts))

        self._database.submit(write_replies, (_question(asked), reply)).add_done_callback(told)
        return kept

    def fail(self, asked: Asked, failure: str) -> Future[None]:
        return self._database.submit(write_failures, (_question(asked), failure))


def _question(asked: Asked) -> Question:
    request = asked.request
    return Question(asked.key, asked.model, asked.parameters, request.kind, request.draw, request.prompt)


def _answer(reply: Reply, attempts: int) -> Answer:
    return Answer(reply.text, reply.prompt_tokens, reply.completion_tokens, reply.finish, reply.latency, attempts)


class _Over:
    """A model over a tape: what the synchronous and the asynchronous one share.

    ``source`` is who answers what is not on the tape; without one, or with ``replay``, nobody is asked and
    `NotOnTape` is raised. ``sent`` counts what the source answered.
    """

    def __init__(self, tape: Kept, source: Any, replay: bool) -> None:
        self.tape, self.source, self.sent = tape, source, 0
        self.replay = replay or source is None
        self.name: str = "tape" if source is None else source.name
        self.fingerprint = tape.fingerprint
        self.simulated: bool = getattr(source, "simulated", False)
        said: Parameters | None = getattr(source, "parameters", None) or getattr(tape, "parameters", None)
        self._parameters = said

    def parameters(self, request: Request) -> str:
        """What else decides the answer, as the source or the tape says it."""
        return "" if self._parameters is None else self._parameters(request)

    def key(self, request: Request) -> bytes:
        """What the answer to ``request`` is filed under."""
        return key(request, self.fingerprint, self.parameters(request))

    def _asked(self, request: Request) -> Asked:
        parameters = self.parameters(request)
        return Asked(key(request, self.fingerprint, parameters), self.fingerprint, parameters, request)


class Taped(_Over):
    """A synchronous model over a tape; implements `paccf.search.world.Model`."""

    def __init__(self, tape: Kept, source: Model | None = None, *, replay: bool = False) -> None:
        super().__init__(tape, source, replay)

    def answer(self, request: Request) -> Answer:
        asked = self._asked(request)
        known = self.tape.get(asked.key)
        if known is not None:
            return known
        if self.replay:
            raise _missing(request)
        self.tape.begin(asked).result()
        try:
            answer = self.source.answer(request)
        except ModelFailure as failure:
            self.tape.fail(asked, str(failure)).result()
            raise
        self.sent += 1
        return self.tape.keep(asked, answer).result()


class AsyncTaped(_Over):
    """An asynchronous model over a tape. Requests that are under way are not sent a second time: whoever asks the same
    waits for the same answer. A search that is cancelled leaves its requests to finish, and their answers are kept."""

    def __init__(self, tape: Kept, source: Any = None, *, replay: bool = False) -> None:
        super().__init__(tape, source, replay)
        self._under_way: dict[bytes, asyncio.Task[Answer]] = {}
        self._looking: dict[bytes, asyncio.Future[Answer | None]] = {}

    async def answer(self, request: Request, attempting: Attempting | None = None) -> Answer:
        asked = self._asked(request)
        task = self._under_way.get(asked.key)
        if task is not None:
            return replace(await asyncio.shield(task), attempts=0)
        known = self.tape.get(asked.key) if self.tape.quick else await self._find(asked.key)
        if known is not None:
            return known
        if self.replay:
            raise _missing(request)
        task = self._under_way.get(asked.key)  # somebody may have begun it meanwhile
        first = task is None
        if task is None:
            task = asyncio.create_task(self._ask(asked, attempting))
            self._under_way[asked.key] = task
            task.add_done_callback(lambda _: self._under_way.pop(asked.key, None))
            task.add_done_callback(_retrieve)
        answer = await asyncio.shield(task)
        return answer if first else replace(answer, attempts=0)

    async def _ask(self, asked: Asked, attempting: Attempting | None) -> Answer:
        async def begin(attempt: int) -> None:
            await asyncio.wrap_future(self.tape.begin(asked))
            if attempting is not None:
                await attempting(attempt)

        try:
            answer = await self.source.answer(asked.request, begin)
        except ModelFailure as failure:
            await asyncio.wrap_future(self.tape.fail(asked, str(failure)))
            raise
        self.sent += 1
        return await asyncio.wrap_future(self.tape.keep(asked, answer))

    async def _find(self, name: bytes) -> Answer | None:
        """Look in a tape that is far away: all that is asked at one instant together."""
        if name not in self._looking:
            if not self._looking:
                asyncio.get_running_loop().call_soon(lambda: asyncio.create_task(self._look()))
            self._looking[name] = asyncio.get_running_loop().create_future()
        return await self._looking[name]

    async def _look(self) -> None:
        looking, self._looking = self._looking, {}
        try:
            found = await asyncio.to_thread(self.tape.get_many, list(looking))
        except Exception as error:
            for future in looking.values():
                if not future.done():
                    future.set_exception(error)
            return
        for name, future in looking.items():
            if not future.done():
                future.set_result(found.get(name))

    async def settled(self) -> None:
        """Wait until nothing is under way, whether or not anybody still waits for it."""
        while self._under_way:
            await asyncio.wait(list(self._under_way.values()))


def _retrieve(task: asyncio.Task[Answer]) -> None:
    """A failure that nobody waits for any more is no news."""
    if not task.cancelled():
        task.exception()


def _missing(request: Request) -> NotOnTape:
    return NotOnTape(f"no answer for {request.kind}, draw {request.draw}: {request.prompt:.200}")
