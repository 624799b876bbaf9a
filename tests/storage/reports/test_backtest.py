"""A backtest under today's terms is the ledger to the cent; under others it is what the live rules then record."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from storage import Storage
from storage.lists.commissions import COMMISSIONS
from storage.lists.programs import read_program
from storage.management import special_terms
from storage.reports.backtest import Backtest
from storage.reports.backtest_result import BacktestResult
from storage.rules.draft import DraftChange
from storage.rules.errors import AttributionWindowExpired, ServiceError, ValidationError
from storage.rules.settings import published, stored
from storage.tables import commissions, ledger_entries
from storage.tracking.ledger import PARTNER_KINDS
from tests import world
from tests.storage.management.test_by_hand import credit
from tests.world import NOW, World

Terms = dict[str, Any]
TERMS = st.fixed_dictionaries(
    {},
    optional={
        "commission_rate": st.sampled_from([0, 7.5, 20, 33.33, 100]),
        "lead_commission_cents": st.sampled_from([0, 300]),
        "recurring_months": st.sampled_from([None, 0, 1, 12]),
        "commission_basis": st.sampled_from(["before_tax", "total"]),
        "minimum_order_cents": st.sampled_from([0, 5_000, 9_999]),
        "platform_fee_rate": st.sampled_from([0, 12.5]),
        "hold_days": st.sampled_from([0, 15, 90]),
    },
)
FLAT = TERMS.map(lambda terms: terms | {"commission_type": "flat", "commission_rate": 777})
OWN = {each.public_name for each in special_terms.REPLACING}
START = NOW - timedelta(days=360)
NAMES = st.sampled_from(["sale", "sale", "sale", "lead", "refund", "reject", "credit", "terms"])
GROUPS = ("gold", "silver")
WITH_TYPE = TERMS.map(lambda terms: terms | {"commission_type": "percent"} if "commission_rate" in terms else terms)
SET, ENDED = st.one_of(WITH_TYPE, FLAT).filter(OWN.intersection), st.just({"commission_rate": None})
MOVED = st.sampled_from((*GROUPS, None)).map(lambda group: {"group": group})
OF_BEN = st.one_of(SET, ENDED, MOVED, st.builds(lambda terms, move: terms | move, SET | ENDED, MOVED))
CHANGE = st.one_of(
    st.tuples(st.just("program"), SET),
    st.tuples(st.sampled_from(GROUPS), SET | ENDED),
    st.tuples(st.just("ben"), OF_BEN),
)
SEVERAL = [("gold", {"commission_type": "flat", "commission_rate": 7}), ("gold", {"commission_rate": 500})]
SEVERAL += [("ben", {"recurring_months": 0}), ("program", {"commission_rate": 7.5})]
SPECIAL = [("gold", {"commission_rate": 40}), ("silver", {"lead_commission_cents": 900}), ("ben", {"group": "gold"})]
MOVES = [("silver", {"commission_rate": 11}), ("ben", {"group": "silver"}), ("gold", {"commission_rate": None})]
SOLD = [("lead", 0, 1), ("lead", 1, 1), ("sale", 0, 10_001), ("sale", 1, 3_333), ("sale", 0, 5_000)]
STEPS = st.lists(
    st.tuples(NAMES, st.integers(0, 4), st.sampled_from([1, 3_333, 5_000, 10_001])), min_size=2, max_size=14
)


async def run(acme: World, *changes: DraftChange, days: int = 366, **settings: Any) -> BacktestResult:
    """Run a backtest of changes, or else of the program's settings, to its end."""
    store, program_id = acme.store, acme.program_id
    running = await store.read(Backtest, program_id, changes or [DraftChange(settings)], days=days, at=NOW)
    while not running.is_done:
        await store.read(running.step, program_id)
    return await store.read(running.result, program_id)


async def take(acme: World, number: int, step: tuple[str, int, int], terms: Any) -> None:
    """Take a step of a history, one a week. Raises ServiceError."""
    name, who, cents = step
    at = NOW - timedelta(days=350 - 7 * number)
    customer = f"user-{who}"
    if name == "lead":
        await acme.customer(customer, "anna" if who % 2 else "ben", at=at)
    elif name == "sale":
        await acme.sale(f"inv-{number}", cents, customer_key=customer, tax_cents=cents // 5, at=at)
    elif name == "refund":
        await acme.refund(f"inv-{number - who}", cents, at=at)
    elif name == "reject":
        earned = (await acme.listed(COMMISSIONS)).data
        await acme.decide("rejected", *(each.id for each in earned[who : who + 1]))
    elif name == "credit":
        await credit(acme, partner_id=acme.anna, amount_cents=cents, customer_key=customer, occurred_at=at)
    else:
        await acme.change(at, **terms)


async def ledger(acme: World) -> dict[int, int]:
    """Return what each partner's commissions add up to in the ledger."""
    row = ledger_entries.c
    mine = (row.program_id == acme.program_id, row.kind.in_(PARTNER_KINDS))
    summed = select(row.partner_id, func.sum(row.amount_cents)).where(*mine).group_by(row.partner_id)
    rows = await acme.store.read(lambda reader: reader.execute(summed).all())
    return {partner_id: int(cents) for partner_id, cents in rows if cents}


async def give(acme: World, whom: str, terms: Terms) -> DraftChange:
    """Change the terms of the program, of a group or of Ben from the start; return the change as a draft."""
    if whom == "program":
        await acme.change(START, **terms)
        return DraftChange(terms)
    own = {name: terms[name] for name in OWN.intersection(terms)}
    if whom in GROUPS:
        await acme.do(special_terms.set_for_group, whom, own, at=START)
        return DraftChange(own, group=whom)
    own |= {"group": terms["group"]} if "group" in terms else {}
    await acme.do(special_terms.set_for_partner, acme.ben, own, at=START)
    return DraftChange(own, acme.ben)


@pytest.mark.both_databases
@settings(max_examples=30)
@given(
    steps=STEPS,
    first=st.tuples(TERMS, st.lists(CHANGE, max_size=3)),
    later=st.one_of(TERMS, FLAT),
    changes=st.lists(CHANGE, min_size=1, max_size=4),
)
@example(steps=SOLD, first=({}, []), later={}, changes=SEVERAL)
@example(steps=SOLD, first=({}, SPECIAL), later={}, changes=MOVES)
@example(steps=SOLD, first=({}, SEVERAL), later={}, changes=[("ben", {"commission_rate": None, "group": "gold"})])
async def test_todays_terms_are_the_ledger_and_a_draft_is_what_a_program_with_it_records(
    store: Storage,
    steps: list[tuple[str, int, int]],
    first: tuple[Terms, list[tuple[str, Terms]]],
    later: Terms,
    changes: list[tuple[str, Terms]],
):
    terms, special = first
    acme = await world.acme(store, **stored(terms))
    other = await acme.beside(name="Drafted", **stored(terms))
    for each in (acme, other):
        await each.do(special_terms.set_for_partner, each.anna, {"group": "gold"}, at=START)
        for change in special:
            await give(each, *change)
    draft = [await give(other, *change) for change in changes]
    names = {name for name, *_ in steps}
    has_new_terms = "terms" in names
    for number, step in enumerate(steps):
        for each in (acme, other):
            with suppress(ServiceError, IndexError):
                await take(each, number, step, later if each is acme else {})

    now = await run(acme)
    program = await store.read(read_program, acme.program_id)
    restated = await run(acme, **published(program.settings)) if not has_new_terms else now
    assert {each.partner_id: each.before_cents for each in now.partners if each.before_cents} == await ledger(acme)
    assert (now.before, now.difference_cents, now.kept) == (now.after, 0, 0)
    assert restated._replace(left_out=[]) == now._replace(left_out=[])
    if names.isdisjoint({"terms", "credit"}):  # what earns nothing is not credited
        of_ours = [each._replace(partner_id=each.partner_id and acme.ben) for each in draft]
        drafted, recorded = await run(acme, *of_ours), await run(other)
        assert drafted.after == recorded.before
        assert by_name(drafted, "after_cents") == by_name(recorded, "before_cents")


def by_name(found: BacktestResult, figure: str) -> dict[str, int]:
    """Return what each partner earns."""
    return {each.name: cents for each in found.partners if (cents := getattr(each, figure))}


async def expire(acme: World, transaction_id: str, **sent: Any) -> None:
    """Have a sale rejected that comes 70 days after its click, and logged as calls are."""
    error = AttributionWindowExpired()
    await acme.reject(error, transaction_id=transaction_id, amount_cents=10_000, currency="USD", **sent)


@pytest.mark.both_databases
async def test_a_shorter_window_loses_sales_and_a_longer_one_gains_those_that_were_rejected_as_late(acme: World):
    clicked_at = NOW - timedelta(days=70)
    late = await acme.visitor("ben", at=clicked_at)
    await acme.customer("soon", at=NOW - timedelta(days=40))
    await acme.sale("inv-soon", customer_key="soon", at=NOW - timedelta(days=39))
    await acme.customer("slow", at=NOW - timedelta(days=40))
    await acme.sale("inv-slow", 9_000, customer_key="slow", at=NOW - timedelta(days=1))
    await acme.sale("inv-more", 1_000, customer_key="slow")
    await expire(acme, "inv-late", click_id=late, customer_key="late")
    await expire(acme, "inv-late", click_id=late, customer_key="late")  # its sender tried again
    await expire(acme, "inv-next", customer_key="late")

    shorter = await run(acme, attribution_window_days=30)
    longer = await run(acme, attribution_window_days=90)

    lost = [(each.transaction_id, each.before_cents, each.after_cents) for each in shorter.lost]
    assert lost == [("inv-slow", 1_800, 0), ("inv-more", 200, 0)]
    assert (shorter.lost_sales, shorter.gained_sales, shorter.difference_cents) == (2, 0, -2_000)
    gained = [(each.transaction_id, each.partner_name, each.after_cents) for each in longer.gained]
    assert gained == [("inv-late", "Ben", 2_000), ("inv-next", "Ben", 2_000)]
    assert (longer.lost_sales, longer.gained_sales, longer.difference_cents) == (0, 2, 4_000)
    assert (longer.winners, longer.losers, shorter.winners, shorter.losers) == (1, 0, 0, 1)


async def test_a_longer_hold_says_what_it_holds_and_fewer_days_price_less(acme: World):
    await acme.customer(at=NOW - timedelta(days=20))
    await acme.sale(at=NOW - timedelta(days=20))

    held = await run(acme, hold_days=30)
    recent = await run(acme, days=20, commission_rate=30)

    assert (held.before.held_cents, held.after.held_cents, held.difference_cents) == (0, 2_000, 0)
    assert (recent.sales, recent.first) == (0, NOW.date() - timedelta(days=19))


@pytest.mark.wrong_books
async def test_what_is_not_stored_is_said_and_what_the_terms_do_not_explain_stays(acme: World):
    await acme.customer()
    sold = await acme.sale()
    change = commissions.update().where(commissions.c.id == sold.commission_id).values(amount_cents=1_234)
    await acme.store.write(lambda connection: connection.execute(change).rowcount)

    tried = await run(acme, attribution_model="first_click", commission_rate=50)

    assert [each.setting for each in tried.left_out] == ["attribution_model"]
    assert (tried.kept, tried.after.commission_cents) == (1, 1_234)
    with pytest.raises(ValidationError):
        await run(acme, commission_type="flat")
