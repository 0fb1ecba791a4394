"""Runs a batch of searches over a durable tape in child processes that are killed at random instants.

    python interrupted.py FOLDER KILLS SEED     prints what happened as JSON; exit code 1 if a child failed by itself

Children are forked, so that hundreds of kills take seconds. Every round has a database of its own and ends when a child
finishes; the rounds go on until there were enough kills.
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

from paccf.domains.toy import Toy, ToyModel
from paccf.models.tape import AsyncTaped, Attempting, DurableTape
from paccf.record.journal import Journal
from paccf.record.store import Store
from paccf.record.taking import taken
from paccf.record.tape import read_rows
from paccf.record.values import Key, RunInfo
from paccf.search.chance import chance
from paccf.search.controllers import controller
from paccf.search.driver import run_async, search
from paccf.search.tree import Task
from paccf.search.world import Answer, Request

WORLD = Toy(density=0.01)
NAMES = ("uct", "toolchain", "lats", "tooltree", "levin")
BUDGET, IN_FLIGHT, TASKS = 60, 24, 3
INFO = RunInfo("batch", "{}", "SIMULATED/toy", True, {})


class Provider:
    """Answers after a while, and writes down every send where a kill cannot take it back."""

    name = fingerprint = "SIMULATED/toy"
    simulated = True

    def __init__(self, ledger: Path, seed: int) -> None:
        self.seed = seed
        self.model = ToyModel(WORLD)
        self.ledger = os.open(ledger, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    async def answer(self, request: Request, attempting: Attempting | None = None) -> Answer:
        assert attempting is not None
        await attempting(1)
        os.write(self.ledger, f"{taped.key(request).hex()}\n".encode())
        await asyncio.sleep(0.002 + 0.006 * chance(self.seed, request.prompt, request.draw))
        return self.model.answer(request)


taped: AsyncTaped


async def batch(store: Store, ledger: Path, seed: int) -> None:
    """The command: all searches that are not recorded yet, at once."""
    global taped
    taped = AsyncTaped(DurableTape(store, Provider.fingerprint), Provider(ledger, seed))
    slots = asyncio.Semaphore(IN_FLIGHT)
    store.begin(INFO)

    async def one(task: str, name: str) -> None:
        key = Key("test", "toy", name, "native", BUDGET, task, seed)
        if store.has(INFO, key):
            return
        journal = Journal()
        begun = search(Task(task, None), WORLD, journal.over(controller(name)), budget=BUDGET, seed=seed)
        trace = await run_async(journal.asking(begun, taped.key), taped, slots)
        found = taken(trace, key, WORLD, effects=journal.lines, asked=journal.asked)
        await asyncio.to_thread(store.save, INFO, found)

    async with asyncio.TaskGroup() as group:
        for i in range(TASKS):
            for name in NAMES:
                group.create_task(one(f"t{i}", name))


def child(folder: Path, seed: int) -> None:
    try:
        with Store.open(folder / "run.sqlite") as store:
            asyncio.run(batch(store, folder / "sends", seed))
    except BaseException:
        traceback.print_exc()
        os._exit(3)
    os._exit(0)


def left(folder: Path) -> int:
    """Requests that were begun and not answered; reading them checks every row."""
    if not (folder / "run.sqlite").exists():
        return 0
    with Store.open(folder / "run.sqlite") as store, store.database.read() as connection:
        if store.runs():
            list(store.searches(INFO))
        return sum(row.reply is None for row in read_rows(connection))


def main(folder: Path, kills: int, seed: int) -> int:
    rounds, done, in_flight = [], 0, []
    while done < kills:
        at = folder / f"round{len(rounds)}"
        at.mkdir()
        here = 0
        while True:
            pid = os.fork()
            if pid == 0:
                child(at, seed + len(rounds))
            time.sleep(0.3 * chance(seed, "instant", done, len(rounds)) if done < kills else 0)
            if done < kills:
                os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
            if os.WIFEXITED(status):
                if os.WEXITSTATUS(status):
                    return 1
                break
            done, here = done + 1, here + 1
            in_flight.append(left(at))
        rounds.append(here)
    print(json.dumps({"rounds": rounds, "kills": done, "in_flight": in_flight}))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
