"""Two shops from a partner's link to the ledger: FastAPI whose customers subscribe at Stripe, and PHP with a cart."""

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from sqlalchemy import Connection, func, select

from presentation.guides import Filling
from storage.checks import books
from storage.tables import commissions, ledger_entries, sales
from tests import serving, stripe_events
from tests.conftest import ROOT
from tests.failing import CUTS, HANGS, PASSES_ON, FailingService
from tests.serving import PLAIN
from tests.snippets.shop import Shop, opened
from tests.storage.payments.paying import connect
from tests.world import World

COMMISSION = 980  # 20 % of the price of 4,900
PAGE = ROOT / "docs/integration-times.md"


class Customer(NamedTuple):
    """Who buys, and under what: how the service answers at their sign-up and their payment; None: no commission."""

    name: str
    is_referred: bool = True
    has_account: bool = True
    at_sign_up: str = PASSES_ON
    at_payment: str = PASSES_ON
    has_cookie_at_payment: bool = True
    tax_cents: int = 0
    times: int = 1
    shares_click_of: str | None = None
    commission_cents: int | None = COMMISSION


CUSTOMERS = (
    Customer("organic", is_referred=False, commission_cents=None),
    Customer("referred"),
    Customer("guest", has_account=False),
    Customer("lost-lead", at_sign_up=CUTS),
    Customer("no-cookie", has_cookie_at_payment=False),
    Customer("second-account", shares_click_of="referred", commission_cents=None),
    Customer("taxed", tax_cents=900, commission_cents=800),
    Customer("twice", times=2),
    Customer("refunded", commission_cents=COMMISSION - 180),
    Customer("hanging", at_sign_up=HANGS, at_payment=HANGS),
)
CREDITED = {each.name: each.commission_cents for each in CUSTOMERS if each.commission_cents is not None}


class Walk:
    """Shoppers in a shop."""

    def __init__(self, shop: Shop, service: FailingService, clicks: dict[str, str]) -> None:
        self.shop, self.service, self.clicks = shop, service, clicks

    def every_customer(self, kind: str) -> None:
        """Let one customer after another sign up and pay; in the end the service is up again."""
        for who in CUSTOMERS:
            if who.has_account:
                self.act(who, "/signup", who.at_sign_up)
            if kind == "php":
                self.buy(who)
            else:
                self.subscribe(who, old_shape="old" in kind)
        known = len(self.service.received)
        self.service.answers = [PASSES_ON]
        self.shop.run_scheduled_task()
        self.service.wait_until(
            lambda: "hanging" in {call.body.get("customer_key") for call in self.service.received[known:]}
        )

    def act(self, who: Customer, path: str, answer: str = PASSES_ON, *, cookie: bool = True, **form: Any) -> Any:
        """Let a customer do something in a browser of their own; no page shows an error."""
        self.service.answers = [answer]
        cookies = {"svc_click_id": self.clicks[who.name]} if cookie and who.is_referred else {}
        with httpx.Client(base_url=self.shop.client.base_url, cookies=cookies, verify=PLAIN, timeout=60) as browser:
            if path == "/buy":
                for cents in (2_000, 2_900):
                    browser.post("/cart", data={"cents": cents})
            page = browser.post(path, data={"user": who.name if who.has_account else ""} | form)
        assert page.status_code == 200, self.shop.log
        return page

    def buy(self, who: Customer) -> None:
        """Pay at the cart; a customer in a hurry submits the order several times."""
        form = {"order": who.name, "tax": who.tax_cents}
        cookie = who.has_cookie_at_payment

        def submit(_: int) -> None:
            self.act(who, "/buy", who.at_payment, cookie=cookie, **form)

        with ThreadPoolExecutor(who.times) as hands:
            list(hands.map(submit, range(who.times)))
        if who.name == "refunded":
            for _ in range(2):
                self.act(who, "/refund")

    def subscribe(self, who: Customer, *, old_shape: bool) -> None:
        """Pay at Stripe, whose events reach the service; Stripe delivers some of them again."""
        metadata = self.act(who, "/checkout", who.at_payment, cookie=who.has_cookie_at_payment).json()
        name, now = f"inv-{who.name}", datetime.now(UTC)
        of = {"metadata": metadata, "at": now, "amount": 4_900, "customer": f"cus_{who.name}"}
        tax: Any = {"tax": who.tax_cents} if old_shape else {"total_taxes": [{"amount": who.tax_cents}]}
        parts: dict[str, Any] = {"total": 4_900, "total_details": {"amount_tax": who.tax_cents}}
        about: Any = {"id": f"cs_{who.name}", "invoice": name, "payment_intent": None, "mode": "subscription"}
        paid = stripe_events.invoice(f"evt_{name}", name=name, old_shape=old_shape, total=4_900, **tax, **of)
        for event in (stripe_events.checkout(f"evt_{who.name}", **about, **parts, **of), *[paid] * who.times):
            self.deliver(event)
        if who.name == "refunded":
            self.act(who, "/refund")
            refunds = {"re-1": 900} if old_shape else None
            self.deliver(stripe_events.charge_refunded(total=900, intent=f"pi_{name}", refunds=refunds, at=now))
            self.deliver(stripe_events.refund_updated(amount=900, name="re-1", intent=f"pi_{name}", at=now))

    def deliver(self, event: dict[str, Any]) -> None:
        """Deliver an event as Stripe does, which waits for the service by itself."""
        content, headers = stripe_events.signed(event)
        url = f"{self.service.target}/api/v1/payments/stripe/1"
        assert httpx.post(url, content=content, headers=headers, verify=PLAIN).status_code == 200


def _earned(connection: Connection) -> dict[str, int]:
    """Return what each sale's commission is worth after refunds."""
    total = func.sum(ledger_entries.c.amount_cents)
    joined = commissions.join(sales, commissions.c.sale_id == sales.c.id).join(
        ledger_entries, ledger_entries.c.commission_id == commissions.c.id
    )
    found = connection.execute(select(sales.c.transaction_id, total).select_from(joined).group_by(sales.c.id))
    return {name.removeprefix("inv-"): int(cents) for name, cents in found}


@pytest.mark.parametrize("kind", ["php", "fastapi with the old events", "fastapi with the new events"])
async def test_each_referred_sale_is_credited_in_the_end(
    kind: str, acme: World, service: FailingService, built_node: Path, tmp_path: Path
):
    if kind != "php":
        await connect(acme, secret=stripe_events.SECRET, key=serving.SECRET_KEY)
    filling = Filling(service.base_url, acme.program_id, "acme.example")
    clicks = {each.name: await acme.visitor(at=datetime.now(UTC)) for each in CUSTOMERS}
    clicks |= {each.name: clicks[each.shares_click_of] for each in CUSTOMERS if each.shares_click_of}
    with opened(kind.partition(" ")[0], tmp_path, filling, built_node, SERVICE_API_KEY=acme.key) as shop:
        await asyncio.to_thread(Walk(shop, service, clicks).every_customer, kind)

    assert await acme.store.read(_earned) == CREDITED
    assert re.findall(r"^\| `([\w-]+)` \|", PAGE.read_text(), re.MULTILINE) == [each.name for each in CUSTOMERS]
    assert await acme.store.read(books.run) == []
