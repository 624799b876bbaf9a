"""Steps of histories, taken one by one, and a partner's figures as the sums of the ledger in SQL."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from sqlalchemy import text

from storage.lists.commissions import COMMISSIONS
from storage.lists.customers import CUSTOMERS
from storage.lists.flags import FLAGS
from storage.management import flag_decisions
from storage.management.partners import Past
from storage.rules.commission import CommissionStatus
from storage.rules.fraud.flag import Finding, FlagKind, FlagState
from storage.tracking import flagging
from tests.storage.management.test_by_hand import adjust, credit, move
from tests.world import HELD_SINCE, NOW, OLGA, World

AT = NOW + timedelta(hours=1)
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
