"""A statement has each commission of a payout, what was set off since the one before, and a number that stays."""

from datetime import timedelta
from typing import Any

import pytest

from presentation.payout_files import pdf, statement
from storage.management import payout_returns
from storage.reports.payments import read_payments
from storage.reports.statements import PartnerStatement, read_statement
from storage.rules.errors import NotFound
from storage.tracking.ledger import EntryKind
from tests.storage.management.paying import AT, do, draft, earn, lines, pay_by, send
from tests.storage.management.test_by_hand import adjust
from tests.world import NOW, World

LATER = AT + timedelta(days=40)


async def stated(acme: World, number: int = 1) -> PartnerStatement:
    found: PartnerStatement = await acme.store.read(read_statement, acme.program_id, number, at=LATER)
    return found


@pytest.mark.both_databases
async def test_a_statement_lists_what_was_paid_and_what_was_set_off_of_it(acme: World):
    await pay_by(acme, acme.anna)
    await earn(acme, 10_000, 5_000)
    await acme.refund("anna-1-5000", 1_000)
    first = await send(acme, await draft(acme))
    await acme.refund("anna-0-10000", 2_500, at=AT + timedelta(days=1))
    await adjust(acme, -100, reason="A typo", at=AT + timedelta(days=2))
    sold = await acme.sale("anna-2", 20_000, customer_key="user-anna-10000", at=NOW)
    await acme.decide("approved", sold.commission_id)
    second = await send(acme, await draft(acme, at=LATER), at=LATER)

    before, after = await stated(acme), await stated(acme, 2)

    paid = [(each.transaction_id, each.amount_cents, each.refunded_cents) for each in before.commissions]
    assert paid == [("anna-0-10000", 2_000, 0), ("anna-1-5000", 1_000, 200)]
    assert (before.line.to_pay_cents, before.entries, before.carried_cents) == (2_800, [], 0)
    entries = [(each.kind, each.cents) for each in after.entries]
    assert entries == [(EntryKind.REVERSAL, -500), (EntryKind.ADJUSTMENT, -100)]
    assert (after.line.set_off_cents, after.carried_cents, after.line.to_pay_cents) == (600, 0, 3_400)
    assert (before.line.payout_id, after.line.payout_id) == (first.id, second.id)


async def test_the_number_of_a_statement_stays_when_its_payout_is_reopened_or_its_payment_comes_back(acme: World):
    await pay_by(acme, acme.anna)
    await earn(acme, 10_000)
    sent = await send(acme, await draft(acme))
    await do(acme, payout_returns.reopen, sent.id)
    reopened = await stated(acme)
    await send(acme, sent)
    [line] = await lines(acme, sent)
    await do(acme, payout_returns.correct_line, sent.id, line.id, reason="The account is closed", at=LATER)

    returned = await stated(acme)

    assert "is not paid" in statement.html(reopened)
    assert "came back" in statement.html(returned)
    assert "The account is closed" in statement.html(returned)
    with pytest.raises(NotFound):
        await stated(acme, 2)


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "渡辺 健二", "מיכל \u202eevil", "🎉" * 300])
async def test_a_hostile_name_is_text_on_the_page_and_in_the_pdf_of_a_statement(acme: World, name: str):
    await pay_by(acme, acme.anna)
    await earn(acme, 10_000)
    await send(acme, await draft(acme), reference=name[:255])
    found: Any = await stated(acme)
    found = found._replace(line=found.line._replace(partner_name=name, reference=name))

    page = statement.html(found)

    assert "<script" not in page
    assert "\u202e" not in page
    assert pdf.pdf(page).startswith(b"%PDF-")


async def test_only_what_a_payout_pays_is_in_its_files(acme: World):
    await pay_by(acme, acme.anna)
    await pay_by(acme, acme.ben, "ben@partners.example")
    await earn(acme, 10_000)
    await earn(acme, 5_000, code="ben")
    made = await draft(acme)

    *_, payments = await acme.store.read(read_payments, acme.program_id, made.id, at=AT)

    assert [(each.partner_name, each.cents) for each in payments] == [("Anna", 2_000), ("Ben", 1_000)]
    assert all("@" not in (each.sealed or "@") for each in payments)
