"""POST /api/v1/track/lead."""

from datetime import timedelta
from typing import Any

import pytest

from storage.rules.settlement import LeadAuthPolicy
from storage.tables import clicks, commissions, customers, leads, refused_calls
from tests.tracking_api.conftest import Api
from tests.world import NOW
from web.errors import STATUS

ALL = (customers, leads, commissions)


async def visitor(api: Api, **fields: Any) -> str:
    click_id: str = (await api.click(**fields)).json()["click_id"]
    return click_id


async def test_a_lead_with_the_key_is_settled(api: Api):
    answer = await api.lead(click_id=await visitor(api), customer_key="user-1", email="Jane.Doe@Example.com")

    assert answer.status_code == 200
    assert set(answer.json()) == {"success", "message"}
    customer = (await api.rows(customers))[0]
    assert (customer.status, customer.customer_key) == ("lead", "user-1")


async def test_an_email_is_stored_hashed_and_masked_only(api: Api):
    await api.lead(click_id=await visitor(api), email="Jane.Doe@Example.com")

    customer = (await api.rows(customers))[0]
    assert (len(customer.email_hash), customer.email_mask) == (64, "j***@example.com")
    assert "doe" not in repr(customer).lower()


async def test_the_same_settled_lead_again_changes_nothing(api: Api):
    click_id = await visitor(api)
    await api.lead(click_id=click_id, customer_key="user-1")
    before = [await api.rows(table) for table in ALL]

    again = await api.lead(click_id=click_id, customer_key="user-1")

    assert again.json()["already_recorded"] is True
    assert [await api.rows(table) for table in ALL] == before


async def test_a_browser_lead_is_provisional_and_counts_nowhere(api: Api):
    answer = await api.lead(key=None, click_id=await visitor(api), customer_key="user-1")

    assert (answer.status_code, answer.json()["provisional"]) == (200, True)
    status = await api.status()
    assert (status["provisional_leads"], status["recent_events"]["leads_24h"]) == (1, 0)
    assert (await api.rows(customers))[0].customer_key is None


async def test_a_provisional_lead_repeated_stays_one(api: Api):
    click_id = await visitor(api)

    answers = [await api.lead(key=None, click_id=click_id) for _ in range(3)]

    assert [answer.json()["provisional"] for answer in answers] == [True] * 3
    assert await api.count(leads) == 1


async def test_the_server_settles_a_provisional_lead(api: Api):
    click_id = await visitor(api)
    await api.lead(key=None, click_id=click_id)

    settled = await api.lead(click_id=click_id, customer_key="user-1")

    assert set(settled.json()) == {"success", "message"}
    assert (await api.rows(customers))[0].status == "lead"


async def test_a_browser_settles_where_the_policy_lets_it(api: Api):
    trusting = await api.beside(lead_auth_policy=LeadAuthPolicy.BROWSER_ALLOWED)

    answer = await trusting.lead(key=None, click_id=await visitor(trusting), customer_key="user-1")

    assert set(answer.json()) == {"success", "message"}
    assert (await api.rows(customers))[0].customer_key == "user-1"


async def test_only_settled_leads_earn_a_lead_commission(api: Api):
    paying = await api.beside(lead_commission_cents=500)
    click_id = await visitor(paying)

    await paying.lead(key=None, click_id=click_id)
    while_provisional = await api.count(commissions)
    await paying.lead(click_id=click_id)

    assert while_provisional == 0
    assert [row.amount_cents for row in await api.rows(commissions)] == [500]


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "Bearer aff_wrong", "Token x", "Bearer aff wrong", "Bearer \xff"],
)
async def test_a_bad_authorization_header_is_401_and_never_browser_mode(api: Api, header: str):
    body = {"click_id": await visitor(api)}

    answer = await api.post("lead", body, key=None, headers={"Authorization": header.encode("latin-1")})

    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_key")
    assert await api.count(*ALL) == 0


async def test_a_bad_key_outranks_a_bad_body(api: Api):
    answer = await api.post("lead", content=b"{", key="aff_wrong", headers={"Content-Type": "application/json"})

    assert answer.status_code == 401


@pytest.mark.parametrize("scheme", ["bearer", "BEARER", "BeArEr"])
async def test_the_scheme_bearer_is_read_in_any_case(api: Api, scheme: str):
    headers = {"Authorization": f"{scheme} {api.acme.key}"}

    answer = await api.post("lead", {"click_id": await visitor(api)}, key=None, headers=headers)

    assert answer.json()["message"] == "Lead recorded."


async def test_a_key_is_matched_exactly(api: Api):
    answer = await api.lead(key=api.acme.key.swapcase(), click_id=await visitor(api))

    assert answer.status_code == 401


@pytest.mark.parametrize("key", ["acme", None])
async def test_a_lead_names_its_customer(api: Api, key: str | None):
    answer = await api.lead(key=key, email="jane@example.com")

    assert answer.json()["error"]["code"] == "identifier_required"


@pytest.mark.parametrize("fields", [{"click_id": "unknown"}, {"customer_key": "unknown"}])
@pytest.mark.parametrize("key", ["acme", None])
async def test_an_unknown_customer_is_rejected(api: Api, key: str | None, fields: dict[str, str]):
    answer = await api.lead(key=key, **fields)

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "customer_not_found")


async def test_a_customer_of_another_program_is_rejected(api: Api):
    globex = await api.beside()

    answer = await api.lead(click_id=await visitor(globex))

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "customer_wrong_program")


async def test_a_converted_customer_cannot_become_a_lead(api: Api):
    click_id = await visitor(api)
    await api.lead(click_id=click_id, customer_key="user-1")
    await api.sale()

    answer = await api.lead(click_id=click_id, customer_key="user-1")

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "status_transition_refused")


async def test_a_sale_to_a_provisional_customer_shuts_the_lead(api: Api):
    click_id = await visitor(api)
    await api.lead(key=None, click_id=click_id)
    await api.sale(customer_key=None, click_id=click_id)

    answer = await api.lead(click_id=click_id, customer_key="user-1")

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "status_transition_refused")


async def test_identifiers_of_two_customers_conflict(api: Api):
    await api.lead(click_id=await visitor(api), customer_key="user-1")
    second = await visitor(api)
    await api.lead(click_id=second, customer_key="user-2")

    answers = [
        await api.lead(click_id=second, customer_key="user-1"),
        await api.lead(click_id=second, customer_key="user-3"),
    ]

    assert [answer.json()["error"]["code"] for answer in answers] == ["identifier_conflict"] * 2


async def test_a_click_older_than_the_attribution_window_is_rejected(api: Api):
    in_time, too_late = await visitor(api), await visitor(api)

    api.at = NOW + timedelta(days=60)
    accepted = await api.lead(click_id=in_time)
    api.at = NOW + timedelta(days=60, seconds=1)
    rejected = await api.lead(click_id=too_late)

    assert accepted.status_code == 200
    assert (rejected.status_code, rejected.json()["error"]["code"]) == (400, "attribution_window_expired")


async def test_a_rejected_lead_stores_nothing_but_its_line_in_the_refused_call_log(api: Api):
    await api.lead(customer_key="unknown", click_id="unknown-click")

    logged = (await api.rows(refused_calls))[0]
    assert (logged.call, logged.code, STATUS[logged.code]) == ("lead", "customer_not_found", 400)
    assert (logged.customer_key, logged.click_id, logged.at) == ("unknown", "unknown-click", NOW)
    assert await api.count(*ALL) == 0


async def test_a_rejected_browser_lead_is_not_logged(api: Api):
    await api.lead(key=None, customer_key="unknown")

    assert await api.count(refused_calls) == 0


async def test_a_browser_s_lead_stores_a_hash_of_its_network_and_a_server_s_does_not(api: Api):
    api.come_from("203.0.113.7")
    first, second = [(await api.click()).json()["click_id"] for _ in range(2)]
    await api.lead(key=None, click_id=first)
    await api.lead(click_id=second, customer_key="user-2")

    by_key = {row.with_key: row.address_hash for row in await api.rows(leads)}
    clicked = {row.address_hash for row in await api.rows(clicks)}
    assert {by_key[False]} == clicked
    assert by_key[True] is None
