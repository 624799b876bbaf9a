"""The requests, as bytes made up front: clicks of many visitors, sales of many customers."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, cycle
from types import MappingProxyType
from typing import Any

from benchmarks.world import CODES, VISIT, World

BROWSER = json.loads(VISIT["visitor"])["user_agent"]
CLICK, LEAD, SALE, REFUND = (f"/api/v1/track/{name}" for name in ("click", "lead", "sale", "refund"))
NUMBER = "9999-" + "9" * 12  # holds the place of a number
RECORDED = b'"success":true'
VISITORS = 2_000
_runs = count(1)


def clicks(world: World, path: str = CLICK, carried: Sequence[str] = ()) -> Iterator[bytes]:
    """Return clicks without end; where click ids are given, every fifth visitor comes back carrying one of them."""
    requests = []
    for n in range(VISITORS):
        page = f"https://shop.example/pricing/{n}"
        program = world.programs[n % len(world.programs)]
        body = {"program_id": program.program_id, "page_url": page, "page_title": "Pricing"}
        body |= {"affiliate_url": f"{page}?aff={CODES[n % len(CODES)]}", "referrer_url": "https://news.example/"}
        known = {"existing_click_id": carried[n % len(carried)]} if carried and n % 5 == 0 else {}
        requests.append(request(path, {**body, **known, "language": "en-US"}))
    return cycle(requests)


def sales(world: World, path: str = SALE, currency: str = "USD", *, keyed: bool = False) -> Iterator[bytes]:
    """Return a customer's sale after the other's without end, as SDKs send them, some with an Idempotency-Key."""
    sold = {"transaction_id": NUMBER, "amount_cents": 4900, "currency": currency}
    headers = bearer(world.programs[0].key) | ({"Idempotency-Key": NUMBER} if keyed else {})
    return _numbered(request(path, {**sold, "customer_key": key}, headers) for key in world.customers)


def refunds(world: World) -> Iterator[bytes]:
    """Return refunds of a cent without end, each with a new refund_id, of one customer's first sale after the other."""
    back, headers = {"refund_id": NUMBER, "refund_amount_cents": 1}, bearer(world.programs[0].key)
    return _numbered(request(REFUND, {**back, "transaction_id": key}, headers) for key in world.customers)


def leads(world: World, click_ids: Sequence[str]) -> Iterator[bytes]:
    """Return a lead of each click; afterwards they come again."""
    by = bearer(world.programs[0].key)
    return cycle([request(LEAD, {"click_id": each, "customer_key": f"user-{each}"}, by) for each in click_ids])


def _numbered(requests: Iterable[bytes]) -> Iterator[bytes]:
    """Return the requests without end, each time with another number in place of NUMBER."""
    run = next(_runs)
    parts = cycle([each.split(NUMBER.encode()) for each in requests])
    return (f"{run:04}-{n:012}".encode().join(each) for n, each in zip(count(), parts, strict=False))


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def request(path: str, body: Any, headers: Mapping[str, str] = MappingProxyType({})) -> bytes:
    """Return a POST of a JSON body as the bytes of the wire."""
    content = json.dumps(body).encode()
    length = {"Content-Type": "application/json", "Content-Length": len(content)}
    fields = {"Host": "127.0.0.1", "User-Agent": BROWSER, **length, **headers}
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {fields[name]}" for name in fields)]
    return "\r\n".join([*lines, "", ""]).encode() + content
