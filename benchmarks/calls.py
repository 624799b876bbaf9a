"""The requests, as bytes made up front: clicks of many visitors, sales of many customers."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, cycle
from typing import Any

from benchmarks.world import CODES, World

BROWSER = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
)
CLICK, SALE = "/api/v1/track/click", "/api/v1/track/sale"
RECORDED = b'"success":true'
VISITORS = 2_000
_runs = count(1)


def clicks(world: World, path: str = CLICK, carried: Sequence[str] = ()) -> Iterator[bytes]:
    """Return clicks without end; where click ids are given, every fifth visitor comes back carrying one of them."""
    requests = []
    for n in range(VISITORS):
        page = f"https://shop.example/pricing/{n}"
        body = {
            "program_id": world.programs[n % len(world.programs)].program_id,
            "page_url": page,
            "page_title": "Pricing",
        }
        body |= {"affiliate_url": f"{page}?aff={CODES[n % len(CODES)]}", "referrer_url": "https://news.example/"}
        known = {"existing_click_id": carried[n % len(carried)]} if carried and n % 5 == 0 else {}
        requests.append(request(path, {**body, **known, "language": "en-US"}))
    return cycle(requests)


def sales(world: World, path: str = SALE, currency: str = "USD") -> Iterator[bytes]:
    """Return sales without end, each with a new transaction_id, of one customer after the other."""
    number = "9" * 12  # holds the place of a transaction's number
    sold = {"transaction_id": f"{next(_runs)}-{number}", "amount_cents": 4900, "currency": currency}
    bodies = ({**sold, "customer_key": key} for key in world.customers)
    halves = [request(path, body, bearer(world.programs[0].key)).split(number.encode()) for body in bodies]
    return (b"%b%012d%b" % (before, n, after) for n, (before, after) in zip(count(), cycle(halves), strict=False))


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def request(path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> bytes:
    """Return a POST of a JSON body, or a GET without one, as the bytes of the wire."""
    content = b"" if body is None else json.dumps(body).encode()
    length = {"Content-Type": "application/json", "Content-Length": len(content)} if content else {}
    fields = {"Host": "127.0.0.1", "User-Agent": BROWSER, **length, **(headers or {})}
    lines = [f"{'POST' if content else 'GET'} {path} HTTP/1.1", *(f"{name}: {fields[name]}" for name in fields)]
    return "\r\n".join([*lines, "", ""]).encode() + content
