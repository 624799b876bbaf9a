"""One row of each kind that a path names, in a program; and payouts as operations of agents want them."""

from itertools import count
from typing import Any

from sqlalchemy import select

from storage.access import invitations
from storage.access.workspaces import Role
from storage.lists.applications import APPLICATIONS
from storage.lists.payouts import PAYOUTS
from storage.lists.sale_questions import SALE_QUESTIONS
from storage.management import applications, coupons, payouts, sale_questions
from storage.rules.payout import PayoutState
from storage.tables import customers
from tests import planned
from tests.storage.management.paying import draft, earn, lines, pay_by, send
from tests.world import BY, NOW, World

_amounts = count(5_000)  # no two customers have one key


async def each(program: World, user_id: int) -> dict[str, Any]:
    """Return the id of a row of each kind, by the parameter that names it in a path; the user is a given one."""
    customer = await program.customer()
    sold = await program.sale(customer_key=customer)
    ids = {"program_id": program.program_id, "workspace_id": program.workspace_id, "partner_id": program.anna}
    only = select(customers.c.id).where(customers.c.program_id == program.program_id)
    customer_id = await program.store.read(lambda connection: connection.execute(only).scalar_one())
    about: dict[str, Any] = {"email": "invited@example.com", "role": Role.MEMBER, "by": BY}
    invited = await program.store.write(invitations.invite, program.workspace_id, **about)
    ids["coupon_id"] = (await program.do(coupons.create, partner_id=program.anna, code="ANNA10")).id
    asked: dict[str, Any] = {"sold_on": NOW.date(), "transaction_id": "inv-1", "note": None}
    await program.do(sale_questions.ask, program.anna, **asked)
    ids["question_id"] = (await program.listed(SALE_QUESTIONS)).data[0].id
    await program.change(partners_may_apply=True)
    applicant: dict[str, Any] = {"name": "Nora", "email": "nora@example.com", "site": "example.com", "reason": None}
    await program.store.write(applications.apply, program.program_id, **applicant, at=NOW)
    ids["application_id"] = (await program.listed(APPLICATIONS)).data[0].id
    ids |= {"flag_id": await program.flag(customer_id), "invitation_id": invited.invitation.id}
    ids |= await payout(program, PayoutState.DRAFT)
    ids |= {"plan_id": await planned.plan(program, gift=True)}
    return ids | {"commission_id": sold.commission_id, "customer_id": customer_id, "user_id": user_id}


async def payout(program: World, state: str) -> dict[str, int]:
    """Return the ids of a new payout, a draft or one that was sent, and of its line; of none to leave no draft.

    It pays for a sale to a customer without a flag.
    """
    for old in (await program.listed(PAYOUTS, state=PayoutState.DRAFT)).data:
        await program.do(payouts.discard, old.id)
    if state == "none":
        return {}
    await pay_by(program, program.anna)
    await earn(program, next(_amounts))
    made = await draft(program, at=NOW)
    [line] = await lines(program, made)
    if state == PayoutState.SENT:
        await send(program, made, at=NOW, paid_on=NOW.date())
    return {"payout_id": made.id, "line_id": line.id}
