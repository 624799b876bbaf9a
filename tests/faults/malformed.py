"""Requests that no client should send, drawn from a seed, and the one thing they may never get: a 500."""

import asyncio
import json
import random
import re
import string
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

CONNECTIONS = 8
PIPELINED = 16
SECONDS_FOR_AN_ANSWER = 30
PIPELINES_FOR_GARBAGE = 8  # connections with requests for each one with garbage
LAST = b"GET /healthz HTTP/1.1\r\nHost: svc\r\nConnection: close\r\n\r\n"
STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")
PATHS = [
    *["/api/v1/track/click", "/api/v1/track/lead", "/api/v1/track/sale", "/api/v1/track/refund"] * 4,
    *["/api/v1/cli/status", "/api/auth/login", "/api/programs", "/api/programs/1/partners", "/api/agent/v1/me"],
    *["/api/agent/v1/programs/1/explain", "/api/tracking/performance/1", "/mcp", "/api/v1/payments/stripe/1"],
    *["/oauth/token", "/oauth/authorize", "/", "/login", "/js/svc-tracker.js", "/%00", "/../..", "/\u00e9%ff"],
]
FIELDS = [
    *["program_id", "affiliate_url", "existing_click_id", "click_id", "customer_key", "email", "additional_data"],
    *["transaction_id", "amount_cents", "currency", "occurred_at", "line_items", "refund_amount_cents", "refund_id"],
    *["test_mode", "user_agent", "sale_type", "is_recurring", "subscription_interval", "page_title"],
]
NUMBERS = [0, -1, 1, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 10**400, 0.1, 4.0, -0.0, 1e308, float("nan"), float("inf")]
TEXTS = [
    "",
    " ",
    "\x00",
    "\ud800",
    "\u202e",
    "a" * 256,
    "a" * 2_049,
    "https://acme.example/?aff=anna",
    "1",
    "null",
    "' OR 1=1",
]


class Malformed:
    """An endless, repeatable stream of requests."""

    def __init__(self, key: str, seed: int) -> None:
        self._draw = random.Random(seed)
        self._keys = [f"Bearer {key}"] * 3 + ["Bearer aff_1_wrong", "bearer", "Basic \xff", "Bearer agt_x", ""]

    def requests(self) -> Iterator[bytes]:
        """Yield requests, each whole."""
        while True:
            body = self._body()
            method = self._draw.choice(["POST"] * 12 + ["GET", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
            kind = self._draw.choice(["application/json"] * 8 + ["text/plain", "", "application/json; charset=utf-16"])
            path = self._draw.choice(PATHS) + self._draw.choice(["", "", "", "?period=\u0000&limit=-1", "?cursor=%ff"])
            head = (
                f"{method} {path} HTTP/1.1\r\nHost: svc\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
                f"Authorization: {self._draw.choice(self._keys)}\r\n\r\n"
            )
            yield head.encode("latin-1", "replace") + body

    def garbage(self) -> bytes:
        """Return bytes that are no HTTP at all, or nearly."""
        return self._draw.randbytes(self._draw.randrange(1, 300)) + b"\r\n\r\n"

    def _body(self) -> bytes:
        kinds: list[Callable[[], bytes]] = [self._bytes, self._cut, self._json, self._json, self._json, self._json]
        return self._draw.choice(kinds)()

    def _bytes(self) -> bytes:
        return self._draw.randbytes(self._draw.randrange(200))

    def _cut(self) -> bytes:
        whole = self._json()
        return whole[: self._draw.randrange(len(whole) + 1)]

    def _json(self) -> bytes:
        value = {field: self._value() for field in self._draw.sample(FIELDS, self._draw.randrange(6))}
        valid = {
            "program_id": 1,
            "affiliate_url": "https://acme.example/?aff=anna",
            "transaction_id": "t",
            "amount_cents": 5,
        }
        base: Any = valid | value if self._draw.random() < 0.7 else self._value()
        return json.dumps(base, ensure_ascii=self._draw.random() < 0.5).encode("utf-8", "surrogatepass")

    def _value(self, depth: int = 0) -> Any:
        draw = self._draw
        match draw.randrange(8 if depth < 3 else 5):
            case 0:
                return draw.choice(NUMBERS)
            case 1 | 2:
                return draw.choice(TEXTS)
            case 3:
                return "".join(draw.choices(string.printable, k=draw.randrange(20)))
            case 4:
                return draw.choice([None, True, False])
            case 5:
                return [self._value(depth + 1) for _ in range(draw.randrange(4))]
            case _:
                return {draw.choice([*FIELDS, ""]): self._value(depth + 1) for _ in range(draw.randrange(4))}


async def send(port: int, key: str, count: int, seed: int) -> Counter[str]:
    """Send requests over a few connections until so many are answered, and count the statuses."""
    statuses: Counter[str] = Counter()
    streams = [Malformed(key, seed * CONNECTIONS + number) for number in range(CONNECTIONS)]
    await asyncio.gather(*(_send(port, stream, count, statuses) for stream in streams))
    return statuses


async def _send(port: int, malformed: Malformed, count: int, statuses: Counter[str]) -> None:
    requests = malformed.requests()
    while statuses.total() < count:
        statuses.update(await _exchange(port, [malformed.garbage()]))
        for _ in range(PIPELINES_FOR_GARBAGE):
            batch = [next(requests) for _ in range(PIPELINED)]
            answered = await _exchange(port, [*batch, LAST])
            statuses.update(answered[:PIPELINED])


async def _exchange(port: int, batch: list[bytes]) -> list[str]:
    """Send requests over one connection, and return the status of each answer until it ends."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    received = b""
    try:
        with suppress(ConnectionError):
            writer.write(b"".join(batch))
            if batch[-1] != LAST:
                writer.write_eof()
            async with asyncio.timeout(SECONDS_FOR_AN_ANSWER):
                received = await reader.read(-1)
    finally:
        writer.transport.abort()
    return [status.decode() for status in STATUS.findall(received)]
