"""The load: keep-alive connections that send prepared requests one after another, and what a round of it measures."""

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

from benchmarks.servers import Server

_LENGTH = re.compile(rb"content-length: (\d+)\r")
_TICKS = os.sysconf("SC_CLK_TCK")


class Load(NamedTuple):
    """What a round measured; the processor times are microseconds for an answer."""

    answers: int
    rate: float
    p50_ms: float
    p99_ms: float
    service_us: float = 0
    database_us: float = 0


@dataclass(frozen=True)
class Driver:
    """Sends requests to a server; an answer without `expected` ends the benchmark: what is rejected is not fast.

    A connection sends its next request when the last is answered. `databases` are processes of PostgreSQL whose
    processor time is counted.
    """

    server: Server
    requests: Iterator[bytes]
    expected: bytes = b"200 OK"
    databases: Sequence[int] = ()
    connections: int = 64

    async def __call__(self, seconds: float = float("inf"), count: int | None = None) -> Load:
        """Send requests for `seconds`, or until `count` are answered."""
        processes = ([self.server.pid], self.databases)
        spent, begun, latencies = [processor_seconds(*each) for each in processes], perf_counter(), list[float]()
        requests = takewhile(lambda _: perf_counter() < begun + seconds, islice(self.requests, count))
        await asyncio.gather(*(self._send(requests, latencies) for _ in range(self.connections)))
        load = _load(latencies, len(latencies) / (perf_counter() - begun))
        used = (processor_seconds(*each) - before for each, before in zip(processes, spent, strict=True))
        return Load(*load[:4], *(1e6 * each / load.answers for each in used))

    async def _send(self, requests: Iterator[bytes], latencies: list[float]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        for request in requests:
            begun = perf_counter()
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            answer = head + await reader.readexactly(int(_LENGTH.findall(head)[0]))
            latencies.append(perf_counter() - begun)
            if self.expected not in answer:
                raise RuntimeError(answer.decode(errors="replace"))
        writer.close()


def timed(call: Callable[[], Awaitable[object]], times: int = 1) -> Callable[[float], Awaitable[Load]]:
    """Return what measures a call some times in a round; its rate is that of the median call."""

    async def measure(_: float) -> Load:
        taken = []
        for _ in range(times):
            begun = perf_counter()
            measured = await call()  # what it says of itself, else how long it took
            taken.append(measured if isinstance(measured, float) else perf_counter() - begun)
        return _load(taken, 1 / median(taken))

    return measure


def _load(seconds: list[float], rate: float) -> Load:
    p99 = sorted(seconds)[len(seconds) * 99 // 100]
    return Load(len(seconds), rate, median(seconds) * 1000, p99 * 1000)


def processor_seconds(*pids: int) -> float:
    """Return the processor time that processes and their children have used, those that ended included."""
    used = 0.0
    for pid in pids:
        try:
            own = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        except FileNotFoundError:  # it ended, and counts as its parent's
            continue
        used += sum(map(int, own[11:15])) / _TICKS + processor_seconds(*map(int, children))
    return used
