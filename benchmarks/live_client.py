"""A hundred searches against an endpoint with a fixed latency: how near to the ideal wall time, at what CPU a request.

A loopback server in a process of its own answers every request after 50 ms. 100 searches, 20 of each controller, share
64 requests in flight. The ideal is what no client can beat: the longest chain of requests that wait for each other in
one search, or all requests through 64 slots, whichever is longer. The same searches go through our client alone,
through it with a durable tape, journals and the record, and through the `openai` SDK; and over bare sockets, which says
what the machine lets through while it is measured.

    python benchmarks/live_client.py                # about two minutes
    python benchmarks/live_client.py --searches 20 --budget 40 --json

The SDK is a peer, not a dependency; if it is missing, its row says so. CPU is that of the client's process, search
included; what the searches alone cost stands in a row of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.metadata
import math
import multiprocessing
import os
import resource
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measure import Cell, Table, emit
from paccf.models.openai import chat
from paccf.models.spec import ModelSpec
from paccf.models.tape import AsyncTaped, DurableTape
from paccf.record.journal import Journal
from paccf.record.store import Store
from paccf.record.taking import taken
from paccf.record.values import Key, RunInfo
from paccf.search.controllers import CONTROLLERS, controller
from paccf.search.driver import Requests, run_async, search
from paccf.search.effects import Channel
from paccf.search.scoring import Scoring
from paccf.search.trace import Trace
from paccf.search.tree import Action, Outcome, Task
from paccf.search.world import Answer, Reading, Request

LATENCY, SLOTS = 0.05, 64
BRANCHING = 5
ACTIONS = tuple(Action(str(i), f"action {i}") for i in range(BRANCHING))
RULES = "You are searching. Judge every action by how likely it leads to the goal, from 0 to 100.\n" * 12  # some 1 KB
SAID = b"[50, 61, 47, 55, 42, 58, 39, 66]"
BODY = (
    b'{"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "finish_reason": '
    b'"stop", "message": {"role": "assistant", "content": "' + SAID + b'"}}], "usage": {"prompt_tokens": 300, '
    b'"completion_tokens": 20, "total_tokens": 320}}'
)
REPLY = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(BODY) + BODY
CONFIGS: dict[str, dict[str, Any]] = {  # none ends by a rule of its own
    "lats": {"trajectories": 10**9, "notes": 0},
    "tooltree": {"rollouts": 10**9, "patience": 10**9, "tau_pre": 0.0, "tau_post": 0.0},
}


@dataclass(frozen=True, slots=True)
class Endless:
    """Five actions a state, and no goal. Scores are what was answered, mixed by state, so that trees differ."""

    horizon: int = 12
    verified: bool = True
    name: str = "endless"

    def start(self, task: Task) -> Outcome:
        return Outcome(0, 0)

    def execute(self, task: Task, state: int, action: Action) -> Outcome:
        new = state * BRANCHING + 1 + int(action.key)
        return Outcome(new, new)

    def utility(self, task: Task, actions: Sequence[Action]) -> float:
        return 0.0

    def solution(self, task: Task, actions: Sequence[Action]) -> str:
        return ""

    def propose(self, task: Task, state: int, k: int, notes: Sequence[str]) -> str:
        return f"{RULES}Task {task.id}, state {state}: name {k} actions."

    def read_proposals(self, task: Task, state: int, text: str) -> Reading:
        return Reading(ACTIONS)

    def evaluate(
        self, task: Task, state: int, actions: Sequence[Action], channel: Channel, notes: Any, outcomes: Any
    ) -> str:
        listed = "\n".join(f"{i}. {action.text}" for i, action in enumerate(actions, 1))
        return f"{RULES}Task {task.id}, state {state}, {channel}:\n{listed}"

    def read_scores(self, text: str, count: int) -> list[float | None]:
        return [float(word) for word in text.strip("[]").split(",")[:count]]

    def reflect(self, task: Task, actions: Sequence[Action]) -> str:
        return f"{RULES}Task {task.id}: what went wrong?"


WORLD = Endless()


class _Server(asyncio.Protocol):
    """Answers what it is sent, whatever it is, `LATENCY` seconds later."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport, self.buffer = transport, b""

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (head := self.buffer.find(b"\r\n\r\n")) >= 0:
            lower = self.buffer[:head].lower()
            at = lower.index(b"content-length:") + 15
            size = int(lower[at:].split(b"\r\n", 1)[0])
            if len(self.buffer) < head + 4 + size:
                return
            self.buffer = self.buffer[head + 4 + size :]
            asyncio.get_running_loop().call_later(LATENCY, self.answer)

    def answer(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(REPLY)  # type: ignore[attr-defined]


def serve(told: Any) -> None:
    async def go() -> None:
        listening = await asyncio.get_running_loop().create_server(_Server, "127.0.0.1", 0, backlog=1024)
        told.send(listening.sockets[0].getsockname()[1])
        await asyncio.Event().wait()

    asyncio.run(go())


@dataclass(slots=True)
class Load:
    """What was asked for."""

    searches: int
    budget: int
    repeats: int
    url: str
    chains: list[int] = field(default_factory=list)  # of the last run: batches a search
    requests: int = 0

    def begun(self, number: int) -> tuple[Any, Task, str]:
        name = list(CONTROLLERS)[number % len(CONTROLLERS)]
        return controller(name, **CONFIGS.get(name, {})), Task(f"t{number}", None), name

    def counted(self, asking: Requests) -> Requests:
        """``asking``, with its batches and requests counted."""
        chain = 0
        try:
            batch = next(asking)
            while True:
                chain, self.requests = chain + 1, self.requests + len(batch)
                batch = asking.send((yield batch))
        except StopIteration as stop:
            self.chains.append(chain)
            return stop.value


Model = Callable[[Request], Awaitable[Answer]]


class Asking:
    def __init__(self, answer: Model) -> None:
        self.answer = answer


async def plain(load: Load, model: Any) -> None:
    slots = asyncio.Semaphore(SLOTS)

    async def one(number: int) -> Trace:
        make, task, _ = load.begun(number)
        scoring = Scoring(repeats=4, microbatch=8)
        return await run_async(
            load.counted(search(task, WORLD, make, scoring=scoring, budget=load.budget)), model, slots
        )

    async with asyncio.TaskGroup() as group:
        for number in range(load.searches):
            group.create_task(one(number))


def spec(load: Load) -> ModelSpec:
    return ModelSpec(preset=load.url, model="m", concurrency=SLOTS)


async def client_alone(load: Load) -> None:
    async with chat(spec(load), 0) as model:
        await plain(load, model)


async def client_with_tape(load: Load) -> None:
    """As `paccf run` has it: every attempt and every answer durable, a journal a search, searches saved as they end."""
    info = RunInfo("bench", "{}", "m", False, {})
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        store = stack.enter_context(Store.open(Path(folder) / "run.sqlite"))
        store.begin(info)
        model = AsyncTaped(DurableTape(store, "m"), await stack.enter_async_context(chat(spec(load), 0)))
        slots = asyncio.Semaphore(1 << 20)  # the model bounds what is in flight

        async def one(number: int) -> None:
            make, task, name = load.begun(number)
            journal = Journal()
            scoring = Scoring(repeats=4, microbatch=8)
            asking = search(task, WORLD, journal.over(make), scoring=scoring, budget=load.budget)
            trace = await run_async(load.counted(journal.asking(asking, model.key)), model, slots)
            key = Key("test", "endless", name, "native", load.budget, task.id, 0)
            found = taken(trace, key, WORLD, effects=journal.lines, asked=journal.asked)
            await asyncio.to_thread(store.save, info, found)

        async with asyncio.TaskGroup() as group:
            for number in range(load.searches):
                group.create_task(one(number))


async def sdk(load: Load) -> None:
    import openai  # type: ignore[import-not-found,unused-ignore]

    async with openai.AsyncOpenAI(base_url=load.url, api_key="none", max_retries=0, timeout=60) as client:

        async def answer(request: Request) -> Answer:
            reply = await client.chat.completions.create(
                model="m",
                messages=[{"role": "user", "content": request.prompt}],
                temperature=0.2,
                max_tokens=512,
                seed=request.draw,
            )
            usage = reply.usage
            return Answer(reply.choices[0].message.content, usage.prompt_tokens, usage.completion_tokens)

        await plain(load, Asking(answer))


async def bare(load: Load) -> None:
    """No client at all: a request is bytes on a socket, an answer so many bytes. What this machine lets through now."""
    host, port = load.url.split("/")[2].split(":")
    idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def answer(request: Request) -> Answer:
        reader, writer = idle.pop() if idle else await asyncio.open_connection(host, int(port))
        body = request.prompt.encode()
        writer.write(b"POST /v1 HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        await reader.readexactly(len(REPLY))
        idle.append((reader, writer))
        return Answer(SAID.decode(), 300, 20)

    await plain(load, Asking(answer))
    for _, writer in idle:
        writer.close()


async def nobody(load: Load) -> None:
    """The searches alone: answers are there at once."""

    async def answer(request: Request) -> Answer:
        return Answer(SAID.decode(), 300, 20)

    await plain(load, Asking(answer))


WAYS: dict[str, Callable[[Load], Awaitable[None]]] = {
    "paccf's client": client_alone,
    "paccf's client, tape, journal, record": client_with_tape,
    "openai SDK": sdk,
    "no client, bytes on a socket": bare,
    "no client, the searches alone": nobody,
}


def measured(name: str, load: Load) -> dict[str, Cell]:
    walls, costs = [], []
    for _ in range(load.repeats):
        load.chains, load.requests = [], 0
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            asyncio.run(WAYS[name](load))
        except ModuleNotFoundError as error:
            return {"way": f"{name}: not installed ({error.name})", **dict.fromkeys(COLUMNS)}
        walls.append(time.perf_counter() - wall)
        costs.append((time.process_time() - cpu) / load.requests)
    ideal = max(max(load.chains) * LATENCY, math.ceil(load.requests / SLOTS) * LATENCY)
    alone = name == "no client, the searches alone"
    return {
        "way": name,
        "requests": load.requests,
        "ideal s": None if alone else ideal,
        "wall s": min(walls),
        "wall / ideal": None if alone else min(walls) / ideal,
        "worst / ideal": None if alone else max(walls) / ideal,
        "CPU ms a request": 1000 * min(costs),
        "worst CPU ms": 1000 * max(costs),
    }


COLUMNS = ("requests", "ideal s", "wall s", "wall / ideal", "worst / ideal", "CPU ms a request", "worst CPU ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--searches", type=int, default=100)
    parser.add_argument("--budget", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--without", metavar="WAY", help="leave out the ways whose names hold this")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    try:
        load = Load(given.searches, given.budget, given.repeats, f"http://127.0.0.1:{ours.recv()}/v1")
        rows = [measured(name, load) for name in WAYS if not given.without or given.without not in name]
    finally:
        server.terminate()
    try:
        version = importlib.metadata.version("openai")
    except importlib.metadata.PackageNotFoundError:
        version = "not installed"
    note = (
        f"{given.searches} searches of {given.budget} requests, {SLOTS} in flight, {LATENCY * 1000:g} ms; best and "
        f"worst of {given.repeats}; openai {version}; load average {os.getloadavg()[0]:.1f}; "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB"
    )
    emit([Table("Searches on an endpoint", note, rows)], given.json)


if __name__ == "__main__":
    main()
