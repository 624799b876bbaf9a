"""Integrators' clients: each takes visitors from click to refund, and repeats unanswered requests with the same ids."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import httpx

from tests.faults.books import NO_ANSWER, PATIENCE_SECONDS, Journal, Kind, Request
from tests.world import LANDING_PAGE, World

SECONDS_FOR_AN_ANSWER = 12.0
SECONDS_BETWEEN_ATTEMPTS = 0.1
NAMED, KEYED, NAMELESS = "refund", "keyed-refund", "nameless-refund"


class Answer(NamedTuple):
    """What one attempt came to."""

    text: str
    body: dict[str, Any]
    is_acknowledged: bool
    is_to_repeat: bool


class Client:
    """Calls the service for one integrator and records each response; `name` begins the marks of its events."""

    def __init__(self, base_url: Callable[[], str], acme: World, journal: Journal, name: str) -> None:
        self.journal = journal
        self._base_url = base_url  # changes when the service is started again
        self._name, self._program_id, self._marks = name, acme.program_id, 0
        self._http = httpx.AsyncClient(
            timeout=SECONDS_FOR_AN_ANSWER,
            limits=httpx.Limits(max_connections=None),
            headers={"Authorization": f"Bearer {acme.key}", "User-Agent": "Mozilla/5.0 Firefox/140.0"},
            trust_env=False,
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def shop(self, closing: asyncio.Event) -> None:
        """Bring customers until closing time; each buys twice and sends some of it back."""
        while not closing.is_set():
            customer = self._mark("user")
            await self.lead(await self.visit(), customer)
            sale = await self.sale(customer)
            await self.refund(sale, 1_500)
            await self.refund(sale, 500, NAMELESS)
            await self.visit()
            sale = await self.sale(customer)
            await self.refund(sale, 1_500, KEYED)

    async def visit(self) -> str:
        """Click until a click is acknowledged, and return its id: a click has no id of the client's to repeat with."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            request = self.journal.open(Request(Kind.CLICK, self._mark("click")))
            body = {"program_id": self._program_id, "affiliate_url": LANDING_PAGE, "page_title": request.mark}
            await self._attempt(request, body)
            if request.receipt:
                return request.receipt
            await _pause()
        raise TimeoutError("no click was acknowledged")

    async def lead(self, click_id: str, customer_key: str) -> None:
        request = self.journal.open(Request(Kind.LEAD, customer_key))
        await self._record(request, {"click_id": click_id, "customer_key": customer_key})

    async def sale(self, customer_key: str) -> Request:
        request = Request(Kind.SALE, self._mark("invoice"), cents=10_000 + 500 * (self._marks % 7))
        self.journal.open(request)
        body = {"transaction_id": request.mark, "customer_key": customer_key, "amount_cents": request.cents}
        await self._record(request, body)
        return request

    async def refund(self, sale: Request, cents: int, way: str = NAMED) -> None:
        """Refund part of a sale; without an id and a key it is sent once, as a repeat could not be recognized."""
        request = Request(Kind.REFUND, self._mark(way), cents=cents)
        self.journal.open(request)
        body = {"transaction_id": sale.mark, "refund_amount_cents": cents, "refund_reason": request.mark}
        if way == NAMED:
            await self._record(request, {**body, "refund_id": request.mark})
        elif way == KEYED:
            await self._record(request, body, headers={"Idempotency-Key": request.mark})
        else:
            await self._attempt(request, body)

    async def _record(self, request: Request, body: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        """Send a request until it is acknowledged: always with the same ids."""
        answer = await self._attempt(request, body, headers)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not request.is_acknowledged and answer.is_to_repeat and time.monotonic() < deadline:
            await _pause()
            answer = await self._attempt(request, body, headers)

    async def _attempt(self, request: Request, body: dict[str, Any], headers: dict[str, str] | None = None) -> Answer:
        try:
            url = f"{self._base_url()}/api/v1/track/{request.kind}"
            answer = _read(await self._http.post(url, json=body, headers=headers))
        except httpx.TransportError:
            answer = Answer(NO_ANSWER, {}, is_acknowledged=False, is_to_repeat=True)
        if answer.text.startswith("409") and not request.may_be_stored:
            self.journal.surprises.append(f"{request.mark} is called a duplicate after {request.answers}")
        if not answer.is_acknowledged and not answer.is_to_repeat:
            self.journal.surprises.append(f"{request.mark}: {answer.text} {answer.body}")
        self.journal.note(
            request, answer.text, acknowledges=answer.is_acknowledged, receipt=_receipt(request, answer.body)
        )
        return answer

    def _mark(self, name: str) -> str:
        self._marks += 1
        return f"{self._name}{name}-{self._marks}"


def _read(response: httpx.Response) -> Answer:
    body = response.json() if response.headers.get("content-type", "").startswith("application/json") else {}
    error = body.get("error", {})
    is_known_duplicate = error.get("code") == "duplicate_transaction" and error.get("same_payload") is True
    return Answer(
        f"{response.status_code} {error.get('code', '')}".strip(),
        body,
        is_acknowledged=response.status_code == 200 or is_known_duplicate,
        is_to_repeat=response.status_code == 503 and "retry-after" in response.headers,
    )


def _receipt(request: Request, body: dict[str, Any]) -> str | None:
    """Return the id that the service gave a click or a sale."""
    sale = body.get("data") or body.get("error", {}).get("existing") or {}
    receipt = {Kind.CLICK: body.get("click_id"), Kind.SALE: sale.get("eventId")}.get(request.kind)
    return None if receipt is None else str(receipt)


async def _pause() -> None:
    """Give the service a tenth of a second: sooner than Retry-After says, so that the clients press."""
    with suppress(TimeoutError):
        async with asyncio.timeout(SECONDS_BETWEEN_ATTEMPTS):
            await asyncio.Event().wait()
