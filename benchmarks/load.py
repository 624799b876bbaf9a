"""The load: keep-alive connections that send prepared requests one after another and time each answer."""

import asyncio
import statistics
from array import array
from collections.abc import Iterator
from time import perf_counter
from typing import NamedTuple, cast

CONNECTIONS = 64
HOST = "127.0.0.1"
_LENGTH = b"content-length: "


class Load(NamedTuple):
    """What a run of requests measured: answers, in how many seconds, and the latencies in milliseconds."""

    answers: int
    seconds: float
    p50_ms: float
    p99_ms: float

    @property
    def rate(self) -> float:
        """Answers in a second."""
        return self.answers / self.seconds


class UnexpectedAnswerError(Exception):
    """The server did not answer what the benchmark counts; the message is the answer."""


async def drive(
    port: int,
    requests: Iterator[bytes],
    *,
    seconds: float = 0,
    count: int = 0,
    expected: bytes = b"200 OK",
    connections: int = CONNECTIONS,
) -> Load:
    """Send requests over some connections for `seconds`, or until `count` are answered.

    An answer that does not contain `expected` raises UnexpectedAnswerError: what is rejected is not counted as fast.
    """
    run = _Run(requests, expected, most=count)
    loop = asyncio.get_running_loop()
    clients = [(await loop.create_connection(lambda: _Client(run), HOST, port))[1] for _ in range(connections)]
    run.begin(clients, seconds)
    try:
        await run.ended
    finally:
        for client in clients:
            client.close()
    return run.measured()


class _Run:
    """What the clients of one run share."""

    def __init__(self, requests: Iterator[bytes], expected: bytes, *, most: int) -> None:
        self.requests = requests
        self.expected = expected
        self.latencies = array("d")
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._most = most
        self._sent = 0
        self._active = 0
        self._began = self._deadline = self._last = 0.0

    def begin(self, clients: list["_Client"], seconds: float) -> None:
        self._began = perf_counter()
        self._deadline = self._began + seconds if seconds else float("inf")
        self._active = len(clients)
        for client in clients:
            client.send()

    def goes_on(self, now: float) -> bool:
        """Say whether another request is to be sent."""
        self._sent += 1
        return now < self._deadline and (not self._most or self._sent <= self._most)

    def leave(self, now: float) -> None:
        """Take note that a client has its last answer."""
        self._active -= 1
        self._last = now
        if not self._active and not self.ended.done():
            self.ended.set_result(None)

    def fail(self, error: Exception) -> None:
        if not self.ended.done():
            self.ended.set_exception(error)

    def measured(self) -> Load:
        cuts = statistics.quantiles(self.latencies, n=100)
        return Load(len(self.latencies), self._last - self._began, cuts[49] * 1000, cuts[98] * 1000)


class _Client(asyncio.Protocol):
    """One connection with one request under way."""

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._transport: asyncio.Transport | None = None
        self._received = b""
        self._sent_at = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by class

    def send(self) -> None:
        assert self._transport is not None
        now = perf_counter()
        if self._run.goes_on(now):
            self._sent_at = now
            self._transport.write(next(self._run.requests))
        else:
            self._run.leave(now)

    def data_received(self, data: bytes) -> None:
        received = self._received + data if self._received else data
        if _is_whole(received):
            self._received = b""
            self._run.latencies.append(perf_counter() - self._sent_at)
            if self._run.expected in received:
                self.send()
            else:
                self._run.fail(UnexpectedAnswerError(received.decode(errors="replace")))
        else:
            self._received = received

    def connection_lost(self, error: Exception | None) -> None:
        self._run.fail(error or ConnectionError("the server closed a connection"))

    def close(self) -> None:
        assert self._transport is not None
        self._transport.close()


def _is_whole(received: bytes) -> bool:
    """Say whether an answer has all of its body, by its Content-Length."""
    head = received.find(b"\r\n\r\n")
    start = received.find(_LENGTH, 0, head)
    if head < 0 or start < 0:
        return False
    start += len(_LENGTH)
    return len(received) >= head + 4 + int(received[start : received.index(b"\r", start)])
