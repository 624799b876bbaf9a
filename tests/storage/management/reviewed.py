"""What the tests of flags share: buyers of Anna's, a review as the worker does it, and decisions."""

from datetime import datetime, timedelta
from typing import Any

from storage.engine.audit import By
from storage.lists.commissions import COMMISSIONS
from storage.lists.flags import FLAGS, Flag
from storage.management import flag_decisions, fraud_review
from storage.rules import contact
from storage.rules.fraud.flag import FlagState
from storage.tracking import flagging
from storage.tracking.clicks import Click
from tests.world import NOW, OLGA, World

ANNA, JANE = (contact.protect(email) for email in ("Anna+Shop@Partners.example", "jane@mail.example"))
HOUR, LATER = timedelta(hours=1), NOW + timedelta(days=30)


def network(name: str) -> str:
    return f"{name:0>24}"


async def buyer(shop: World, number: int, *, code: str = "anna", clicked: datetime = NOW, **fields: Any) -> None:
    """Have a customer of Anna's sign up an hour after the click and buy a day later."""
    seen = {"address_hash": network(str(number))} | {name: fields[name] for name in fields if name in Click._fields}
    click_id = await shop.visitor(code, at=clicked, **seen)
    await shop.lead(click_id, f"user-{number}", at=fields.get("lead_at", clicked + HOUR), contact=fields.get("known"))
    await shop.sale(f"inv-{number}", customer_key=f"user-{number}", at=clicked + 24 * HOUR)


async def review(shop: World) -> list[Flag]:
    """Review all as the worker does, and return the flags."""
    since, at = NOW - timedelta(days=400), NOW + 2 * HOUR
    floods = await shop.store.read(fraud_review.find_floods, shop.program_id, at=at)
    await shop.store.write(fraud_review.drop_floods, shop.program_id, floods)
    found = await shop.store.read(fraud_review.whole, shop.program_id, since=since, at=at)
    await shop.store.write(flagging.raise_each, [(shop.program_id, each) for each in found], at=at)
    return await listed(shop)


async def listed(shop: World, **filters: Any) -> list[Flag]:
    return (await shop.listed(FLAGS, **filters)).data


async def earned(shop: World) -> Any:
    return (await shop.listed(COMMISSIONS)).data


async def decide(shop: World, flag: Flag, state: FlagState, reason: str | None = None) -> Any:
    return await shop.do(flag_decisions.decide, flag.id, state, by=By(OLGA, LATER), reason=reason)
