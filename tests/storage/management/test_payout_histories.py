"""After any history each cent is paid once and all sums agree; a crash changes nothing, and two workers pay once."""

import asyncio
from collections import Counter
from contextlib import suppress
from itertools import count
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, event, select

from storage import Storage
from storage.checks import books
from storage.engine.audit import By
from storage.lists import balances
from storage.lists.commissions import COMMISSIONS
from storage.lists.flags import FLAGS
from storage.lists.payouts import PAYOUT_LINES, PAYOUTS
from storage.management import flag_decisions, payout_methods, payout_returns, payout_sending, payouts
from storage.reports import performance
from storage.rules.commission import CommissionStatus, of_remaining
from storage.rules.errors import PayoutOpen, PayoutSent, ServiceError, ValidationError
from storage.rules.fraud.flag import FlagKind, FlagState
from storage.rules.payout import LineState, MethodKind, PayoutState
from storage.rules.periods.period import DateRangeQuery
from storage.tables import commissions, ledger_entries, payout_items, payout_lines, sales
from storage.tables import payouts as runs
from tests import world
from tests.storage.management import histories
from tests.storage.management.histories import APPROVED, AT, PAID, REJECTED, SALE, figures
from tests.storage.management.paying import AT as LATER
from tests.storage.management.paying import UNTIL, do, draft, earn, lines, pay_by, payable, send
from tests.world import HELD_SINCE, NOW, OLGA, SEALER, World

PAYING = st.one_of(
    *(st.tuples(st.just(name), st.integers(0, 3), st.just(None)) for name in ("draft", "discard", "reopen", "correct")),
    st.tuples(st.just("send"), st.integers(0, 3), st.booleans()),
    st.tuples(st.just("method"), st.integers(0, 1), st.integers(0, 2)),
)
STEPS = st.one_of(histories.STEPS, PAYING)
BOTH = [("decide", 0, APPROVED), ("decide", 1, APPROVED)]
SOLD = [SALE, ("sale", 2, HELD_SINCE), *BOTH]
LOST = (PayoutOpen, PayoutSent, ValidationError)  # the other worker was first; a draft may have nothing left to pay
METHODS = [("method", 0, 0), ("method", 1, 0)]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each statement read and change two commissions, as it does with 20,000 of many."""
    monkeypatch.setattr(payouts, "AT_ONCE", 2)


async def pay(acme: World, step: str, number: int, value: Any) -> None:
    """Take a step of a payout. Raises ServiceError, IndexError."""
    drafts = [each.id for each in (await acme.listed(PAYOUTS, state=PayoutState.DRAFT)).data]
    sent = [each.id for each in (await acme.listed(PAYOUTS, state=PayoutState.SENT)).data]
    if step == "draft":
        await do(acme, payouts.draft, earned_until=UNTIL, minimum_cents=number * 500)
    elif step == "discard":
        await do(acme, payouts.discard, drafts[0])
    elif step == "reopen":
        await do(acme, payout_returns.reopen, sent[number])
    elif step == "correct":
        paid = (await acme.listed(PAYOUT_LINES, state=LineState.PAID)).data[number]
        await do(acme, payout_returns.correct_line, paid.payout_id, paid.id, reason="It came back")
    elif step == "send":
        open_lines = (await acme.listed(PAYOUT_LINES, payout_id=drafts[0])).data
        failed = {each.id: "Closed" for each in open_lines[: int(value)] if each.state == LineState.OPEN}
        said: Any = {"paid_on": AT.date(), "reference": "R", "failed": failed}
        await do(acme, payout_sending.send, drafts[0], **said)
    else:
        to = {"email": f"{value}@partners.example"}
        partner_id = (acme.anna, acme.ben)[number]
        await do(acme, payout_methods.change, partner_id, MethodKind.PAYPAL, to, sealer=SEALER)


async def handed_over(acme: World) -> Counter[int]:
    """Return what each partner was paid by lines that stand."""
    paid: Counter[int] = Counter()
    for state in (LineState.PAID, LineState.CORRECTION):
        for each in (await acme.listed(PAYOUT_LINES, state=state)).data:
            paid[each.partner_id] += each.to_pay_cents
    return paid


@settings(max_examples=50)
@given(steps=st.lists(STEPS, min_size=4, max_size=24))
@example(steps=[SALE, ("decide", 0, REJECTED), ("refund", 0, 500)])
@example(steps=[SALE, ("sale", 3, HELD_SINCE), *BOTH, ("decide", 1, PAID), ("refund", 0, 9_000)])
@example(steps=[SALE, ("sale", 3, NOW), ("flag", 0, FlagKind.SELF_REFERRAL)])
@example(steps=[("flag", 0, FlagKind.UNUSUAL_REFUND_RATE), ("review", 0, FlagState.CONFIRMED), SALE])
@example(steps=[*SOLD, *METHODS, ("draft", 0, None), ("refund", 0, 900), ("send", 0, False), ("decide", 0, PAID)])
@example(steps=[*SOLD, *METHODS, ("draft", 0, None), ("send", 0, True), ("draft", 0, None), ("send", 0, False)])
@example(steps=[*SOLD, *METHODS, ("draft", 0, None), ("send", 0, False), ("refund", 1, 900), ("reopen", 0, None)])
@example(steps=[*SOLD, ("decide", 0, PAID), ("refund", 0, 9_000), *METHODS, ("draft", 0, None), ("send", 0, False)])
async def test_each_cent_is_paid_once_and_each_balance_list_and_report_is_the_sum_of_the_ledger(
    store: Storage, steps: list[tuple[str, int, Any]]
):
    acme = await world.acme(store, platform_fee_bps=500)
    by_hand: Counter[int] = Counter()
    steps_of_payouts = {"draft", "discard", "reopen", "correct", "send", "method"}
    for step, number, value in steps:
        with suppress(ServiceError, IndexError):
            if step in steps_of_payouts:
                await pay(acme, step, number, value)
            else:
                by_hand[number % 2] += await histories.take(acme, step, number, value)
    await check(acme, by_hand)

    for each in (await acme.listed(FLAGS, state=FlagState.OPEN)).data:
        await do(acme, flag_decisions.decide, each.id, FlagState.DISMISSED)
    for each in (await acme.listed(PAYOUTS, state=PayoutState.DRAFT)).data:
        await do(acme, payouts.discard, each.id)
    await acme.decide(
        "approved", *(each.id for each in (await acme.listed(COMMISSIONS, ready_at=LATER)).data), at=LATER
    )
    for partner_id in (acme.anna, acme.ben):
        await pay_by(acme, partner_id, email=f"{partner_id}@last.example", at=AT)
    with suppress(ValidationError):  # no one is to be paid
        await send(acme, await draft(acme))
    await check(acme, by_hand)
    left = await store.read(balances.of_partners, acme.program_id, [acme.anna, acme.ben], at=LATER)
    assert [each.to_pay_cents for each in left.values()] == [0, 0]


async def check(acme: World, by_hand: Counter[int]) -> None:
    """Compare balances, lists, the report, and what lines say that was paid, with the sums of the ledger."""

    async def net(**filters: Any) -> int:
        return sum(each.net_cents for each in (await acme.listed(COMMISSIONS, **filters)).data)

    read, partners, earned = acme.store.read, [acme.anna, acme.ben], 0
    sold = {each.transaction_id: each for each in await acme.rows(sales)}
    for each in (await acme.listed(COMMISSIONS)).data:
        sale = sold[each.transaction_id]
        left = of_remaining(each.amount_cents, sale_cents=sale.amount_cents, refunded_cents=sale.refunded_cents)
        assert each.net_cents == (0 if each.status == REJECTED else left)
    shown = await read(balances.of_partners, acme.program_id, partners, at=AT)
    rows, paid = await payable(acme, AT), await handed_over(acme)
    for number, partner_id in enumerate(partners):
        expected, mine = await figures(acme, partner_id), {"partner_id": partner_id}
        holds = await read(balances.next_holds, acme.program_id, partner_id, at=AT)
        total = expected.pop("earned_cents")
        earned += total - by_hand[number]
        assert total == await net(**mine) + by_hand[number]
        assert {name: getattr(shown[partner_id], name) for name in expected} == expected
        for name in ("pending_cents", "ready_cents", "flagged_cents", "to_pay_cents", "owed_back_cents", "paid_cents"):
            assert getattr(rows[partner_id], name) == expected[name], name
        assert expected["paid_cents"] == paid[partner_id]
        assert sum(each.cents for each in holds) == expected["on_hold_cents"]
        assert await net(**mine, status=CommissionStatus.PENDING, flagged=False) == expected["pending_cents"]
        assert await net(**mine, flagged=True) == expected["flagged_cents"]
        assert await net(**mine, ready_at=AT) == expected["ready_cents"]
    report = await read(performance.read_performance, acme.program_id, DateRangeQuery("30d"), at=AT)
    assert report.current.commission_cents == earned
    assert await read(books.run) == []


class CrashError(Exception):
    """The process ends here."""


def crashing(connection: Connection, statements: int, operation: Any, *arguments: Any, **options: Any) -> Any:
    """Run an operation that crashes before its next statement after so many."""
    seen = count()

    def stop(*_: Any) -> None:
        if next(seen) >= statements:
            raise CrashError

    event.listen(connection, "before_cursor_execute", stop)
    try:
        return operation(connection, *arguments, **options)
    finally:
        event.remove(connection, "before_cursor_execute", stop)


async def survive(acme: World, operation: Any, *values: Any, **about: Any) -> Any:
    """Crash before each statement of an operation, one after the other, then let it run; each crash changes nothing."""
    tables = (commissions, ledger_entries, payout_items, payout_lines, runs)

    def everything(connection: Connection) -> list[Any]:
        return [sorted(connection.execute(select(each)).all(), key=str) for each in tables]

    for statements in count():
        before = await acme.store.read(everything)
        about = {"by": By(OLGA, LATER), **about}
        try:
            done = await acme.store.write(crashing, statements, operation, acme.program_id, *values, **about)
        except CrashError:
            assert await acme.store.read(everything) == before
        else:
            assert statements > 5
            return done
    return None


@pytest.mark.both_databases
async def test_a_crash_at_any_step_of_a_payout_changes_nothing(acme: World):
    for partner_id, code in ((acme.anna, "anna"), (acme.ben, "ben")):
        await pay_by(acme, partner_id)
        await earn(acme, 10_000, 5_000, code=code)

    drafted = await survive(acme, payouts.draft, earned_until=UNTIL)
    failed = {(await lines(acme, drafted))[0].id: "Closed"}
    said: dict[str, Any] = {"paid_on": LATER.date(), "reference": "R"}
    await survive(acme, payout_sending.send, drafted.id, **said, failed=failed)
    await survive(acme, payout_returns.reopen, drafted.id)
    sent = await survive(acme, payout_sending.send, drafted.id, **said)
    paid = next(each for each in await lines(acme, sent) if each.state == LineState.PAID)
    await survive(acme, payout_returns.correct_line, sent.id, paid.id, reason="It came back")
    await survive(acme, payouts.draft, earned_until=UNTIL)

    assert (await handed_over(acme)).total() == 0


@pytest.mark.both_databases
async def test_two_workers_draft_one_payout_and_pay_each_commission_once(acme: World, elsewhere: World):
    async def both(*attempts: Any) -> list[Any]:
        done = await asyncio.gather(*attempts, return_exceptions=True)
        assert all(isinstance(each, LOST) for each in done if isinstance(each, Exception)), done
        return [each for each in done if not isinstance(each, Exception)]

    await pay_by(acme, acme.anna)
    await earn(acme, *range(1_000, 9_000, 1_000))
    [drafted] = await both(draft(acme), draft(elsewhere))
    [sent] = await both(send(acme, drafted), send(elsewhere, drafted))
    earned = await earn(acme, 500, 700, code="ben")
    await pay_by(acme, acme.ben)
    drafted = await both(draft(acme), *(elsewhere.decide("paid", each) for each in earned))
    for each in (await acme.listed(PAYOUTS, state=PayoutState.DRAFT)).data:
        await both(send(acme, each), send(elsewhere, each))

    assert sent.to_pay_cents == 7_200
    assert (await handed_over(acme)).total() == 7_200 + 240
