"""Coupons: they credit a customer whom no click brought, and against a click as the program says; the books add up."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from storage.lists.coupons import COUPONS
from storage.lists.customers import CUSTOMERS
from storage.management import coupons, partners, special_terms
from storage.rules import errors
from storage.tables import clicks, customers, sales
from tests.world import NOW, World, stored

LATER = NOW + timedelta(days=1)


async def coupon(acme: World, code: str = "Spring20", partner_id: int | None = None) -> Any:
    return await acme.do(coupons.create, partner_id=partner_id or acme.ben, code=code)


async def partner_step(acme: World, transaction_id: str) -> str:
    seen = await acme.explain(transaction_id=transaction_id)
    return next(each.text for each in seen.steps if each.step == "partner")


@pytest.mark.both_databases
async def test_a_coupon_credits_a_customer_without_a_click_and_finds_them_again(acme: World):
    await coupon(acme)
    await acme.do(special_terms.set_for_partner, acme.ben, {"commission_rate": 50})

    used: Any = {"coupon_code": "SPRING20!", "details": '{"coupon_code": "SPRING20"}'}
    first = await acme.sale("inv-1", customer_key="jane", **used)
    again = await acme.sale("inv-2", customer_key="jane", at=LATER)
    guest = await acme.sale("inv-3", customer_key=None, coupon_code="spring20")
    led = await acme.lead(None, "john", coupon_code="spring20")

    assert [each.commission_cents for each in (first, again, guest)] == [5_000, 5_000, 5_000]
    assert (first.coupon_unknown, led.recorded, led.coupon_unknown) == (False, True, False)
    people = (await acme.listed(CUSTOMERS)).data
    assert [each.known_as for each in people if each.known_as] == ["jane"]
    assert {each.partner_id for each in people} == {acme.ben}
    assert [each.status for each in people if each.customer_key == "john"] == ["lead"]
    assert await stored(acme, clicks.c.filtered) == [("coupon",)] * 3
    assert "credited by the coupon" in await partner_step(acme, "inv-1")


@pytest.mark.both_databases
@pytest.mark.parametrize("winner", ["click", "coupon"])
async def test_against_a_click_the_program_decides_until_the_first_sale(acme: World, winner: str):
    await coupon(acme)
    await acme.change(coupon_wins=winner)
    await acme.customer("jane", "anna")
    visit = await acme.visitor("anna")
    used: Any = {"coupon_code": "spring20", "details": '{"coupon_code": "spring20"}'}

    await acme.sale("inv-1", customer_key="jane", **used)
    await acme.sale("inv-2", click_id=visit, customer_key="john", **used)
    await acme.customer("kim", "anna")
    await acme.sale("inv-3", customer_key="kim")
    await acme.sale("inv-4", customer_key="kim", **used)

    won = acme.ben if winner == "coupon" else acme.anna
    credited = dict(await stored(acme, sales.c.transaction_id, sales.c.partner_id))
    assert credited == {"inv-1": won, "inv-2": won, "inv-3": acme.anna, "inv-4": acme.anna}
    texts = [await partner_step(acme, name) for name in ("inv-1", "inv-4")]
    assert ["by the coupon" in each for each in texts] == [winner == "coupon", False]
    assert "another partner's" in texts[1]


async def test_a_coupon_counts_where_the_click_is_too_old_or_its_partner_has_left(acme: World):
    await coupon(acme)
    await acme.customer("jane", "anna", at=NOW - timedelta(days=70))
    old, left = await acme.visitor("anna", at=NOW - timedelta(days=70)), await acme.visitor("anna")
    await acme.do(partners.change, acme.anna, {"status": "inactive"})

    named: list[Any] = [{"customer_key": "jane"}, {"click_id": old}, {"click_id": left}]
    for n, who in enumerate(named):
        await acme.sale(f"inv-{n}", **who, coupon_code="spring20")
    await acme.lead(await acme.visitor("ben"), "john", coupon_code="nonsense")

    assert {partner_id for (partner_id,) in await stored(acme, sales.c.partner_id)} == {acme.ben}


async def test_an_unknown_coupon_is_said_where_something_else_credits_and_rejected_where_nothing_does(acme: World):
    ended = await coupon(acme)
    await acme.customer("jane", "anna")
    at = NOW + timedelta(hours=1)
    await acme.do(coupons.end, ended.id, at=at)

    assert (await acme.sale("inv-1", customer_key="jane", coupon_code="nonsense")).coupon_unknown
    assert not (await acme.sale("inv-2", customer_key="early", coupon_code="spring20", at=NOW)).coupon_unknown
    for code in ("nonsense", "spring20"):
        with pytest.raises(errors.CustomerNotFound):
            await acme.sale("inv-3", customer_key="late", coupon_code=code, at=at)
    other = await coupon(acme, "other", acme.anna)
    await acme.do(partners.change, acme.anna, {"status": "paused"})
    with pytest.raises(errors.CustomerNotFound):
        await acme.sale("inv-3", customer_key="late", coupon_code="other")
    assert [each.id for each in (await acme.listed(COUPONS, active=True)).data] == [other.id]


@pytest.mark.both_databases
async def test_sales_at_once_with_one_new_customer_make_them_once(acme: World):
    await coupon(acme)

    await asyncio.gather(*(acme.sale(f"inv-{n}", customer_key="jane", coupon_code="spring20") for n in range(8)))

    assert len(await stored(acme, customers.c.id)) == len(await stored(acme, clicks.c.click_id)) == 1


async def test_a_code_is_one_partners_for_good_in_any_spelling(acme: World):
    first = await coupon(acme)
    await acme.do(coupons.end, first.id)
    again = await acme.do(coupons.end, first.id, at=LATER)

    with pytest.raises(errors.ValidationError):
        await coupon(acme, "SPRING20.", acme.anna)
    with pytest.raises(errors.PartnerNotFound):
        await coupon(acme, "other", 7)
    assert again.ended_at == NOW
