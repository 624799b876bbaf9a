"""Special terms: a partner's own apply, else those of the group, else the program's, whatever changed in what order."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from storage import Storage
from storage.checks import books
from storage.engine.audit import AGENT_KEY, Actor, By
from storage.lists.audit_log import AUDIT_LOG
from storage.lists.commissions import get_details
from storage.lists.partners import PARTNERS
from storage.management import agent_caps, by_hand, special_terms
from storage.reports.program import list_terms
from storage.rules import errors
from storage.rules.commission import TermsOf
from storage.rules.outcome import SaleOutcome
from storage.tables import commission_terms, commissions, partners
from tests import world
from tests.world import BY, NOW, World, stored

AGENT = By(Actor(AGENT_KEY, "1", "Nightly"), NOW)
RATES = st.sampled_from([0, 10, 30, 45])
MAYBE, GROUPS = st.one_of(st.none(), RATES), st.sampled_from(["vip", "press"])
STEPS = st.one_of(
    st.tuples(st.just("program"), st.none(), RATES),
    st.tuples(st.just("group"), GROUPS, MAYBE),
    st.tuples(st.just("partner"), st.sampled_from(["anna", "ben"]), MAYBE),
    st.tuples(st.just("join"), st.sampled_from(["anna", "ben"]), st.one_of(st.none(), GROUPS)),
    st.tuples(st.just("fee"), st.none(), RATES),
)


async def own(acme: World, partner_id: int | None = None, by: By = BY, **sent: Any) -> Any:
    return await acme.do(special_terms.set_for_partner, partner_id or acme.anna, sent, by=by)


async def group(acme: World, name: str = "vip", by: By = BY, **sent: Any) -> Any:
    return await acme.do(special_terms.set_for_group, name, sent, by=by)


async def take(acme: World, taken: tuple[str, Any, Any], rates: dict[Any, Any], at: datetime) -> None:
    """Take a step, and remember it in `rates`, the rates by whose they are and each partner's group."""
    step, name, value = taken
    partner_id = {"anna": acme.anna, "ben": acme.ben}.get(name)
    if step == "program":
        await acme.change(at, commission_rate=value)
    elif step == "fee":
        await acme.change(at, platform_fee_rate=value)
    elif step == "group":
        await group(acme, name, commission_rate=value, by=BY._replace(at=at))
    elif step == "join":
        await own(acme, partner_id, group=value, by=BY._replace(at=at))
    else:
        await own(acme, partner_id, commission_rate=value, by=BY._replace(at=at))
    rates[step, name] = value


def expected(rates: dict[Any, Any], name: str) -> int:
    levels = (rates.get(("partner", name)), rates.get(("group", rates.get(("join", name)))), rates["program", None])
    return 100 * next(rate for rate in levels if rate is not None)


@settings(max_examples=15)
@given(steps=st.lists(STEPS, min_size=3, max_size=12))
@example(steps=[("join", "anna", "vip"), ("group", "vip", 30), ("partner", "anna", 10), ("partner", "anna", None)])
@example(steps=[("group", "vip", 30), ("join", "anna", "vip"), ("fee", None, 10), ("join", "anna", None)])
async def test_the_most_specific_terms_price_each_sale_and_those_of_its_day_each_credit(
    store: Storage, steps: list[Any]
):
    acme = await world.acme(store)
    rates: dict[Any, Any] = {("program", None): 20}
    for name in ("anna", "ben"):
        await acme.customer(name, name)
    earned, owed = {}, {}
    for hour, step in enumerate(steps):
        at = NOW + timedelta(hours=hour)
        await take(acme, step, rates, at)
        for name in ("anna", "ben"):
            sold = await acme.sale(f"{name}-{hour}", customer_key=name, at=at)
            earned[name, at], owed[name, at] = sold.commission_cents, expected(rates, name)
    assert earned == owed

    for (name, at), cents in owed.items():
        if cents:
            about: Any = {"currency": "USD", "reason": "late", "occurred_at": at, "at": NOW + timedelta(days=2)}
            partner_id = acme.anna if name == "anna" else acme.ben
            credited = await acme.do(by_hand.credit_sale, amount_cents=10_000, partner_id=partner_id, **about)
            assert credited.amount_cents == cents


@pytest.mark.both_databases
async def test_special_terms_replace_what_they_name_and_are_explained_with_the_commission(acme: World):
    await acme.change(lead_commission_cents=100, platform_fee_rate=10)
    await group(acme, commission_type="flat", commission_rate=700, minimum_order_cents=500)
    partner = await own(acme, group="vip")
    await acme.customer()

    sold = await acme.sale()

    assert (partner.group, partner.terms.whose, partner.terms.commission_rate) == ("vip", TermsOf.GROUP, 700)
    small = await acme.sale("small", 499)
    assert (sold.commission_cents, small.commission_cents, small.commission_id) == (700, 0, None)
    of_small = await acme.explain(transaction_id="small")
    assert of_small.outcome == SaleOutcome.BELOW_MINIMUM_ORDER
    details = await acme.store.read(get_details, acme.program_id, sold.commission_id or 0, at=NOW)
    terms = details.terms
    assert (terms.whose, terms.group, terms.lead_commission_cents) == (TermsOf.GROUP, "vip", 100)
    seen = await acme.explain(transaction_id="inv-1")
    rate = next(each for each in seen.steps if each.step == "rate")
    assert (rate.facts["whose_terms"], seen.terms_version, "partner group vip's" in rate.text) == ("group", 3, True)
    versions = [(each.version, each.group) for each in await acme.store.read(list_terms, acme.program_id)]
    assert versions == [(2, None), (1, None), (3, "vip")]
    assert [each.id for each in (await acme.listed(PARTNERS, group="vip")).data] == [acme.anna]
    logged = [(each.action, each.field, each.after) for each in (await acme.listed(AUDIT_LOG)).data[:2]]
    assert logged[0] == ("partner.terms", "group", "vip")
    assert (logged[1][:2], logged[1][2]["commission_rate"]) == (("partner.group_terms", "vip"), 700)


async def test_the_fee_and_the_basis_stay_the_programs(acme: World):
    await own(acme, commission_rate=50)
    await acme.change(NOW + timedelta(hours=1), platform_fee_rate=10, commission_basis="before_tax")
    await acme.customer()

    sold = await acme.sale(tax_cents=2_000)

    assert sold.commission_cents == 4_000
    ended = await stored(acme, commission_terms.c.version, commission_terms.c.ended_at.is_not(None))
    assert ended == [(1, False), (2, True), (3, False), (4, False)]
    assert await stored(acme, commissions.c.terms_version) == [(4,)]


async def test_what_is_the_same_or_wrong_changes_nothing(acme: World):
    await own(acme, commission_rate=20)
    again = await own(acme, commission_rate=20)

    for wrong in ({"commission_type": "flat"}, {"commission_rate": 101}, {"group": "a/b"}, {"group": "x" * 65}):
        with pytest.raises(errors.ValidationError):
            await own(acme, **wrong)
    with pytest.raises(errors.NotFound):
        await own(acme, 7, commission_rate=20)
    assert again.terms.version == 2
    assert await stored(acme, partners.c.partner_group) == [(None,), (None,)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"commission_rate": 41}, "rate_step"),
        ({"commission_type": "flat", "commission_rate": 10_001}, "highest_flat_rate_cents"),
        ({"lead_commission_cents": 10_001}, "highest_lead_commission_cents"),
        ({"group": "vip"}, "rate_step"),
    ],
)
async def test_agents_set_terms_within_the_caps_and_move_no_partner_beyond_them(acme: World, first: Any, second: str):
    await group(acme, commission_rate=45)

    with pytest.raises(errors.OverCap) as rejection:
        await own(acme, **first, by=AGENT)

    assert rejection.value.details["cap"] == second
    assert (await own(acme, commission_rate=30, by=AGENT)).terms.commission_rate == 30
    with pytest.raises(errors.OverCap):
        await own(acme, commission_rate=41, by=AGENT)
    assert (await own(acme, commission_rate=None, by=AGENT)).terms is None
    await acme.do(agent_caps.change, {"frozen_settings": ["commission_rate"]})
    with pytest.raises(errors.OverCap):
        await own(acme, commission_rate=21, by=AGENT)


@pytest.mark.wrong_books
async def test_the_check_finds_a_partner_whose_terms_are_not_those_in_force(acme: World):
    await own(acme, commission_rate=50)
    await acme.store.write(lambda each: each.execute(partners.update().values(terms_version=1)).rowcount)

    found = [(each.stored, each.recomputed) for each in await acme.store.read(books.run)]

    assert found == [(1, 2), (1, 0)]
