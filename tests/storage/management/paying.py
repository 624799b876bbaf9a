"""Steps of payouts that tests share: a partner with a method, an approved sale, a draft, what is sent."""

from datetime import date, datetime, timedelta
from typing import Any

from storage.engine.audit import Actor
from storage.lists.commissions import COMMISSIONS
from storage.lists.declaration import ListQuery, ListScope
from storage.lists.find import find
from storage.lists.payables import PAYABLES
from storage.lists.payouts import PAYOUT_LINES, Payout
from storage.management import payout_methods, payout_sending, payouts
from storage.rules.payout import MethodKind
from tests.world import NOW, OLGA, SEALER, World

AT = NOW + timedelta(days=30)
FINN = Actor("user", "2", "finn@acme.example")
UNTIL = date(9999, 12, 31)


async def do(acme: World, operation: Any, *values: Any, **about: Any) -> Any:
    """Run a write operation of the program, as the owner and a month later unless said otherwise."""
    return await acme.do(operation, *values, **{"actor": OLGA, "at": AT, **about})


async def pay_by(acme: World, partner_id: int, email: str = "anna@partners.example", at: datetime = NOW) -> None:
    """Say that a partner is paid by PayPal."""
    sealed: dict[str, Any] = {"sealer": SEALER, "at": at}
    await do(acme, payout_methods.change, partner_id, MethodKind.PAYPAL, {"email": email}, **sealed)


async def earn(acme: World, *amounts: int, code: str = "anna", approved: bool = True) -> list[int]:
    """Sell to a customer of a partner for these amounts; return the commissions, of a fifth, and approve them."""
    key = await acme.customer(f"user-{code}-{amounts[0]}", code)
    sold = [
        await acme.sale(f"{code}-{n}-{amount}", amount, customer_key=key, at=NOW) for n, amount in enumerate(amounts)
    ]
    earned = [each.commission_id for each in sold if each.commission_id]
    if approved:
        await acme.decide("approved", *earned)
    return earned


async def draft(acme: World, **about: Any) -> Payout:
    made: Payout = await do(acme, payouts.draft, **{"earned_until": UNTIL, **about})
    return made


async def send(acme: World, payout: Payout, **about: Any) -> Payout:
    said = {"paid_on": AT.date(), "reference": "ACME-11", **about}
    sent: Payout = await do(acme, payout_sending.send, payout.id, **said)
    return sent


async def lines(acme: World, payout: Payout) -> list[Any]:
    """Return the lines of a run, oldest first."""
    return (await acme.listed(PAYOUT_LINES, payout_id=payout.id)).data[::-1]


async def payable(acme: World, at: datetime = AT) -> dict[int, Any]:
    """Return the rows of the list of payables, by partner."""
    found = await acme.store.read(find, PAYABLES, ListScope(acme.program_id, at), ListQuery())
    return {each.id: each for each in found.data}


async def statuses(acme: World) -> list[str]:
    return [each.status for each in (await acme.listed(COMMISSIONS)).data[::-1]]
