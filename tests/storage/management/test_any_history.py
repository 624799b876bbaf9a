"""After any history, every balance, list and report is the ledger's sum in SQL, and what they call ready is."""

from collections import Counter
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from storage import Storage
from storage.checks import books
from storage.lists import balances
from storage.lists.commissions import COMMISSIONS
from storage.lists.customers import CUSTOMERS
from storage.lists.flags import FLAGS
from storage.management import flag_decisions
from storage.management.partners import Past
from storage.reports import performance
from storage.rules.commission import CommissionStatus, of_remaining
from storage.rules.errors import ServiceError
from storage.rules.fraud.flag import Finding, FlagKind, FlagState
from storage.rules.periods.period import DateRangeQuery
from storage.tables import sales
from storage.tracking import flagging
from tests import world
from tests.storage.management.test_by_hand import OLGA, adjust, credit, move
from tests.world import HELD_SINCE, NOW, World, stored

AT = NOW + timedelta(hours=1)
SOLD = (sales.c.transaction_id, sales.c.amount_cents, sales.c.refunded_cents)
SALE = ("sale", 1, HELD_SINCE)
APPROVED, PAID, REJECTED = CommissionStatus.APPROVED, CommissionStatus.PAID, CommissionStatus.REJECTED
KINDS = (FlagKind.SELF_REFERRAL, FlagKind.UNUSUAL_REFUND_RATE, FlagKind.UNUSUAL_CONVERSION_RATE)
STEPS = st.one_of(
    st.tuples(st.just("sale"), st.integers(1, 4), st.sampled_from([HELD_SINCE, NOW])),
    st.tuples(st.just("refund"), st.integers(0, 7), st.integers(1, 12_000)),
    st.tuples(st.just("decide"), st.integers(0, 7), st.sampled_from([APPROVED, PAID, REJECTED])),
    st.tuples(st.just("flag"), st.integers(0, 4), st.sampled_from(KINDS)),
    st.tuples(st.just("review"), st.integers(0, 3), st.sampled_from([FlagState.DISMISSED, FlagState.CONFIRMED])),
    st.tuples(st.just("credit"), st.integers(0, 4), st.integers(5, 12_000)),
    st.tuples(st.just("adjust"), st.integers(0, 1), st.integers(-3_000, 12_000)),
    st.tuples(st.just("move"), st.integers(0, 4), st.sampled_from(Past)),
)
FIGURES = text(Path(__file__).with_name("figures.sql").read_text(encoding="utf-8"))


async def take(acme: World, step: str, number: int, value: Any) -> int:
    """Take a step of a history; return by how much it adjusted Anna's or Ben's balance. Raises ServiceError."""
    people, earned = [(await acme.listed(each)).data for each in (CUSTOMERS, COMMISSIONS)]
    partner_id: int = (acme.anna, acme.ben)[number % 2]
    if step == "sale":
        await acme.customer(key := f"user-{number}", "anna" if number % 2 else "ben", at=value)
        await acme.sale(f"inv-{len(earned)}", customer_key=key, at=value)
    elif step == "refund":
        await acme.refund(f"inv-{number}", value)
    elif step == "decide":
        await acme.decide(value, earned[number].id, at=AT)
    elif step == "flag":  # one of the customers, or without a number all of Anna's since then
        partner_id = people[number - 1].partner_id if number else acme.anna
        customer_id = people[number - 1].id if number else None
        found = Finding(value, f"{customer_id}", partner_id, HELD_SINCE, {}, customer_id)
        await acme.store.write(flagging.raise_each, [(acme.program_id, found)], at=NOW)
    elif step == "review":
        flag = (await acme.listed(FLAGS)).data[number]
        await acme.do(flag_decisions.decide, flag.id, value, actor=OLGA, at=AT)
    elif step == "credit":
        await credit(acme, partner_id=partner_id, amount_cents=value, customer_key=f"user-{number}")
    elif step == "move":
        await move(acme, people[number].id, value, partner_id=partner_id)
    else:
        return int((await adjust(acme, value, partner_id=partner_id)).amount_cents)
    return 0


async def figures(acme: World, partner_id: int) -> dict[str, int]:
    """Return a partner's balance, and what they earned."""
    about = {"program": acme.program_id, "now": int(AT.timestamp() * 1000), "partner": partner_id}
    [row] = await acme.store.read(lambda each: list(each.execute(FIGURES, about).mappings()))
    sums = {name: int(value or 0) for name, value in row.items()}
    settled, free = sums.pop("settled_cents"), sums.pop("free_cents")
    due = {"approved_cents": free + max(settled, 0), "owed_back_cents": max(-settled, 0)}
    on_hold = sums["pending_cents"] - sums["ready_cents"]
    return {**sums, **due, "on_hold_cents": on_hold, "to_pay_cents": max(free + settled, 0)}


@settings(max_examples=25)
@given(steps=st.lists(STEPS, min_size=4, max_size=16))
@example(steps=[SALE, ("decide", 0, REJECTED), ("refund", 0, 500)])
@example(steps=[SALE, SALE, *(("decide", n, APPROVED) for n in (0, 1)), ("decide", 1, PAID), ("refund", 0, 9_000)])
async def test_each_balance_list_and_report_is_the_sum_of_the_ledger(store: Storage, steps: list[tuple[str, int, Any]]):
    acme = await world.acme(store, platform_fee_bps=500)
    by_hand: Counter[int] = Counter()
    for step, number, value in steps:
        with suppress(ServiceError, IndexError):
            by_hand[number % 2] += await take(acme, step, number, value)

    async def net(**filters: Any) -> int:
        return sum(each.net_cents for each in (await acme.listed(COMMISSIONS, **filters)).data)

    sold = {name: cents for name, *cents in await stored(acme, *SOLD)}
    for each in (await acme.listed(COMMISSIONS)).data:
        sale_cents, refunded_cents = sold[each.transaction_id]
        left = of_remaining(each.amount_cents, sale_cents=sale_cents, refunded_cents=refunded_cents)
        assert each.net_cents == (0 if each.status == REJECTED else left)
    earned = 0
    shown = await store.read(balances.of_partners, acme.program_id, [acme.anna, acme.ben], at=AT)
    for number, partner_id in enumerate((acme.anna, acme.ben)):
        expected, mine = await figures(acme, partner_id), {"partner_id": partner_id}
        holds = await store.read(balances.next_holds, acme.program_id, partner_id, at=AT)
        total = expected.pop("earned_cents")
        earned += total - by_hand[number]
        assert total == await net(**mine) + by_hand[number]
        assert {name: getattr(shown[partner_id], name) for name in expected} == expected
        assert sum(each.cents for each in holds) == expected["on_hold_cents"]
        assert await net(**mine, status=CommissionStatus.PENDING, flagged=False) == expected["pending_cents"]
        assert await net(**mine, flagged=True) == expected["flagged_cents"]
        assert await net(**mine, ready_at=AT) == expected["ready_cents"]
    report = await store.read(performance.read_performance, acme.program_id, DateRangeQuery("30d"), at=AT)
    assert report.current.commission_cents == earned
    assert await store.read(books.run) == []

    for filters, status in (({"ready_at": AT}, "approved"), ({"status": "approved", "flagged": False}, "paid")):
        chosen = (await acme.listed(COMMISSIONS, **filters)).data
        await acme.decide(status, *(each.id for each in chosen), at=AT)
    paid = await store.read(balances.of_partners, acme.program_id, [each.partner_id for each in chosen], at=AT)
    assert [each.to_pay_cents for each in paid.values() if each.to_pay_cents] == []
    assert await store.read(books.run) == []
