"""Eight processes write one PostgreSQL database at once: nothing is lost, nothing doubled, and all agree."""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from tests.record.conftest import RUN, toy_search
from tests.record.test_copying import request

from paccf.models.tape import AsyncTaped, Attempting, DurableTape
from paccf.record.errors import Conflict
from paccf.record.store import Store
from paccf.record.tape import read_rows
from paccf.record.values import Exclusion
from paccf.search.chance import chance
from paccf.search.world import Answer, Request

WRITERS = 8
OURS, MINE = 12, 6  # searches that all of them write, and that one of them writes
PROMPTS = 120  # all ask most of them


class Says:
    """Answers otherwise in every process, so that it shows whose answer was kept."""

    name = fingerprint = "says"

    def __init__(self, writer: int) -> None:
        self.writer, self.sent = writer, 0

    async def answer(self, request: Request, attempting: Attempting | None = None) -> Answer:
        assert attempting is not None
        await attempting(1)
        self.sent += 1
        await asyncio.sleep(0.002 * chance(self.writer, request.prompt))
        return Answer(f"{self.writer} {request.prompt}", 3, 1, "stop", 0.5, 1)


def write(url: str, writer: int) -> dict[str, str]:
    """What one process does, in an order of its own; the answers that it saw."""
    with Store.open(url) as store:
        store.begin(RUN)
        tasks = [f"ours{i}" for i in range(OURS)] + [f"mine{writer}-{i}" for i in range(MINE)]
        for task in sorted(tasks, key=lambda task: chance("order", writer, task)):
            search = toy_search(task=task)
            store.save(RUN, search)
            store.put_labels(RUN, search.outcome.key, "found", [[True] * len(f.candidates) for f in search.frontiers])
        store.put_certificate(RUN, "toy", "uct", "{}")
        store.exclude(RUN, Exclusion("toy", "t9", "so"))
        says = Says(writer)
        seen: dict[str, str] = {}

        async def go() -> None:
            model = AsyncTaped(DurableTape(store, "says"), says)
            prompts = [f"p{i}" for i in range(PROMPTS) if chance("asks", writer, i) < 0.8]

            async def one(prompt: str) -> None:
                seen[prompt] = (await model.answer(request(prompt))).text

            await asyncio.gather(*[one(p) for p in sorted(prompts, key=lambda p: chance("order", writer, p))])

        asyncio.run(go())
        return seen | {"sent": str(says.sent)}


@contextmanager
def forked(work: Callable[[], dict[str, str]]) -> Iterator[Callable[[], dict[str, str]]]:
    """``work`` in a process of its own; yields what waits for its result."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        try:
            os.write(writing, repr(work()).encode())
            os._exit(0)
        except BaseException:
            traceback.print_exc(file=sys.stderr)
            os._exit(1)
    os.close(writing)

    def result() -> dict[str, str]:
        with os.fdopen(reading) as file:
            said = file.read()
        assert os.waitpid(pid, 0)[1] == 0
        found = eval(said)  # what repr wrote just now
        assert isinstance(found, dict)
        return found

    yield result


@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
def test_eight_processes_write_at_once(postgres: Callable[[], str]) -> None:
    url = postgres()
    results = []
    for writer in range(WRITERS):  # also its tables are made by all of them at once
        with forked(lambda writer=writer: write(url, writer)) as result:
            results.append(result)
    seen = [result() for result in results]
    with Store.open(url, readonly=True) as store:
        tasks = [s.outcome.key.task for s in store.searches(RUN, "found")]
        every = {f"ours{i}" for i in range(OURS)} | {f"mine{w}-{i}" for w in range(WRITERS) for i in range(MINE)}
        assert len(tasks) == len(every)
        assert set(tasks) == every
        for search in store.searches(RUN, task="ours3"):
            assert search == toy_search(task="ours3")
        assert len(store.runs()) == 1
        assert store.certificates(RUN) == {("toy", "uct"): "{}"}
        assert store.exclusions(RUN) == [Exclusion("toy", "t9", "so")]
        with store.database.read() as connection:
            rows = {row.question.prompt: row for row in read_rows(connection)}
        known = store.tape()
    sent = sum(int(found.pop("sent")) for found in seen)
    assert set(rows) == {prompt for found in seen for prompt in found}
    assert (known.attempts, known.maybe_billed, known.failed) == (sent, 0, 0), "every send was noted, and once"
    assert sent >= len(rows)
    for prompt, row in rows.items():
        assert row.reply is not None
        answers = {found[prompt] for found in seen if prompt in found}
        assert answers == {row.reply.text}, "all processes saw the answer that is on the tape"
    assert len({row.reply.text.split()[0] for row in rows.values() if row.reply}) > 1, "they did write at once"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
def test_two_that_disagree_are_told(postgres: Callable[[], str]) -> None:
    url = postgres()
    with Store.open(url) as one, Store.open(url) as other:
        one.begin(RUN)
        one.put_certificate(RUN, "toy", "uct", "{}")
        other.begin(RUN)
        with pytest.raises(Conflict, match="certificates"):
            other.put_certificate(RUN, "toy", "uct", "{ }")
