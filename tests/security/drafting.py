"""Payouts for the matrix: a new draft of a sale to a customer without a flag, or one that was sent."""

from itertools import count
from typing import Any

from storage.engine.sealing import Sealer
from storage.lists.payouts import PAYOUT_LINES, PAYOUTS
from storage.management import payout_methods, payout_sending, payouts
from storage.rules.payout import MethodKind, PayoutState
from tests.world import NOW, World

_numbers = count(1)


async def drafted(program: World) -> dict[str, int]:
    """Draft a payout of a new sale of Anna's; return its id and that of its line."""
    sealed: dict[str, Any] = {"sealer": Sealer("a secret key")}
    to_anna = (program.anna, MethodKind.PAYPAL, {"email": "anna@partners.example"})
    await program.do(payout_methods.change, *to_anna, **sealed)
    name = f"paid-{next(_numbers)}"
    sold = await program.sale(name, customer_key=await program.customer(name))
    await program.decide("approved", sold.commission_id)
    payout = await program.do(payouts.draft, earned_until=NOW.date())
    [line] = (await program.listed(PAYOUT_LINES, payout_id=payout.id)).data
    return {"payout_id": payout.id, "line_id": line.id}


async def payout(program: World, state: str) -> dict[str, int]:
    """Return the ids of a new payout, a draft or one that was sent, and of its line; of none to leave no draft."""
    for each in (await program.listed(PAYOUTS, state=PayoutState.DRAFT)).data:
        await program.do(payouts.discard, each.id)
    if state == "none":
        return {}
    ids = await drafted(program)
    if state == PayoutState.SENT:
        await program.do(payout_sending.send, ids["payout_id"], paid_on=NOW.date(), reference="ACME-11")
    return ids
