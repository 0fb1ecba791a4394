"""A chat endpoint in a process of its own: answers the Game of 24 from the prompt alone, with the simulated model's words.

    python -m tests.e2e.endpoint LEDGER [--port N] [--seed S] [--latency MS] [--faults PERCENT] [--key KEY]

Prints its port. Every request is noted in LEDGER as it comes, and again when its answer is written; a line is the path, a
name of the body, and "asked" or "answered". So a test knows what was sent, how often, and what was paid for. With ``--faults``
that many of a hundred requests, told by their number, fail as endpoints do.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
from fractions import Fraction
from typing import Any

from tests.e2e.processes import name_of
from tests.models import faults as f

from paccf.domains.game24.numbers import State, tidy
from paccf.domains.game24.world import Game24, task_of
from paccf.models.simulated import Simulated, simulated
from paccf.search.chance import chance
from paccf.search.effects import Channel
from paccf.search.world import Answer, Request, Subject

WORLD = Game24()
FAULTS = (
    f.status("429 Too Many Requests", retry_after="0.01"),
    f.status("500 Internal Server Error"),
    f.status("529 Overloaded"),
    f.says(f.reply(f.completion("[50]")[:-9])),
    f.says(f.reply(b"<!doctype html><p>\x1b[2Jdown", content_type="text/html")),
    f.says(f.reply(b'{"choices": []}')),
    f.says(f.reply(f.completion(None))),
    f.cut(f.reply(f.completion("[50]"))),
    f.reset,
)


def subject_of(prompt: str) -> tuple[Any, Subject]:
    """What a prompt asks for, and about what, read from its words."""
    hand = re.search(r"make 24 out of ([\d ]+),", prompt)
    assert hand is not None
    task = task_of(hand[1])
    left = re.search(r"^Numbers left: (.*)$", prompt, re.M)
    if left is None:
        return "reflect", Subject(task, task.data)
    state = _numbers(left[1])
    if up_to := re.search(r"Name up to (\d+)", prompt):
        return "propose", Subject(task, state, k=int(up_to[1]))
    texts = re.findall(r"^\d+\. (.*)$", prompt, re.M)
    actions = tuple(WORLD.read_proposals(task, state, text).actions[0] for text in texts)
    channel: Channel = "pre" if "been made yet" in prompt else "post" if "was made from" in prompt else "child"
    return "evaluate", Subject(task, state, actions, channel)


def _numbers(text: str) -> State:
    return tuple(tidy(Fraction(word)) for word in text.split())


def answer(model: Simulated, body: dict[str, Any]) -> Answer:
    prompt = body["messages"][0]["content"]
    if "Game of 24" not in prompt:
        return Answer("[50]", 20, 2)
    kind, subject = subject_of(prompt)
    return model.answer(Request(kind, prompt, body["seed"] - model.seed, subject))


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("ledger")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--faults", type=int, default=0)
    parser.add_argument("--key", default="")
    given = parser.parse_args()
    ledger = os.open(given.ledger, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    model = simulated("game24", "paper-like", given.seed)

    async def handle(asked: f.Asked, writer: asyncio.StreamWriter) -> None:
        name = f"{asked.head.split()[1]} {name_of(asked.body)}"
        os.write(ledger, f"{name} asked\n".encode())
        if given.key and f"Bearer {given.key}\r\n" not in asked.head:
            sent = re.search(r"Bearer (\S+)", asked.head)
            words = {"error": {"message": f"no such key: {sent and sent[1]}\x1b[2J"}}
            await f.status("401 Unauthorized", json.dumps(words).encode())(asked, writer)
            return
        if given.latency:
            await asyncio.sleep(given.latency / 1000)
        if chance("fault", asked.number) * 100 < given.faults:
            await FAULTS[asked.number % len(FAULTS)](asked, writer)
            return
        said = answer(model, asked.body)
        text = said.text + (f"\nyour key: {given.key}\x1b[2J" if given.key else "")
        os.write(ledger, f"{name} answered\n".encode())
        writer.write(f.reply(f.completion(text, usage=(said.prompt_tokens, said.completion_tokens))))

    server = f.Server([handle])
    listening = await asyncio.start_server(server.handle, "127.0.0.1", given.port)
    print(listening.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
