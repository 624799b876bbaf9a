"""A payout freezes what partners are due, is sent once, and can be reopened, failed and corrected."""

from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

import pytest

from storage.lists.commissions import COMMISSIONS
from storage.lists.customers import CUSTOMERS
from storage.management import partners, payout_returns, payouts
from storage.rules import errors
from storage.rules.payout import LineState, PayableReason, PayoutState
from tests.storage.management.paying import AT, FINN, do, draft, earn, lines, pay_by, payable, send, statuses
from tests.storage.management.test_by_hand import adjust
from tests.world import NOW, World


@pytest.mark.both_databases
async def test_a_draft_freezes_what_is_due_and_sending_it_settles_each_commission(acme: World):
    await pay_by(acme, acme.anna)
    await earn(acme, 10_000, 5_000)
    await earn(acme, 3_000, code="ben")

    made = await draft(acme)
    [line] = await lines(acme, made)
    frozen = await payable(acme)
    sent = await send(acme, made)

    assert (made.state, made.partners, made.commissions, made.to_pay_cents) == (PayoutState.DRAFT, 1, 2, 3_000)
    assert made.left_out == {PayableReason.NEEDS_METHOD: 1}
    assert (line.partner_id, line.state, line.number) == (acme.anna, LineState.OPEN, None)
    assert line.method_masked == "a***@partners.example"
    assert (frozen[acme.anna].reason, frozen[acme.anna].payable) == (PayableReason.IN_DRAFT, False)
    assert [frozen[each].commissions for each in (acme.anna, acme.ben)] == [2, 1]
    assert (sent.state, sent.paid_on, sent.reference) == (PayoutState.SENT, AT.date(), "ACME-11")
    [line] = await lines(acme, made)
    assert (line.state, line.number, line.reference) == (LineState.PAID, 1, "ACME-11")
    after = await payable(acme)
    assert (after[acme.anna].to_pay_cents, after[acme.anna].paid_cents) == (0, 3_000)
    assert after[acme.anna].reason == PayableReason.NOTHING_TO_PAY
    assert await statuses(acme) == ["paid", "paid", "approved"]
    assert [each.paid_out_cents for each in (await acme.listed(COMMISSIONS)).data] == [0, 1_000, 2_000]
    with pytest.raises(errors.PayoutSent):
        await send(acme, made)


async def test_a_program_has_one_draft_and_discarding_it_releases_its_commissions(acme: World):
    await pay_by(acme, acme.anna)
    [earned] = await earn(acme, 10_000)
    made = await draft(acme)

    with pytest.raises(errors.PayoutOpen):
        await draft(acme)
    with pytest.raises(errors.PayoutOpen):
        await acme.decide("paid", earned)
    await do(acme, payouts.discard, made.id)
    await acme.decide("paid", earned)

    assert await statuses(acme) == ["paid"]


async def refund(acme: World, _: int) -> None:
    await acme.refund("anna-0-10000", 1_000, at=AT)


async def reject(acme: World, earned: int) -> None:
    await acme.decide("rejected", earned, at=AT)


async def flag(acme: World, _: int) -> None:
    [customer] = (await acme.listed(CUSTOMERS)).data
    await acme.flag(customer.id)


async def pay_otherwise(acme: World, _: int) -> None:
    await pay_by(acme, acme.anna, email="other@partners.example", at=AT)


async def owe_back(acme: World, _: int) -> None:
    await adjust(acme, -100, partner_id=acme.anna)


@pytest.mark.parametrize("change", [refund, reject, flag, pay_otherwise, owe_back])
async def test_what_changed_since_the_draft_is_not_sent(
    acme: World, change: Callable[[World, int], Coroutine[Any, Any, None]]
):
    await pay_by(acme, acme.anna)
    [earned, _] = await earn(acme, 10_000, 5_000)
    made = await draft(acme)
    await change(acme, earned)

    with pytest.raises(errors.PayoutChanged) as changed:
        await send(acme, made)

    [line] = await lines(acme, made)
    assert changed.value.details["line_ids"] == [line.id]
    await do(acme, payouts.discard, made.id)
    left: dict[Any, int] = {refund: 2_800, reject: 1_000, owe_back: 2_900}
    assert (await draft(acme)).to_pay_cents == left.get(change, 0)


@pytest.mark.both_databases
async def test_a_draft_pays_what_was_earned_until_a_day_to_some_partners_from_a_minimum_on(acme: World):
    for partner_id, code in ((acme.anna, "anna"), (acme.ben, "ben")):
        await pay_by(acme, partner_id)
        await earn(acme, 10_000, code=code)
    until: list[dict[str, Any]] = [{"earned_until": NOW.date() - timedelta(days=days)} for days in (1, 0)]

    paid = []
    for each in (*until, {"partner_ids": [acme.ben]}, {"minimum_cents": 2_001}):
        made = await draft(acme, **each)
        paid.append((made.to_pay_cents, made.left_out))
        await do(acme, payouts.discard, made.id)

    assert paid == [(0, {}), (4_000, {}), (2_000, {}), (0, {PayableReason.BELOW_MINIMUM: 2})]
    with pytest.raises(errors.PartnerNotFound):
        await draft(acme, partner_ids=[acme.ben, 7])


@pytest.mark.both_databases
async def test_what_is_set_off_is_of_the_first_commissions_and_what_is_owed_besides_of_the_first(acme: World):
    await pay_by(acme, acme.anna)
    shares = []
    for n, cents in enumerate((-2_500, 300)):
        await earn(acme, 10_000 + n, 5_000 + n, 3_000 + n)
        await adjust(acme, cents, partner_id=acme.anna)
        await send(acme, await draft(acme))
        shares.append([each.set_off_cents for each in (await acme.listed(COMMISSIONS)).data[2::-1]])

    assert shares == [[2_000, 500, 0], [-300, 0, 0]]
    assert (await payable(acme))[acme.anna].paid_cents == 2 * 3_600 - 2_500 + 300


async def test_what_was_refunded_whole_while_it_was_paid_is_reversed_when_the_payout_is_reopened(acme: World):
    await pay_by(acme, acme.anna)
    await earn(acme, 10_000, 5_000)
    sent = await send(acme, await draft(acme))
    await acme.refund("anna-0-10000", at=AT)

    await do(acme, payout_returns.reopen, sent.id)

    assert await statuses(acme) == ["reversed", "approved"]
    assert (await payable(acme))[acme.anna].owed_back_cents == 0


@pytest.mark.both_databases
async def test_a_failed_line_goes_back_to_the_balance_and_is_paid_by_the_next_run(acme: World):
    for partner_id, code in ((acme.anna, "anna"), (acme.ben, "ben")):
        await pay_by(acme, partner_id)
        await earn(acme, 10_000, code=code)
    made = await draft(acme)
    failing, paid = await lines(acme, made)

    sent = await send(acme, made, failed={failing.id: "The account is closed"})

    assert (sent.to_pay_cents, sent.failed, sent.failed_cents) == (2_000, 1, 2_000)
    assert [each.number for each in await lines(acme, made)] == [None, 1]
    again = await send(acme, await draft(acme))
    assert [(each.partner_id, each.number) for each in await lines(acme, again)] == [(failing.partner_id, 2)]
    assert paid.partner_id != failing.partner_id


@pytest.mark.both_databases
async def test_a_run_is_reopened_within_an_hour_and_a_line_corrected_by_a_new_one_later(acme: World):
    await pay_by(acme, acme.anna)
    await earn(acme, 10_000)
    await adjust(acme, 500, partner_id=acme.anna)
    sent = await send(acme, await draft(acme))
    assert sent.to_pay_cents == 2_500

    reopened = await do(acme, payout_returns.reopen, sent.id, at=AT + timedelta(hours=1))
    assert (reopened.state, await statuses(acme)) == (PayoutState.DRAFT, ["approved"])
    assert (await payable(acme))[acme.anna].paid_cents == 0
    sent = await send(acme, reopened, at=AT + timedelta(hours=1))
    with pytest.raises(errors.PayoutSent):
        await do(acme, payout_returns.reopen, sent.id, at=AT + timedelta(hours=2, seconds=1))
    [line] = await lines(acme, sent)
    back = await do(acme, payout_returns.correct_line, sent.id, line.id, reason="Returned by the bank")

    assert (back.to_pay_cents, back.state, back.corrects_id) == (-2_500, LineState.CORRECTION, line.id)
    with pytest.raises(errors.ValidationError):
        await do(acme, payout_returns.correct_line, sent.id, line.id, reason="Twice")
    mine = (await payable(acme))[acme.anna]
    assert (mine.paid_cents, mine.to_pay_cents) == (0, 2_500)
    assert (await send(acme, await draft(acme))).to_pay_cents == 2_500
    assert (await payable(acme))[acme.anna].paid_cents == 2_500


async def test_a_second_person_confirms_where_the_program_says_so(acme: World):
    await acme.change(confirm_payouts=True)
    await pay_by(acme, acme.anna)
    [earned] = await earn(acme, 10_000)
    made = await draft(acme)

    for attempt in (send(acme, made), do(acme, payouts.confirm, made.id), acme.decide("paid", earned)):
        with pytest.raises(errors.SecondPersonRequired):
            await attempt
    confirmed = await do(acme, payouts.confirm, made.id, actor=FINN)

    assert confirmed.confirmed_by == FINN.name
    assert (await send(acme, made)).state == PayoutState.SENT


async def test_who_is_not_paid_stays_out_with_the_reason(acme: World):
    await acme.change(minimum_payout_cents=2_001)
    await pay_by(acme, acme.anna)
    await earn(acme, 10_000)

    assert (await payable(acme))[acme.anna].reason == PayableReason.BELOW_MINIMUM
    assert (await draft(acme)).left_out == {PayableReason.BELOW_MINIMUM: 1}
    await acme.do(partners.change, acme.anna, {"minimum_payout_cents": 2_000})
    assert (await payable(acme))[acme.anna].payable
