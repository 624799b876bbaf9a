"""Seeded abuse: customers, a partner's own purchase, and the review that finds them."""

from datetime import datetime, timedelta
from typing import Any

from storage.engine.audit import Actor
from storage.management import commissions, flag_decisions, flags, fraud_review
from storage.management.flags import Flag
from storage.rules import contact
from storage.rules.click_details import ClickDetails
from storage.rules.commission import CommissionStatus
from storage.rules.contact import Contact
from storage.rules.fraud.flag import FlagState
from tests.world import NOW, World

ANNA_EMAIL = "Anna@Partners.example"
LATER = NOW + timedelta(days=30)
HOUR = timedelta(hours=1)
OWNER = Actor("user", "1", "owner@acme.example")


def network(name: str) -> ClickDetails:
    return ClickDetails(address_hash=f"{name:0>24}")


async def buyer(acme: World, number: int, **fields: Any) -> None:
    """Have a customer of Anna's sign up an hour after the click and buy a day later."""
    clicked: datetime = fields.pop("clicked", NOW)
    visitor = {"details": fields.pop("details", network(str(number)))}
    lead_at = fields.pop("lead_at", clicked + HOUR)
    click_id = await acme.visitor(fields.pop("code", "anna"), at=clicked, **visitor)
    known: Contact | None = fields.pop("known", None)
    await acme.lead(click_id, f"user-{number}", at=lead_at, contact=known)
    await acme.sale(f"inv-{number}", customer_key=f"user-{number}", at=clicked + 24 * HOUR)


async def review(acme: World, at: datetime = NOW + 2 * HOUR) -> list[Flag]:
    """Review all as the worker does, and return the flags."""
    found = await acme.store.read(fraud_review.whole, acme.program_id, since=NOW - timedelta(days=400), at=at)
    await acme.store.write(flags.raise_flags, acme.program_id, found, at=at)
    return await listed(acme)


async def listed(acme: World, **filters: Any) -> list[Flag]:
    return (await acme.store.read(flags.list_flags, acme.program_id, **filters)).data


async def approve(acme: World, commission_id: int, status: CommissionStatus = CommissionStatus.APPROVED) -> Any:
    return await acme.store.write(commissions.decide, acme.program_id, commission_id, status, actor=OWNER, at=LATER)


async def decide(acme: World, flag: Flag, state: FlagState, reason: str | None = None) -> Flag:
    decided: Flag = await acme.store.write(
        flag_decisions.decide, acme.program_id, flag.id, state, actor=OWNER, at=LATER, reason=reason
    )
    return decided


async def own_purchase(acme: World) -> Flag:
    """Have Anna buy through her own link; return the flag."""
    await buyer(acme, 1, known=contact.protect(ANNA_EMAIL))
    (flag,) = await review(acme)
    return flag
