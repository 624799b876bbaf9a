"""E-mails to partners: a payment and a month, once each; off by the link in them, or under Account."""

import re
from datetime import timedelta

import pytest

from storage.management import partners, payout_returns, portal_notices
from tests.storage.management.paying import AT, do, draft, earn, pay_by, send
from tests.tracking_api.dashboard import reading
from tests.tracking_api.dashboard.reading import words
from tests.tracking_api.portal.conftest import ANNA, Portal
from tests.world import NOW
from tracking_api.portal.notices import off_link, send_due

LATER = NOW + timedelta(days=15)  # in June


async def wanted(served: Portal, partner_id: int | None = None) -> list[str]:
    acme = served.acme
    return [*await acme.store.read(portal_notices.list_wanted, acme.program_id, partner_id or acme.anna)]


async def test_a_month_is_mailed_once_to_who_uses_the_portal_also_after_an_outage_of_the_mail_server(served: Portal):
    store, mails = served.acme.store, served.settings
    await served.session()
    await earn(served.acme, 10_000)
    await earn(served.acme, 10_000, code="ben")  # who never signed in
    early = await send_due(store, mails, at=NOW)
    down = await send_due(store, mails.model_copy(update={"smtp_url": "smtp://127.0.0.1:9"}), at=LATER)
    june = [await send_due(store, mails, at=LATER) for _ in range(2)]

    assert (early, down, june) == (0, 0, [1, 0])
    assert "in May 2026 you earned $20.00 at Acme partners, with 1 clicks" in served.mailbox.text()
    assert [each["to"] for each in served.mailbox.messages] == [ANNA]


async def test_a_statement_is_mailed_once_unless_the_payout_is_reopened_or_a_day_has_passed(served: Portal):
    acme, mails = served.acme, served.settings
    await served.session()  # with an e-mail address
    await pay_by(acme, acme.anna)
    await earn(acme, 10_000)
    await send_due(acme.store, mails, at=AT)  # the month
    made = await send(acme, await draft(acme))
    late = await send_due(acme.store, mails, at=AT + timedelta(days=1))
    await do(acme, payout_returns.reopen, made.id)
    reopened = await send_due(acme.store, mails, at=AT)
    await send(acme, made)
    sent = [await send_due(acme.store, mails, at=AT) for _ in range(2)]

    assert (late, reopened, sent) == (0, 0, [1, 0])
    assert "Statement 1 is attached" in served.mailbox.text()
    assert "Reference: ACME-11" in served.mailbox.text()
    message = served.mailbox.messages[-1]
    assert message["Subject"] == "Acme partners has paid you $20.00"
    assert [each.get_filename() for each in message.iter_attachments()] == ["statement-1.pdf"]


@pytest.mark.parametrize(("answer", "later"), [("550 No such mailbox", []), ("450 Try again later", [ANNA])])
async def test_one_mailbox_that_refuses_an_e_mail_keeps_no_other_partner_from_theirs(
    served: Portal, answer: str, later: list[str]
):
    acme, mails, sent = served.acme, served.settings, served.mailbox.messages
    await acme.do(partners.change, acme.ben, {"email": "ben@partners.example"})
    for partner_id, code in ((acme.anna, "anna"), (acme.ben, "ben")):
        await pay_by(acme, partner_id)
        await earn(acme, 10_000, code=code)
    await send(acme, await draft(acme))
    served.mailbox.refused = {ANNA: answer}
    await send_due(acme.store, mails, at=AT)
    first = [each["to"] for each in sent]
    served.mailbox.refused = {}
    await send_due(acme.store, mails, at=AT)

    assert (first, [each["to"] for each in sent[1:]]) == (["ben@partners.example"], later)


async def test_the_signed_link_of_an_e_mail_turns_its_kind_off_without_a_session(served: Portal):
    await served.session()
    await earn(served.acme, 10_000)
    await send_due(served.acme.store, served.settings, at=LATER)
    message = served.mailbox.messages[-1]
    [path] = re.findall(r"/portal/notices/\S+", served.mailbox.text())
    acme, payments = served.acme, portal_notices.NoticeKind.PAYMENTS
    async with served.visitor() as mailbox:
        opened, still = await mailbox.get(path), await wanted(served)
        off = await mailbox.post(path, data={"List-Unsubscribe": "One-Click"})
        forged = await mailbox.post(path[:-4] + "AAAA")
        of_ben = await wanted(served, acme.ben)  # who never signed in
        await mailbox.post(off_link(served.settings, acme.program_id, acme.ben, payments))

    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert (opened.status_code, len(still), off.status_code, forged.status_code) == (200, 2, 200, 404)
    assert await wanted(served) == ["payments"]
    assert (of_ben, await wanted(served, acme.ben)) == (["payments"], [])


async def test_a_partner_chooses_their_e_mails_under_account(served: Portal):
    async with await served.anna() as anna:
        await reading.send(anna, "/portal/account", "Save the choice", notices=["payments"])
        chosen = words((await anna.get("/portal/account")).text)

    assert "Your choice is saved." in chosen
    assert await wanted(served) == ["payments"]
