"""The tape and the record: answers read and written a second, a full replay, memory over finished searches.

    python benchmarks/record_speed.py               # some minutes, most of them making the tape that is replayed
    python benchmarks/record_speed.py --tasks 20 --searches 400 --json

Writes are durable (``synchronous=FULL``): a figure of them is wall time, and depends on the disk. What is replayed are
100 Game of 24 tasks by five controllers at B = 500, SIMULATED, R = 4.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from measure import Cell, Table, emit
from paccf.domains.game24.tasks import solvable
from paccf.domains.game24.world import Game24
from paccf.models.simulated import simulated
from paccf.models.tape import Asked, AsyncTaped, DurableTape, Taped, key
from paccf.record.journal import Journal
from paccf.record.store import Store
from paccf.record.taking import taken
from paccf.record.values import Key, RunInfo, Search
from paccf.search.controllers import CONTROLLERS, controller
from paccf.search.driver import run, run_async, search
from paccf.search.scoring import Scoring
from paccf.search.tree import Task
from paccf.search.world import Answer, Request, Subject

INFO = RunInfo("bench", "{}", "SIMULATED", True, {})
ABOUT = Subject(Task("t", None), "")
WORLD = Game24()
PROMPT = "You judge positions of the Game of 24: how likely can 24 still be made? " * 8  # some 600 bytes


def asked(number: int) -> Asked:
    request = Request("evaluate", f"{PROMPT}{number}", number % 4, ABOUT)
    return Asked(key(request, "m", "{}"), "m", "{}", request)


def written(store: Store, count: int, group: int) -> tuple[float, float, float]:
    """Wall seconds to note ``count`` attempts, and to keep as many answers, ``group`` at a time, each durable; and the
    CPU seconds of both."""
    tape = DurableTape(store, "m")
    answer = Answer("[50, 60, 40, 70]", 300, 20, "stop", 0.5, 1)
    noted = kept = cpu = 0.0
    for first in range(0, count, group):
        spent = time.process_time()
        part = [asked(n) for n in range(first, min(first + group, count))]
        start = time.perf_counter()
        _wait([tape.begin(one) for one in part])
        middle = time.perf_counter()
        _wait([tape.keep(one, answer) for one in part])
        noted, kept = noted + middle - start, kept + time.perf_counter() - middle
        cpu += time.process_time() - spent
    return noted, kept, cpu


def _wait(futures: Sequence[Future[Any]]) -> None:
    for future in futures:
        future.result()


def writes(folder: Path, count: int) -> Iterator[dict[str, Cell]]:
    for group in (1, 20, 64, 256):
        few = max(count * group // 256, 60)
        with Store.open(folder / f"w{group}.sqlite") as store:
            noted, kept, cpu = written(store, few, group)
        both = few / (noted + kept)
        rates = {
            "attempts noted/s": few / noted,
            "answers kept/s": few / kept,
            "requests/s, both": both,
            "requests/CPU s": few / cpu,
        }
        yield {"at once": group, "answers": few, **rates}


def hits(folder: Path, count: int) -> Iterator[dict[str, Cell]]:
    path = folder / "hits.sqlite"
    with Store.open(path) as store:
        written(store, count, 500)
    requests = [asked(n).request for n in range(count)]
    with Store.open(path, readonly=True) as store:
        tape = DurableTape(store, "m", lambda request: "{}")
        names = [asked(n).key for n in range(count)]
        yield _hit("DurableTape.get", count, lambda: [tape.get(name) for name in names])
        replay = Taped(tape)
        yield _hit("Taped.answer, with the request's digest", count, lambda: [replay.answer(r) for r in requests])

        async def every() -> None:
            over = AsyncTaped(tape)
            for request in requests:
                await over.answer(request)

        yield _hit("AsyncTaped.answer, from the event loop", count, lambda: asyncio.run(every()))


def _hit(what: str, count: int, read: Callable[[], object]) -> dict[str, Cell]:
    costs = []
    for _ in range(3):
        start = time.process_time()
        read()
        costs.append(time.process_time() - start)
    return {"way": what, "answers": count, "µs an answer": 1e6 * min(costs) / count, "answers/s": count / min(costs)}


def one(task: Task, name: str, budget: int, model: Taped) -> Search:
    """A search over a tape, with its journal, as the record keeps it."""
    journal = Journal()
    asking = search(task, WORLD, journal.over(controller(name)), scoring=Scoring(4, 8), budget=budget, seed=1)
    trace = run(journal.asking(asking, model.key), model)
    found = Key("test", "game24", name, "native", budget, task.id, 1)
    return taken(trace, found, WORLD, effects=journal.lines, asked=journal.asked)


def again(before: Search, task: Task, budget: int, model: Taped, journals: bool) -> int:
    """The search from its tape, held against its journal or not; how many requests it asked."""
    journal = Journal(before.effects, before.asked)
    make = controller(before.outcome.key.controller)
    how: dict[str, Any] = {"scoring": Scoring(4, 8), "budget": budget, "seed": 1}
    if journals:
        trace = run(journal.asking(search(task, WORLD, journal.over(make), **how), model.key), model)
    else:
        trace = run(search(task, WORLD, make, **how), model)
    assert trace.bill.total == before.outcome.costs.total
    return trace.bill.total


def replays(folder: Path, count: int, budget: int) -> Iterator[dict[str, Cell]]:
    tasks = solvable()[:: len(solvable()) // count][:count]
    path = folder / "replay.sqlite"
    source = simulated("game24", "paper-like", 1)
    with Store.open(path) as store:
        store.begin(INFO)
        memory: dict[bytes, Any] = {}
        due: list[Future[Any]] = []

        class Noting:
            """The simulated model, whose answers go to the tape without waiting for one at a time."""

            name = fingerprint = "sim"

            def answer(self, request: Request) -> Answer:
                said = source.answer(request)
                name = key(request, "sim", request.subject.task.id)
                if name not in memory:
                    memory[name] = None
                    due.append(tape.keep(Asked(name, "sim", request.subject.task.id, request), said))
                return said

            def key(self, request: Request) -> bytes:
                return key(request, "sim", request.subject.task.id)

        tape = DurableTape(store, "sim", _task)
        noting: Any = Noting()
        searches = []
        for task in tasks:
            for name in CONTROLLERS:
                searches.append(one(task, name, budget, noting))
                store.save(INFO, searches[-1])
        _wait(due)
    size, named = path.stat().st_size, {task.id: task for task in tasks}
    for way, journals in (("replay, held against the journal", True), ("replay", False)):
        best, wall, requests = 1e9, 1e9, 0
        for _ in range(2):
            cpu, clock, requests = time.process_time(), time.perf_counter(), 0
            with Store.open(path, readonly=True) as store:
                model = Taped(DurableTape(store, "sim", _task), replay=True)
                for before in searches:
                    requests += again(before, named[before.outcome.key.task], budget, model, journals)
            best, wall = min(best, time.process_time() - cpu), min(wall, time.perf_counter() - clock)
        yield {
            "way": way,
            "searches": len(searches),
            "requests": requests,
            "CPU s": best,
            "wall s": wall,
            "requests/CPU s": requests / best,
            "MB on disk": size / 2**20,
        }


def _task(request: Request) -> str:
    return request.subject.task.id


def resident() -> float:
    """MB of memory in use now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def memory(folder: Path, count: int) -> Iterator[dict[str, Cell]]:
    """Live searches over a durable tape, 32 at a time, each saved when it has ended."""
    tasks = solvable()[:count]
    source = simulated("game24", "paper-like", 2)
    found: list[dict[str, Cell]] = []
    marks = [count // 8, count // 4, count // 2, count]

    class Live:
        name = fingerprint = "sim"

        def parameters(self, request: Request) -> str:
            return _task(request)

        async def answer(self, request: Request, attempting: Any = None) -> Answer:
            await attempting(1)
            return source.answer(request)

    async def go(store: Store) -> None:
        model, slots, left = AsyncTaped(DurableTape(store, "sim"), Live()), asyncio.Semaphore(64), iter(tasks)
        ended = 0

        async def work() -> None:
            nonlocal ended
            for task in left:
                journal = Journal()
                make = journal.over(controller("uct"))
                asking = search(task, WORLD, make, scoring=Scoring(4, 8), budget=60, seed=2)
                trace = await run_async(journal.asking(asking, model.key), model, slots)
                at = Key("test", "game24", "uct", "native", 60, task.id, 2)
                whole = taken(trace, at, WORLD, effects=journal.lines, asked=journal.asked)
                await asyncio.to_thread(store.save, INFO, whole)
                ended += 1
                if ended in marks:
                    answers = store.tape().answers
                    found.append({"finished searches": ended, "answers": answers, "MB resident": resident()})

        async with asyncio.TaskGroup() as group:
            for _ in range(32):
                group.create_task(work())

    with Store.open(folder / "memory.sqlite") as store:
        store.begin(INFO)
        asyncio.run(go(store))
    yield from found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=20_000)
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--budget", type=int, default=500)
    parser.add_argument("--searches", type=int, default=1280)
    parser.add_argument("--only-writes", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        said = "a request is noted, then answered; wall time"
        tables = [Table("Durable writes", said, list(writes(folder, given.answers)))]
        if not given.only_writes:
            said = (
                f"{given.tasks} tasks, five controllers, B = {given.budget}, R = 4, one process, no model; best of two"
            )
            tables += [
                Table("Answers read from the tape", "CPU, best of three", list(hits(folder, given.answers))),
                Table("A full replay", said, list(replays(folder, given.tasks, given.budget))),
                Table("Memory", "32 searches at once, tape, journal, record", list(memory(folder, given.searches))),
            ]
    load = Table("Load", "while it was measured", [{"load average": os.getloadavg()[0]}])
    emit([*tables, load], given.json)


if __name__ == "__main__":
    main()
