"""An HTTP server on loopback that misbehaves as it is told: one entry of a script a request, the last one for ever."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

Fault = Callable[["Asked", asyncio.StreamWriter], Awaitable[None]]


class Asked:
    """One request as it came."""

    def __init__(self, head: bytes, body: bytes, number: int) -> None:
        self.head, self.body, self.number = head.decode("latin-1"), json.loads(body), number


class Server:
    def __init__(self, script: list[Fault]) -> None:
        self.script, self.asked, self.flying, self.most = script, [], 0, 0
        self.asked: list[Asked] = []
        self.connections = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while not writer.is_closing():
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(x for x in head.lower().split(b"\r\n") if x.startswith(b"content-length:"))
                body = await reader.readexactly(int(length.split(b":")[1]))
                asked = Asked(head, body, len(self.asked))
                self.asked.append(asked)
                self.flying += 1
                self.most = max(self.most, self.flying)
                try:
                    await self.script[min(asked.number, len(self.script) - 1)](asked, writer)
                finally:
                    self.flying -= 1
                await writer.drain()
        writer.close()


@asynccontextmanager
async def serving(*script: Fault) -> AsyncIterator[Server]:
    server = Server(list(script))
    listening = await asyncio.start_server(server.handle, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()


def completion(text: Any, finish: str = "stop", usage: Any = (100, 10), **more: Any) -> bytes:
    found: dict[str, Any] = {
        "id": "x",
        "object": "chat.completion",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **more}}],
    }
    if isinstance(usage, tuple):
        found["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    elif usage is not None:
        found["usage"] = usage
    return json.dumps(found).encode()


def reply(body: bytes, status: str = "200 OK", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}"]
    lines += [f"{key.replace('_', '-')}: {value}" for key, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def says(raw: bytes, wait: float = 0.0) -> Fault:
    """These bytes."""

    async def fault(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if wait:
            await asyncio.sleep(wait)
        writer.write(raw)

    return fault


def ok(text: str = "[50]", wait: float = 0.0) -> Fault:
    return says(reply(completion(text)), wait)


def status(line: str, body: bytes = b'{"error": {"message": "as told"}}', **headers: str) -> Fault:
    return says(reply(body, line, **headers))


def cut(raw: bytes) -> Fault:
    """Half of it, then the end of the connection."""

    async def fault(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(raw[: len(raw) - 20])
        await writer.drain()
        writer.close()

    return fault


async def reset(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def hang(asked: Asked, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(30)


async def drip(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """A byte now and then: no read ever times out."""
    for byte in reply(completion("[1]" + " " * 5000)):
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(0.01)


async def endless(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    while not writer.is_closing():
        writer.write(b"1000\r\n" + b" " * 4096 + b"\r\n")
        await writer.drain()


async def many_interims(asked: Asked, writer: asyncio.StreamWriter) -> None:
    while not writer.is_closing():
        writer.write(b"HTTP/1.1 102 Processing\r\n\r\n")
        await asyncio.sleep(0.001)
