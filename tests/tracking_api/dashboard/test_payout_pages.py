"""Paying on the pages: whom to pay and why not others, a run from draft to sent, and how partners are paid."""

import re
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from storage.access.workspaces import Role
from storage.management import partners
from tests import smtp
from tests.storage.management.paying import AT, draft, earn, lines, pay_by, payable, send
from tests.tracking_api.dashboard.conftest import Dashboard
from tests.tracking_api.dashboard.reading import Fields, link, press, words
from tracking_api.portal import notices

OWNER, FINN, MIA = (f"{name}@payers.example" for name in ("olga", "finn", "mia"))


@pytest.fixture
async def payers(dashboard: Dashboard) -> dict[str, httpx.AsyncClient]:
    """The browsers of an owner, of Finn of finance and of Mia, a member, when Anna is due 20 and Ben 10 dollars."""
    await pay_by(dashboard.acme, dashboard.acme.anna)
    await earn(dashboard.acme, 10_000)
    await earn(dashboard.acme, 5_000, code="ben")
    dashboard.at = AT
    for who, role in ((OWNER, Role.OWNER), (FINN, Role.FINANCE), (MIA, Role.MEMBER)):
        await dashboard.join(who, role)
    return {who: dashboard.browser(who) for who in (OWNER, FINN, MIA)}


async def test_the_list_says_whom_to_pay_and_why_others_are_not(dashboard: Dashboard, payers: Any):
    page = (await payers[OWNER].get(f"{dashboard.pages}/payouts")).text
    of_member = (await payers[MIA].get(f"{dashboard.pages}/payouts")).text

    assert "Review 1 payout, $20.00" in words(page)
    assert "PayPal a***@partners.example 1 $20.00" in words(page)  # one commission
    assert "Needs a payout method" in words(page)
    assert "Review 1 payout" not in of_member
    assert "Ready to pay $20.00 1 partner" in words(of_member)
    assert re.search(r'<td class="[^"]*(?<! none)"[^>]*><span class="badge due">Ready', page)  # on a phone, too


async def test_a_run_is_drafted_sent_and_reopened_on_the_pages_and_partners_are_mailed_if_the_sender_wants_it(
    dashboard: Dashboard, payers: Any, mailbox: smtp.Mailbox
):
    owner, here, acme = payers[OWNER], f"{dashboard.pages}/payouts", dashboard.acme
    await acme.do(partners.change, acme.anna, {"email": "anna@partners.example"})
    drafted = await press(owner, here, earned_until="2026-05-31")
    run = drafted.headers["location"]
    page = await owner.get(run)
    reference = re.findall(r'name="reference" [^>]*value="([^"]*)"', page.text)
    sent = await press(owner, run, action="send", paid_on="2026-06-19", reference=reference[0], notify="true")
    after = (await owner.get(run)).text
    mailed = [await notices.send_due(acme.store, dashboard.settings, at=AT)]
    asked = await press(owner, run, action="reopen")
    reopened = await press(owner, run, action="reopen", confirmed="yes")
    reason = (await payable(acme))[acme.anna].reason
    await press(owner, run, action="send", paid_on="2026-06-19", reference="ACME-7")
    mailed.append(await notices.send_due(acme.store, dashboard.settings, at=AT))

    assert "PayPal mass payment (1 row, $20.00)" in words(page.text)
    assert "1 other partner stay out: no method (1)" in words(page.text)
    assert reference == ["ACME-PARTNERS-2026-06-19"]
    assert 'form="send" name="action" value="send">Mark\n1 payout as sent' in page.text
    assert (sent.status_code, sent.headers["location"]) == (303, run)
    assert "Paid on Jun 19, 2026" in words(after)
    assert f"/api/programs/{dashboard.acme.program_id}/statements/1" in after
    assert "Reopen?" in words(asked.text)
    assert (reopened.status_code, reason) == (303, "in_draft")
    assert "E-mail each partner their statement" in words(page.text)
    assert (mailed, [message["To"] for message in mailbox.messages]) == ([1, 0], ["anna@partners.example"])


async def test_only_the_selected_partners_are_paid_and_a_failed_payment_goes_back(dashboard: Dashboard, payers: Any):
    await pay_by(dashboard.acme, dashboard.acme.ben, "ben@partners.example")
    owner, here = payers[OWNER], f"{dashboard.pages}/payouts"
    both = await press(owner, here, earned_until="2026-06-01", partner_ids=[dashboard.acme.anna, dashboard.acme.ben])
    run = both.headers["location"]
    failed, _ = await lines(dashboard.acme, ran(run))
    said: Fields = {"paid_on": "2026-06-19", "reference": "ACME-6", f"failed-{failed.id}": "No such account"}
    long = await press(owner, run, action="send", **said | {f"failed-{failed.id}": 600 * "x"})
    await press(owner, run, action="send", **said)
    returned, paid = await lines(dashboard.acme, ran(run))
    back = await press(owner, run, action="correct", line_id=paid.id, reason="It came back", confirmed="yes")

    assert long.status_code == 400
    assert (returned.state, returned.failure, paid.state) == ("failed", "No such account", "paid")
    assert back.status_code == 303
    assert {row.to_pay_cents for row in (await payable(dashboard.acme)).values()} == {1_000, 2_000}
    assert "It came back" in words((await owner.get(f"{here}/payments")).text)


def ran(run: str) -> Any:
    return SimpleNamespace(id=int(run.rpartition("/")[2]))


async def test_a_second_person_confirms_a_run_where_the_program_asks_for_one(dashboard: Dashboard, payers: Any):
    await dashboard.acme.change(confirm_payouts=True, at=AT)
    run = (await press(payers[OWNER], f"{dashboard.pages}/payouts", earned_until="2026-06-01")).headers["location"]

    by_drafter = (await payers[OWNER].get(run)).text
    by_other = (await payers[FINN].get(run)).text
    await press(payers[FINN], run, action="confirm")
    confirmed = (await payers[OWNER].get(run)).text

    assert "You drafted it" in by_drafter
    assert "Mark 1 payout as sent" not in words(by_drafter)
    assert "Confirm this run" in by_other
    assert "Mark 1 payout as sent" in words(confirmed)


async def test_a_run_whose_commissions_changed_says_so_and_is_not_sent(dashboard: Dashboard, payers: Any):
    made = await draft(dashboard.acme)
    await dashboard.acme.refund("anna-0-10000", 1_000, at=AT)
    run = f"{dashboard.pages}/payouts/{made.id}"

    page = (await payers[OWNER].get(run)).text
    dated = words((await payers[OWNER].get(f"{dashboard.pages}/payouts/payments")).text)
    rejected = await press(payers[OWNER], run, action="send", paid_on="2026-06-19", reference="ACME-6")
    discarded = await press(payers[OWNER], run, action="discard", confirmed="yes")

    assert "1 payment changed since the draft" in words(page)
    assert ("Drafted Paid" in dated, "Earned" in dated) == (True, False)  # the days of payments
    assert "What the payout froze has changed" in words(rejected.text)
    assert discarded.headers["location"] == f"{dashboard.pages}/payouts"


async def test_the_method_of_a_partner_is_masked_held_and_released_by_an_owner(dashboard: Dashboard, payers: Any):
    here = f"{dashboard.pages}/partners/{dashboard.acme.anna}"
    bank = {"action": "method", "kind": "bank", "holder": "Anna", "iban": "DE89 3704 0044 0532 0130 00", "text": ""}

    wrong = await press(payers[FINN], here, **{**bank, "iban": "DE00"})
    saved = await press(payers[FINN], here, **bank)
    page = (await payers[FINN].get(here)).text
    released = await press(payers[OWNER], here, action="release", reason="She called")

    assert "An IBAN, whose check digits fit" in words(wrong.text)
    assert (saved.status_code, released.status_code) == (303, 303)
    assert "Bank DE••3000" in words(page)
    assert "DE893704" not in page
    assert "wait until" in words(page)
    assert "Released by an owner: She called" in words((await payers[MIA].get(here)).text)


async def test_a_partner_can_have_a_minimum_of_their_own(dashboard: Dashboard, payers: Any):
    here = f"{dashboard.pages}/partners/{dashboard.acme.anna}"
    edited: Fields = {"action": "edit", "name": "Anna", "code": "anna", "email": "", "status": "active", "notes": ""}

    by_payer = await press(payers[FINN], here, **edited)
    wrong = await press(payers[OWNER], here, **edited, minimum_payout="-1")
    saved = await press(payers[OWNER], here, **edited, minimum_payout="25.00")
    page = (await payers[OWNER].get(f"{dashboard.pages}/payouts")).text

    assert (by_payer.status_code, wrong.status_code, saved.status_code) == (403, 400, 303)
    assert 'value="25.00"' in (await payers[OWNER].get(here)).text
    assert "Below $25.00 minimum" in words(page)


async def test_every_payment_is_exported_for_accounting_by_the_day_on_which_it_was_paid(
    dashboard: Dashboard, payers: Any
):
    await send(dashboard.acme, await draft(dashboard.acme), paid_on=AT.date() - timedelta(days=2))
    days = {"by": "paid", "dateFrom": "2026-06-17", "dateTo": "2026-06-17"}

    file = (await payers[MIA].get(f"{dashboard.pages}/payouts/payments.csv", params=days)).text
    exported = link((await payers[MIA].get(f"{dashboard.pages}/payouts")).text, "Export for accounting")
    of_year = (await payers[MIA].get(exported)).text
    nothing = (await payers[MIA].get(f"{dashboard.pages}/payouts/payments.csv", params={**days, "dateTo": "x"})).text
    runs = (await payers[MIA].get(f"{dashboard.pages}/payouts/runs")).text

    header, line = (each.split(",") for each in file.splitlines())
    told = dict(zip(header, line, strict=True))
    assert (told["to_pay"], told["paid_on"], told["reference"]) == ("20.00", "2026-06-17", "ACME-11")
    assert "ACME-11" in words(runs)
    assert "to_pay" not in nothing
    assert of_year == file
