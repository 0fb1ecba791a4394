"""Nothing is asked for twice, nothing that was paid for is lost, and what may have been billed can be told."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from paccf.domains.toy import Toy, ToyModel
from paccf.models import tape as tape_module
from paccf.models.tape import AsyncTaped, Attempting, DurableTape, NotOnTape, Tape, Taped, key
from paccf.record import tape as tape_rows
from paccf.record.copying import copy_tape
from paccf.record.errors import StoreError
from paccf.record.store import Store
from paccf.search.controllers import controller
from paccf.search.driver import run, run_all, run_async, search
from paccf.search.tree import Task
from paccf.search.world import Answer, ModelFailure, Request, Subject

ABOUT = Subject(Task("t", None), "")
REQUEST = Request("propose", "Say something.\x00\x1b[31m\ud800", 0, ABOUT)


class Echo:
    """Answers late, notes every send, and fails on the prompts it is told to."""

    name = fingerprint = "echo"
    simulated = True

    def __init__(self, delay: float = 0.0, failing: str = "") -> None:
        self.delay, self.failing = delay, failing
        self.seen: list[Request] = []

    async def answer(self, request: Request, attempting: Attempting | None = None) -> Answer:
        if attempting is not None:
            await attempting(1)
        self.seen.append(request)
        await asyncio.sleep(self.delay)
        if request.prompt == self.failing:
            raise ModelFailure("it is \x1b[2Jbroken")
        return Answer(f"{request.prompt} {request.draw}", 3, None, "stop", self.delay, 2)


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    with Store.open(place) as opened:
        yield opened


def rows(store: Store) -> list[tape_rows.Row]:
    with store.database.read() as connection:
        return list(tape_rows.read_rows(connection))


def test_the_key_tells_everything_apart_that_decides_an_answer() -> None:
    others = [
        key(replace(REQUEST, kind="evaluate")),
        key(replace(REQUEST, draw=1)),
        key(replace(REQUEST, prompt="x")),
        key(REQUEST, "model"),
        key(REQUEST, "", "model"),
        key(REQUEST, "mo", "del"),
        key(replace(REQUEST, prompt="model" + REQUEST.prompt)),
    ]
    assert len({key(REQUEST), *others}) == 8
    assert key(replace(REQUEST, subject=Subject(Task("u", None), "other"))) == key(REQUEST)


def test_an_answer_is_asked_for_once_and_outlives_its_process(store: Store, place: str) -> None:
    echo = Echo()
    taped = AsyncTaped(DurableTape(store, "echo"), echo)
    first = asyncio.run(taped.answer(REQUEST))
    assert first == Answer(REQUEST.prompt + " 0", 3, None, "stop", 0.0, 2)
    assert asyncio.run(taped.answer(REQUEST)) == replace(first, attempts=0)
    store.close()
    with Store.open(place, readonly=True) as reader:
        replay = Taped(DurableTape(reader, "echo"))
        assert replay.answer(REQUEST) == replace(first, attempts=0)
        with pytest.raises(NotOnTape, match="no answer for propose, draw 1"):
            replay.answer(replace(REQUEST, draw=1))
        with pytest.raises(NotOnTape):
            Taped(DurableTape(reader, "another model")).answer(REQUEST)
    assert len(echo.seen) == 1


def test_an_attempt_is_durable_before_it_is_sent(store: Store) -> None:
    async def go() -> None:
        task = asyncio.create_task(AsyncTaped(DurableTape(store, "echo"), echo).answer(REQUEST))
        while not echo.seen:
            await asyncio.sleep(0)
        (row,) = rows(store)
        assert (row.begun, row.reply, row.question.prompt) == (1, None, REQUEST.prompt)
        await task
        (row,) = rows(store)
        assert row.begun == 1
        assert row.reply is not None
        assert row.reply.attempts == 2

    echo = Echo(delay=0.05)
    asyncio.run(go())


def test_the_same_request_under_way_is_sent_once_and_a_cancelled_one_is_kept(store: Store) -> None:
    async def go() -> None:
        taped = AsyncTaped(DurableTape(store, "echo"), echo)
        asking = [asyncio.create_task(taped.answer(REQUEST)) for _ in range(20)]
        while not echo.seen:
            await asyncio.sleep(0)
        asking[0].cancel()
        answers = await asyncio.gather(*asking[1:])
        assert {answer.text for answer in answers} == {REQUEST.prompt + " 0"}
        assert {answer.attempts for answer in answers} == {0}
        other = asyncio.create_task(taped.answer(replace(REQUEST, draw=1)))
        while len(echo.seen) < 2:
            await asyncio.sleep(0)
        other.cancel()
        await taped.settled()

    echo = Echo(delay=0.02)
    asyncio.run(go())
    assert [request.draw for request in echo.seen] == [0, 1]
    assert all(row.reply is not None for row in rows(store))


def test_how_a_model_failed_is_noted_and_the_next_run_asks_again(store: Store) -> None:
    tape = DurableTape(store, "echo")
    with pytest.raises(ModelFailure):
        asyncio.run(AsyncTaped(tape, Echo(failing=REQUEST.prompt)).answer(REQUEST))
    (row,) = rows(store)
    assert (row.begun, row.reply, row.failure) == (1, None, "it is \x1b[2Jbroken")
    asyncio.run(AsyncTaped(tape, Echo()).answer(REQUEST))
    (row,) = rows(store)
    assert (row.begun, row.failure) == (2, None)
    assert row.reply is not None


def test_an_attempt_after_a_failure_that_a_crash_cuts_off_may_have_been_billed(store: Store, tmp_path: Path) -> None:
    """An outage, then a run that goes on and is killed in flight."""
    tape = DurableTape(store, "echo")
    asked = AsyncTaped(tape)._asked(REQUEST)
    tape.begin(asked).result()
    tape.fail(asked, "nobody is there").result()
    assert (store.tape().maybe_billed, store.tape().failed) == (0, 1)
    tape.begin(asked).result()
    assert (store.tape().maybe_billed, store.tape().failed) == (1, 0)
    (row,) = rows(store)
    assert (row.begun, row.reply, row.failure) == (2, None, None)
    with Store.open(tmp_path / "copy.sqlite") as other:
        copy_tape(store, other)
        assert rows(other) == [row]
        tape.fail(asked, "away again").result()
        tape.begin(asked).result()
        tape.fail(asked, "and again").result()
        for _ in range(2):
            copy_tape(store, other)  # what knows of more attempts says how they ended
            assert rows(other) == rows(store)
            assert other.tape().failed == 1
    asyncio.run(AsyncTaped(tape, Echo()).answer(REQUEST))
    tape.begin(asked).result()  # somebody who did not know of the answer
    (row,) = rows(store)
    assert row.reply is not None
    assert row.begun == 5
    assert store.tape().maybe_billed == 0


@pytest.mark.parametrize("step", ["begin", "keep", "fail"])
def test_a_loop_that_is_torn_down_meanwhile_loses_nothing_that_was_handed_over(
    store: Store, place: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, step: str
) -> None:
    """All tasks are cancelled while the tape's thread is writing, as `asyncio.run` does at its end."""
    writing, on = threading.Event(), threading.Event()
    name = {"begin": "write_begun", "keep": "write_replies", "fail": "write_failures"}[step]
    write = getattr(tape_rows, name)

    def slow(connection: Connection, items: Sequence[Any]) -> list[Any]:
        writing.set()
        assert on.wait(10)
        return list(write(connection, items))

    async def go() -> None:
        taped = AsyncTaped(DurableTape(store, "echo"), Echo(failing=REQUEST.prompt if step == "fail" else ""))
        asyncio.create_task(taped.answer(REQUEST))  # noqa: RUF006
        await asyncio.to_thread(writing.wait, 10)

    monkeypatch.setattr(tape_module, name, slow)
    asyncio.run(go())
    monkeypatch.undo()
    other = replace(REQUEST, draw=1)
    tape = DurableTape(store, "echo")
    handed = tape.begin(AsyncTaped(tape)._asked(other))  # while the first is still being written
    on.set()
    handed.result(timeout=10)
    asyncio.run(AsyncTaped(tape, Echo()).answer(other))
    store.close()
    with Store.open(place, readonly=True) as reader:
        first, second = sorted(rows(reader), key=lambda row: row.question.draw)
    assert (first.begun, first.reply is not None, first.failure is not None) == (1, step == "keep", step == "fail")
    assert (second.begun, second.reply is not None) == (2, True)
    assert not caplog.records


def test_a_tape_whose_thread_has_ended_says_so(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    class Ended(BaseException):
        pass

    def ends(told: object) -> None:
        raise Ended("so")

    tape, taped = DurableTape(store, "echo"), AsyncTaped(DurableTape(store, "echo"))
    entered, on = threading.Event(), threading.Event()

    def slow(connection: Connection, items: Sequence[Any]) -> list[Any]:
        entered.set()
        assert on.wait(10)
        return [None] * len(items)

    first = store.database.submit(slow, None)
    first.add_done_callback(ends)
    assert entered.wait(10)
    second = tape.begin(taped._asked(REQUEST))
    on.set()
    first.result(timeout=10)
    with pytest.raises(StoreError, match="thread that writes the record has ended"):
        second.result(timeout=10)
    with pytest.raises(StoreError, match="thread that writes the record has ended"):
        tape.begin(taped._asked(REQUEST))
    with pytest.raises(StoreError, match="thread that writes the record has ended"):
        store.close()


def test_two_that_ask_the_same_at_once_get_the_answer_that_was_first(store: Store) -> None:
    class Dice(Echo):
        async def answer(self, request: Request, attempting: Attempting | None = None) -> Answer:
            await super().answer(request, attempting)
            return Answer(str(id(self)))

    async def go() -> list[Answer]:
        models = [AsyncTaped(DurableTape(store, "echo"), one) for one in dice]
        return await asyncio.gather(*[model.answer(REQUEST) for model in models])

    dice = [Dice(0.05) for _ in range(8)]
    answers = asyncio.run(go())
    assert len({answer.text for answer in answers}) == 1
    (row,) = rows(store)
    assert row.begun == sum(len(one.seen) for one in dice) > 1


@pytest.mark.parametrize("durable", [False, True])
def test_searches_over_a_tape_are_the_searches_without_it(store: Store, durable: bool) -> None:
    class Slow:
        name = fingerprint = "toy"

        async def answer(self, request: Request, attempting: Attempting | None = None) -> Answer:
            await asyncio.sleep(0.001 * (request.draw % 3))
            return toy.answer(request)

    def searches() -> list[object]:
        return [
            search(Task(f"t{i}", None), world, controller(name), budget=40)
            for i in range(3)
            for name in ("uct", "lats", "levin")
        ]

    world = Toy()
    toy = ToyModel(world)
    tape = DurableTape(store, "toy") if durable else Tape(fingerprint="toy")
    plain = [run(begun, toy) for begun in searches()]  # type: ignore[arg-type]
    live = asyncio.run(run_all(searches(), AsyncTaped(tape, Slow()), 50))  # type: ignore[arg-type]
    replayed = [run(begun, Taped(tape)) for begun in searches()]  # type: ignore[arg-type]
    again = asyncio.run(run_all(searches(), AsyncTaped(tape), 3))  # type: ignore[arg-type]
    for traces in (live, replayed, again):
        assert [(t.bill, t.path, t.frontiers) for t in traces] == [(t.bill, t.path, t.frontiers) for t in plain]


def test_a_replay_that_asks_for_more_ends(store: Store) -> None:
    async def go() -> None:
        begun = search(Task("t", None), Toy(), controller("uct"), budget=40)
        await run_async(begun, AsyncTaped(DurableTape(store, "toy")), asyncio.Semaphore(4))

    with pytest.raises(ExceptionGroup) as caught:
        asyncio.run(go())
    assert caught.group_contains(NotOnTape)
