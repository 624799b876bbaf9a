"""What the portal stores and reads, on both databases: links and sessions, the first page, earnings and summaries."""

from datetime import timedelta
from typing import Any

import pytest

from storage.access import portal, sessions
from storage.lists.applications import APPLICATIONS
from storage.lists.declaration import ListQuery, ListScope
from storage.lists.sale_questions import SALE_QUESTIONS
from storage.management import applications, partners, portal_notices, sale_questions
from storage.reports import portal as pages
from storage.rules import keys
from tests.storage.management.paying import draft, earn, pay_by, send
from tests.world import NOW, World

EMAIL, JUNE = "anna@partners.example", NOW + timedelta(days=15)


@pytest.mark.both_databases
async def test_a_partner_signs_in_and_reads_what_is_theirs(acme: World):
    write, read = acme.store.write, acme.store.read
    await acme.do(partners.change, acme.anna, {"email": "Anna@Partners.example"})
    await pay_by(acme, acme.anna)
    await earn(acme, 10_000)
    await send(acme, await draft(acme))
    await acme.sale("inv-2", 5_000, customer_key="user-anna-10000")
    await acme.refund("inv-2", 1_000)

    token = await write(portal.ask, EMAIL, browser="a phone", at=NOW)
    session = await write(portal.redeem, str(token), acme.program_id, browser="a phone", client="Phone", at=NOW)
    signed_in = await read(portal.identify, session.token, at=NOW)
    theirs = portal.sessions_of(acme.program_id, acme.anna)
    await write(sessions.use, portal.session_by(session.token), at=NOW)
    [listed] = await read(sessions.list_open, theirs, keys.digest(session.token), at=NOW)
    scope = ListScope(acme.program_id, NOW, partner_id=signed_in.partner_id)
    home = await read(pages.read_home, scope)
    months, earned, _ = await read(pages.read_earnings, scope, ListQuery())
    [due] = await read(portal_notices.list_due, at=JUNE)
    await write(portal_notices.mark, due)
    await write(sessions.end_one, theirs, listed.id)

    assert (signed_in.partner_id, listed.is_current) == (acme.anna, True)
    assert (home.due.paid_cents, home.due.pending_cents, home.month.clicks) == (2_000, 800, 1)
    assert {each.kind for each in home.latest} == {"sale", "refund", "payment"}
    assert [dict(cents) for _, cents in months] == [{"paid": 2_000, "pending": 800}]
    shown = [(each.cents, each.state, each.sale_cents) for each in earned.data]
    assert shown == [(1_000, "pending", None), (2_000, "paid", None)]
    assert (due.cents, due.clicks, await read(portal_notices.list_due, at=JUNE)) == (2_800, 1, [])
    assert await read(sessions.list_open, theirs, None, at=NOW) == []


@pytest.mark.both_databases
async def test_a_question_and_an_application_are_stored_once_and_decided(acme: World):
    nora: dict[str, Any] = {"name": "Nora", "email": "nora@blog.example", "site": "blog.example", "reason": None}
    await acme.change(partners_may_apply=True)
    await acme.do(sale_questions.ask, acme.anna, sold_on=NOW.date(), transaction_id="inv-1", note=None)
    for _ in range(2):
        await acme.store.write(applications.apply, acme.program_id, **nora, at=NOW)

    [waiting] = (await acme.listed(APPLICATIONS)).data
    decided = await acme.do(applications.decide, waiting.id, state="approved")
    [question] = (await acme.listed(SALE_QUESTIONS, open=True)).data
    answered = await acme.do(sale_questions.answer, question.id, text="It counts.")

    assert (decided.state, answered.answer) == ("approved", "It counts.")
    assert (await acme.listed(SALE_QUESTIONS, open=True)).data == []
