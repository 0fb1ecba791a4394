"""One POST over HTTP/1.1, and the connections it goes over: no more than asking a model takes.

- One request, one reply: nothing is sent again, followed, decompressed, or taken from the environment.
- A deadline holds for the whole exchange, connecting included, however slowly the bytes drip.
- A reply has a cap.
- An answer belongs to the request before it: a connection on which more arrives than was asked for is closed. (httpx2
  2.16 hands a second answer to the next request; so does anything that keeps unread bytes.)

The protocol itself is h11's, which does no I/O; this file adds the socket.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

import h11

CAP = 8 << 20  # ours: bytes of a reply; the longest answers have some 400 KB
CONNECT = 20.0  # ours: seconds until a connection stands
IDLE = 4.0  # ours: seconds after which an unused connection is not trusted; common servers close theirs at 5
_INTERIM = 8  # ours: interim responses before an answer


class Broken(Exception):
    """No reply: ``sent`` says whether any of the request may have reached the server, which may then have billed it."""

    def __init__(self, message: str, sent: bool) -> None:
        super().__init__(message)
        self.sent = sent


class Untrusted(Exception):
    """The server's certificate does not hold."""


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes


class Wire:
    """Connections to one URL. Use it in one event loop; `close` it there."""

    def __init__(self, url: str, headers: dict[str, str], *, cap: int = CAP) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        self._host, self._port = parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
        self._ssl = ssl.create_default_context() if parts.scheme == "https" else None
        self._target = parts.path or "/"
        self._cap = cap
        own = {
            "Host": parts.netloc,
            "User-Agent": "paccf",
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
        }
        self._headers = [(key.encode(), value.encode("latin-1")) for key, value in (own | headers).items()]
        self._idle: list[_Connection] = []
        self._all: set[_Connection] = set()

    async def post(self, body: bytes, deadline: float) -> Reply:
        """The reply to ``body``, all of it within ``deadline`` seconds. Raises `Broken`, `Untrusted`."""
        connection: _Connection | None = None
        try:
            async with asyncio.timeout(deadline):
                connection = self._take() or await self._connect()
                reply = await connection.ask(self._request(body), self._cap)
        except TimeoutError:
            where = "no connection" if connection is None else "no whole answer"
            raise Broken(f"{where} within {deadline:g} seconds", connection is not None) from None
        finally:
            if connection is not None:
                if connection.idle_since is None:
                    connection.abort()
                    self._all.discard(connection)
                else:
                    self._idle.append(connection)
        return reply

    async def close(self) -> None:
        for connection in self._all:
            connection.abort()
        self._all.clear()
        self._idle.clear()
        await asyncio.sleep(0)  # lets the sockets close

    def _request(self, body: bytes) -> tuple[h11.Request, bytes]:
        headers = [*self._headers, (b"Content-Length", b"%d" % len(body))]
        return h11.Request(method=b"POST", target=self._target.encode(), headers=headers), body

    def _take(self) -> _Connection | None:
        """The connection used last, if it is still good."""
        while self._idle:
            connection = self._idle.pop()
            if connection.idle_since is not None and time.monotonic() - connection.idle_since < IDLE:
                return connection
            connection.abort()
            self._all.discard(connection)
        return None

    async def _connect(self) -> _Connection:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(CONNECT):
                _, connection = await loop.create_connection(_Connection, self._host, self._port, ssl=self._ssl)
        except TimeoutError:
            raise Broken(f"no connection within {CONNECT:g} seconds", False) from None
        except ssl.SSLCertVerificationError as error:
            raise Untrusted(error.verify_message) from None
        except OSError as error:
            raise Broken(f"no connection: {error.strerror or error}", False) from None
        self._all.add(connection)
        return connection


class _Connection(asyncio.Protocol):
    """``idle_since`` is set while it can take a request."""

    def __init__(self) -> None:
        self.idle_since: float | None = time.monotonic()
        self._http = h11.Connection(h11.CLIENT)
        self._transport: asyncio.Transport | None = None
        self._more: asyncio.Future[None] | None = None
        self._arrived: list[bytes] = []
        self._ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self.idle_since is not None:  # nobody asked: a late or a second answer
            self.abort()
            return
        self._arrived.append(data)
        if len(self._arrived) > 16 and self._transport is not None:  # ours: what may wait unread
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self._ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended = True
        self.idle_since = None
        self._wake()

    def abort(self) -> None:
        self.idle_since = None
        if self._transport is not None:
            self._transport.abort()

    def _wake(self) -> None:
        if self._more is not None and not self._more.done():
            self._more.set_result(None)

    async def ask(self, request: tuple[h11.Request, bytes], cap: int) -> Reply:
        """Send and receive. Whatever ends it early, cancellation too, leaves the connection unusable."""
        head, body = request
        self.idle_since = None
        assert self._transport is not None
        parts = [self._http.send(event) or b"" for event in (head, h11.Data(data=body), h11.EndOfMessage())]
        self._transport.write(b"".join(parts))
        try:
            reply = await self._receive(cap)
        except h11.RemoteProtocolError as error:
            why = "the connection was closed before the whole answer came" if self._ended else f"not HTTP: {error}"
            raise Broken(why, True) from None
        left, closed = self._http.trailing_data
        done = self._http.our_state is h11.DONE and self._http.their_state is h11.DONE
        if done and not (left or closed or self._arrived or self._ended):
            self._http.start_next_cycle()
            self.idle_since = time.monotonic()
        return reply

    async def _receive(self, cap: int) -> Reply:
        response: h11.Response | None = None
        chunks: list[bytes] = []
        size = interim = 0
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                await self._feed()
            elif isinstance(event, h11.Response):
                response = event
            elif isinstance(event, h11.Data):
                size += len(event.data)
                if size > cap:
                    raise Broken(f"an answer of more than {cap:,} bytes", True)
                chunks.append(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage) and response is not None:
                headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in response.headers}
                return Reply(response.status_code, headers, b"".join(chunks))
            elif isinstance(event, h11.InformationalResponse) and interim < _INTERIM:
                interim += 1
            elif isinstance(event, h11.InformationalResponse):
                raise Broken("only interim answers", True)
            else:
                raise Broken("the connection was closed before an answer came", True)

    async def _feed(self) -> None:
        """Wait for bytes, or the end, and hand them to the protocol."""
        if not self._arrived and not self._ended:
            self._more = asyncio.get_running_loop().create_future()
            await self._more
        if self._arrived:
            self._http.receive_data(b"".join(self._arrived))
            self._arrived.clear()
            if self._transport is not None:
                self._transport.resume_reading()
        else:
            self._http.receive_data(b"")
