"""A stranger without the key cannot take a customer from the partner who sent them, nor learn who is a customer."""

from typing import Any

import pytest

from storage.checks import books
from storage.reading import customer_timelines
from storage.rules.settlement import CustomerStatus, LeadAuthPolicy, Settlement
from storage.tables import customers, leads, partner_rollups, sales
from tests.tracking_api.conftest import Api
from tests.world import LANDING_PAGE

BROWSER = {"lead_auth_policy": LeadAuthPolicy.BROWSER_ALLOWED}
OF_BEN = LANDING_PAGE.replace("anna", "ben")


@pytest.fixture(params=list(LeadAuthPolicy))
async def shop(api: Api, request: pytest.FixtureRequest) -> Api:
    """A program of each policy, which pays 5.00 for a lead."""
    return await api.beside(lead_auth_policy=request.param, lead_commission_cents=500)


async def clicked(api: Api, **fields: Any) -> str:
    click_id: str = (await api.click(**fields)).json()["click_id"]
    return click_id


async def claimed(api: Api, customer_key: str = "user-103") -> str:
    """Let Ben, the thief, claim a customer for a click of his own, and return the click."""
    click_id = await clicked(api, affiliate_url=OF_BEN)
    assert (await api.lead(key=None, click_id=click_id, customer_key=customer_key)).status_code == 200
    return click_id


async def agree(api: Api) -> None:
    assert await api.acme.store.read(books.run) == []


async def leads_of(api: Api) -> dict[int, int]:
    """Return the counted leads of each partner."""
    rows = await api.rows(partner_rollups)
    return {row.partner_id: row.leads for row in rows if row.leads}


async def test_a_claim_in_advance_does_not_get_the_sale(shop: Api):
    await claimed(shop)
    victim = await clicked(shop)

    lead = await shop.lead(click_id=victim, customer_key="user-103")
    sale = await shop.sale(customer_key="user-103")

    assert (lead.status_code, set(lead.json())) == (200, {"success", "message"})
    assert sale.status_code == 200
    assert {row.partner_id for row in await shop.rows(sales)} == {shop.acme.anna}
    assert await leads_of(shop) == {shop.acme.anna: 1}
    await agree(shop)


async def test_a_claim_loses_to_a_lead_whose_click_is_a_customer_already(shop: Api):
    await claimed(shop)
    victim = await clicked(shop)
    await shop.lead(key=None, click_id=victim, customer_key="user-103")

    lead = await shop.lead(click_id=victim, customer_key="user-103")

    assert (lead.status_code, lead.json()["message"]) == (200, "Lead recorded.")
    assert await leads_of(shop) == {shop.acme.anna: 1}
    await agree(shop)


async def test_a_claim_after_the_lead_of_the_server_gets_nothing(shop: Api):
    await shop.lead(click_id=await clicked(shop), customer_key="user-103")

    thief = await claimed(shop)
    again = await shop.lead(key=None, click_id=thief, customer_key="user-103")
    await shop.sale(customer_key="user-103", click_id=thief)

    assert again.status_code == 200
    assert {row.partner_id for row in await shop.rows(sales)} == {shop.acme.anna}
    assert await leads_of(shop) == {shop.acme.anna: 1}
    await agree(shop)


async def test_reversed_commissions_stay_reversed(api: Api):
    shop = await api.beside(**BROWSER, lead_commission_cents=500)
    thief = await claimed(shop)
    await shop.lead(click_id=await clicked(shop), customer_key="user-103")

    answers = [await shop.lead(key=None, click_id=thief, customer_key=key) for key in ("user-103", "user-104", None)]

    assert [answer.json().get("already_recorded") for answer in answers] == [True] * 3
    assert await leads_of(shop) == {shop.acme.anna: 1}
    signed_up = await shop.lead(click_id=thief, customer_key="user-200")
    assert signed_up.json()["message"] == "Lead recorded."
    assert await leads_of(shop) == {shop.acme.anna: 1, shop.acme.ben: 1}
    await agree(shop)


async def test_a_lead_with_the_key_but_no_click_leaves_the_claim_open(api: Api):
    shop = await api.beside(**BROWSER)
    await claimed(shop)

    first = await shop.lead(customer_key="user-103")
    await shop.lead(click_id=await clicked(shop), customer_key="user-103")

    assert first.json()["already_recorded"] is True
    assert await leads_of(shop) == {shop.acme.anna: 1}
    await agree(shop)


@pytest.mark.parametrize("claimed_first", [False, True])
async def test_a_lead_with_the_key_is_not_outranked_by_another(api: Api, *, claimed_first: bool):
    shop = await api.beside(**BROWSER)
    click_id = await clicked(shop)
    for key in (None, "acme") if claimed_first else ("acme",):
        await shop.lead(key=key, click_id=click_id, customer_key="user-103")

    again = await shop.lead(click_id=await clicked(shop, affiliate_url=OF_BEN), customer_key="user-103")

    assert again.json()["already_recorded"] is True
    assert await leads_of(shop) == {shop.acme.anna: 1}


async def test_a_customer_who_has_bought_stays(api: Api):
    shop = await api.beside(**BROWSER)
    click_id = await clicked(shop)
    await shop.lead(key=None, click_id=click_id, customer_key="user-103")
    await shop.sale(customer_key="user-103")

    late = await shop.lead(click_id=await clicked(shop, affiliate_url=OF_BEN), customer_key="user-103")

    assert late.json()["error"]["code"] == "status_transition_refused"
    await agree(shop)


async def test_both_timelines_show_what_happened(api: Api):
    shop = await api.beside(**BROWSER)
    thief = await claimed(shop)
    await shop.lead(click_id=await clicked(shop), customer_key="user-103")
    rows = {row.click_id: row for row in await shop.rows(customers)}
    loser = rows.pop(thief)
    [winner] = rows.values()

    trails = [
        (await shop.acme.store.read(customer_timelines.get_timeline, row.program_id, row.id)).steps
        for row in (winner, loser)
    ]

    assert (loser.status, loser.settlement, loser.customer_key) == (
        CustomerStatus.PROVISIONAL,
        Settlement.OUTRANKED,
        None,
    )
    lost = [[step for step in trail if getattr(step, "outranked_by", None) == winner.id] for trail in trails]
    assert [[step.partner_code for step in each] for each in lost] == [["ben"], ["ben"]]


@pytest.fixture
async def known(shop: Api) -> Api:
    """The shop knows who is a lead and who has bought."""
    for customer_key in ("lead", "buyer"):
        await shop.lead(click_id=await clicked(shop), customer_key=customer_key)
    await shop.sale(customer_key="buyer")
    return shop


async def test_a_customer_key_without_a_click_reveals_nothing(known: Api):
    before = await known.rows(leads)
    extra = {"program_id": known.acme.program_id}

    for customer_key in ("unknown", "lead", "buyer"):
        answer = await known.lead(key=None, customer_key=customer_key, additional_data=extra)

        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (400, "customer_not_found")
        assert error["message"] == "Without the program key, a lead needs a click_id of this program."
    assert await known.rows(leads) == before


async def test_an_own_click_does_not_reveal_it_either(known: Api):
    responses = []
    for customer_key in ("fresh", "lead", "buyer"):
        own = await clicked(known, affiliate_url=OF_BEN)
        sent = [await known.lead(key=None, click_id=own, customer_key=customer_key) for _ in range(2)]
        responses.append([answer.json() for answer in sent])

    assert responses == [responses[0]] * 3
