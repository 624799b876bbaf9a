"""Counting requests in fixed windows: in this process alone, in Redis, and over a Redis that stops answering."""

import asyncio
import logging
import signal
from contextlib import suppress

import pytest
from limits import parse

from tests.redis import RedisServer
from web import counts
from web.counts import PAUSE_SECONDS, Counts, Windows

THREE = parse("3/minute")
VISITOR = ("click", "203.0.113.9", "7")


class Clock:
    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def counted(clock: Clock) -> Windows:
    return Windows(clock)


def hits(counted: Windows, times: int, subject: tuple[str, ...] = VISITOR) -> list[float | None]:
    return [counted.hit(THREE, subject) for _ in range(times)]


async def allowed(counts: Counts, attempts: int) -> list[bool]:
    return [await counts.hit(THREE, "click", "203.0.113.9") is None for _ in range(attempts)]


def test_requests_beyond_the_rate_learn_when_the_window_of_their_subject_s_first_one_ends(
    counted: Windows, clock: Clock
):
    hits(counted, 2)
    clock.seconds += 59

    assert hits(counted, 2) == [None, 1_060.0]
    assert hits(counted, 1, ("click", "203.0.113.9", "8")) == [None]
    clock.seconds += 1
    assert hits(counted, 4) == [None, None, None, 1_120.0]  # the next window begins with its first request


def test_looking_does_not_count_and_cleared_requests_are_forgotten(counted: Windows):
    hits(counted, 2)

    assert [counted.full_until(THREE, VISITOR) for _ in range(5)] == [None] * 5
    hits(counted, 1)
    assert counted.full_until(THREE, VISITOR) == 1_060.0
    counted.clear(THREE, VISITOR)
    assert hits(counted, 1) == [None]


def test_beyond_the_most_windows_the_oldest_is_forgotten(counted: Windows, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(counts, "MOST_WINDOWS", 2)
    hits(counted, 3)
    for visitor in ("1", "2"):
        counted.hit(THREE, ("click", visitor))

    assert hits(counted, 1) == [None]


async def test_processes_share_counts_in_redis(redis_server: RedisServer):
    one, other = Counts(redis_server.url), Counts(redis_server.url)

    counted = await allowed(one, 2) + await allowed(other, 2)

    await asyncio.gather(one.aclose(), other.aclose())
    assert counted == [True, True, True, False]


@pytest.mark.parametrize("failure", [signal.SIGKILL, signal.SIGSTOP], ids=["dead", "stalled"])
async def test_without_a_response_of_redis_a_process_counts_by_itself_and_logs_it_once(
    redis_server: RedisServer, clock: Clock, caplog: pytest.LogCaptureFixture, failure: signal.Signals
):
    counts = Counts(redis_server.url, clock=clock)
    await allowed(counts, 1)
    redis_server.process.send_signal(failure)

    async with asyncio.timeout(2):  # 30 timeouts one after the other would need more
        counted = await allowed(counts, 30)

    assert counted == [True] * 3 + [False] * 27
    assert [record.levelno for record in caplog.records if record.name == "web.counts"] == [logging.WARNING]
    await counts.aclose()


@pytest.mark.parametrize("answer", [b"+OK\r\n", b"$-1\r\n", b"*0\r\n", b":abc\r\n", b"HTTP/1.1 400 Bad Request\r\n"])
async def test_a_server_that_does_not_answer_as_redis_does_is_no_redis(answer: bytes):
    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while await reader.read(1_000):
                writer.write(answer * 3)
        writer.close()

    async with await asyncio.start_server(respond, "127.0.0.1", 0) as server:
        counts = Counts(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        counted = await allowed(counts, 4)
        await counts.aclose()

    assert counted == [True, True, True, False]


async def test_redis_is_used_again_after_the_pause_once_it_responds(redis_server: RedisServer, clock: Clock):
    counts = Counts(redis_server.url, clock=clock)
    await allowed(counts, 3)
    redis_server.process.send_signal(signal.SIGSTOP)
    alone = await allowed(counts, 1)
    redis_server.process.send_signal(signal.SIGCONT)

    during_the_pause = await allowed(counts, 1)
    clock.seconds += PAUSE_SECONDS
    after_it = await allowed(counts, 1)

    await counts.aclose()
    assert (alone, during_the_pause, after_it) == ([True], [True], [False])
