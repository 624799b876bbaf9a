"""The requests, as bytes made up front: clicks of many visitors, sales of many customers."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, cycle

from benchmarks.world import World

BROWSER = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
)
CLICK = "/api/v1/track/click"
SALE = "/api/v1/track/sale"
RECORDED = b'"success":true'
_VISITORS = 2_000
_NUMBER = "9" * 12  # holds the place of a transaction's number
_runs = count(1)


def clicks(world: World, path: str = CLICK, carried: Sequence[str] = ()) -> Iterator[bytes]:
    """Return clicks without end; where click ids are given, every fifth visitor comes back carrying one of them."""
    return cycle([_click(world, path, n, carried) for n in range(_VISITORS)])


def sales(world: World, path: str = SALE, currency: str = "USD") -> Iterator[bytes]:
    """Return sales without end, each with a new transaction_id, of one customer after the other."""
    run = next(_runs)
    templates = [
        request(path, _sale(f"{run}-{_NUMBER}", key, currency), {"Authorization": f"Bearer {world.key}"})
        for key in world.customers
    ]
    halves = [template.split(_NUMBER.encode()) for template in templates]
    return (b"%b%012d%b" % (before, n, after) for n, (before, after) in zip(count(), cycle(halves), strict=False))


def _click(world: World, path: str, n: int, carried: Sequence[str]) -> bytes:
    program_id = world.program_ids[n % len(world.program_ids)]
    page = f"https://shop.example/pricing/{n}"
    body: dict[str, object] = {
        "program_id": program_id,
        "affiliate_url": f"{page}?aff={world.codes[n % len(world.codes)]}",
        "page_url": page,
        "page_title": "Pricing",
        "referrer_url": "https://news.example/",
        "language": "en-US",
    }
    if carried and n % 5 == 0:
        body["existing_click_id"] = carried[n % len(carried)]
    return request(path, body)


def _sale(transaction_id: str, customer_key: str, currency: str) -> dict[str, object]:
    return {"transaction_id": transaction_id, "customer_key": customer_key, "amount_cents": 4900, "currency": currency}


def request(path: str, body: Mapping[str, object], headers: Mapping[str, str] | None = None) -> bytes:
    """Return a POST of a JSON body, as the bytes of the wire."""
    content = json.dumps(body).encode()
    lines = [
        f"POST {path} HTTP/1.1",
        "Host: 127.0.0.1",
        f"User-Agent: {BROWSER}",
        "Content-Type: application/json",
        f"Content-Length: {len(content)}",
    ]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join([*lines, "", ""]).encode() + content
