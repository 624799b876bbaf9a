"""Counting in Redis, without it, and over a Redis that stops answering and comes back."""

import asyncio
import logging
import signal

import pytest
from limits import parse

from tests.redis import RedisServer
from web.counts import PAUSE_SECONDS, Counts

THREE = parse("3/hour")


class Clock:
    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def allowed(counts: Counts, attempts: int) -> list[bool]:
    return [await counts.hit(THREE, "click", "203.0.113.9") is None for _ in range(attempts)]


async def test_a_process_without_redis_counts_by_itself():
    assert await allowed(Counts(), 4) == [True, True, True, False]


async def test_processes_share_counts_in_redis(redis_server: RedisServer):
    one, other = Counts(redis_server.url), Counts(redis_server.url)

    counted = await allowed(one, 2) + await allowed(other, 2)

    await asyncio.gather(one.aclose(), other.aclose())
    assert counted == [True, True, True, False]


async def test_closing_ends_the_connections_to_redis(redis_server: RedisServer):
    counts = Counts(redis_server.url)
    await allowed(counts, 1)
    before = redis_server.connections()

    await counts.aclose()

    assert (before, redis_server.connections()) == (1, 0)


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


async def test_redis_is_used_again_after_the_pause_once_it_responds(
    redis_server: RedisServer, clock: Clock, caplog: pytest.LogCaptureFixture
):
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
    assert [record.message.split(" (")[0] for record in caplog.records if record.name == "web.counts"] == [
        "Redis does not respond",
        "Redis responds again: processes share their rate limits",
    ]
