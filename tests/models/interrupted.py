"""Runs a batch of searches over a durable tape and a real endpoint in child processes that are killed at random instants.

    python -m tests.models.interrupted FOLDER URL KILLS SEED   prints what happened as JSON; exit code 1 if a child failed
                                                               by itself

Children are forked, so that hundreds of kills take seconds. Every round has a database of its own and ends when a child
finishes; the rounds go on until there were enough kills. The endpoint is a process of its own, see tests.e2e.endpoint;
it hears of a round by the path that it is asked at.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path

from paccf.domains.game24.world import Game24, hand
from paccf.models.openai import chat
from paccf.models.spec import ModelSpec, Patience
from paccf.models.tape import AsyncTaped, DurableTape
from paccf.record.journal import Journal
from paccf.record.store import Store
from paccf.record.taking import taken
from paccf.record.tape import read_rows
from paccf.record.values import Key, RunInfo
from paccf.search.chance import chance
from paccf.search.controllers import controller
from paccf.search.driver import run_async, search
from paccf.search.scoring import Scoring

WORLD, SCORING = Game24(), Scoring(repeats=2)
NAMES = ("uct", "toolchain", "lats", "tooltree", "levin")
HANDS = ((1, 2, 3, 4), (3, 3, 8, 8), (4, 7, 8, 8))
BUDGET, IN_FLIGHT, SEED = 40, 24, 1
INFO = RunInfo("batch", "{}", "m at loopback", False, {})


async def batch(store: Store, url: str) -> None:
    """The command: all searches that are not recorded yet, at once."""
    patience = Patience(attempts=8, pause=0.001, longest=0.01)
    spec = ModelSpec(preset=url, model="m", concurrency=IN_FLIGHT, patience=patience)
    store.begin(INFO)
    async with chat(spec, SEED) as model, asyncio.TaskGroup() as group:
        taped = AsyncTaped(DurableTape(store, "m at loopback"), model)
        slots = asyncio.Semaphore(1 << 20)  # the model bounds what is in flight
        for numbers in HANDS:
            for name in NAMES:
                group.create_task(one(store, taped, slots, numbers, name))


async def one(store: Store, taped: AsyncTaped, slots: asyncio.Semaphore, numbers: tuple[int, ...], name: str) -> None:
    task = hand(numbers)
    key = Key("test", "game24", name, "native", BUDGET, task.id, SEED)
    if store.has(INFO, key):
        return
    journal = Journal()
    make = journal.over(controller(name))
    begun = search(task, WORLD, make, scoring=SCORING, budget=BUDGET, seed=SEED)
    trace = await run_async(journal.asking(begun, taped.key), taped, slots)
    found = taken(trace, key, WORLD, effects=journal.lines, asked=journal.asked)
    await asyncio.to_thread(store.save, INFO, found)


def child(folder: Path, url: str) -> None:
    try:
        with Store.open(folder / "run.sqlite") as store:
            asyncio.run(batch(store, url))
    except BaseException:
        traceback.print_exc()
        os._exit(3)
    os._exit(0)


def opened(folder: Path) -> dict[str, int]:
    """How often each request that has no answer was begun; reading them checks every row."""
    if not (folder / "run.sqlite").exists():
        return {}
    with Store.open(folder / "run.sqlite") as store, store.database.read() as connection:
        if store.runs():
            list(store.searches(INFO))
        return {row.question.key.hex(): row.begun for row in read_rows(connection) if row.reply is None}


def main(folder: Path, url: str, kills: int, seed: int) -> int:
    rounds: list[list[int]] = []  # of each kill, how many requests were in flight
    done = 0
    while done < kills:
        at = folder / f"round{len(rounds)}"
        at.mkdir()
        here: list[int] = []
        before: dict[str, int] = {}
        while True:
            pid = os.fork()
            if pid == 0:
                child(at, f"{url}/round{len(rounds)}/v1")
            if done < kills:
                time.sleep(0.6 * chance(seed, "instant", done, len(rounds)))
                os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
            if os.WIFEXITED(status):
                if os.WEXITSTATUS(status):
                    return 1
                break
            after = opened(at)
            here.append(sum(begun > before.get(name, 0) for name, begun in after.items()))
            done, before = done + 1, after
        rounds.append(here)
    print(json.dumps(rounds))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
