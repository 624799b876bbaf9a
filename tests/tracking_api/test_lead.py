"""POST /api/v1/track/lead, in live and in test mode."""

from typing import Any

import pytest

from storage.reading import events
from storage.tables import clicks, commissions, customers, leads, refused_calls, test_events
from tests.tracking_api.conftest import Api
from tests.world import NOW
from web.errors import STATUS

ALL = (customers, leads, commissions)
RECORDED = {"success", "message"}
TEST = {"test_mode": True}


async def visitor(api: Api, **fields: Any) -> str:
    click_id: str = (await api.click(**fields)).json()["click_id"]
    return click_id


async def test_a_lead_with_the_key_is_settled_once(api: Api):
    click_id = await visitor(api)

    first, again = [await api.lead(click_id=click_id, customer_key="user-1") for _ in range(2)]

    assert (first.status_code, set(first.json()), first.json()["message"]) == (200, RECORDED, "Lead recorded.")
    assert again.json()["already_recorded"] is True
    assert [(row.status, row.customer_key) for row in await api.rows(customers)] == [("lead", "user-1")]


async def test_an_email_is_stored_hashed_and_masked_only(api: Api):
    await api.lead(click_id=await visitor(api), email="Jane.Doe@Example.com")

    customer = (await api.rows(customers))[0]
    assert (len(customer.email_hash), customer.email_mask) == (64, "j***@example.com")
    assert "doe" not in repr(customer).lower()


async def test_a_browser_lead_is_provisional_until_the_server_settles_it(api: Api):
    click_id = await visitor(api)

    browser = await api.lead(key=None, click_id=click_id, customer_key="user-1")
    status = await api.status()
    settled = await api.lead(click_id=click_id, customer_key="user-1")

    assert (browser.status_code, browser.json()["provisional"]) == (200, True)
    assert (status["provisional_leads"], status["recent_events"]["leads_24h"]) == (1, 0)
    assert set(settled.json()) == RECORDED


async def test_a_bad_authorization_header_is_401_and_never_browser_mode(api: Api):
    body = {"click_id": await visitor(api)}
    wrong = ["", "Bearer", "Basic dXNlcjpwYXNz", "Bearer aff_wrong", "Token x", "Bearer aff wrong", "Bearer \xff"]

    for header in [*wrong, f"Bearer {api.acme.key.swapcase()}"]:
        answer = await api.post("lead", body, key=None, headers={"Authorization": header.encode("latin-1")})
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_key"), header

    assert await api.count(*ALL) == 0


async def test_a_bad_key_outranks_a_bad_body(api: Api):
    answer = await api.post("lead", content=b"{", key="aff_wrong", headers={"Content-Type": "application/json"})

    assert answer.status_code == 401


async def test_the_scheme_bearer_is_read_in_any_case(api: Api):
    headers = {"Authorization": f"BeArEr {api.acme.key}"}

    answer = await api.post("lead", {"click_id": await visitor(api)}, key=None, headers=headers)

    assert answer.json()["message"] == "Lead recorded."


@pytest.mark.parametrize("key", ["acme", None])
async def test_a_lead_names_a_customer_of_its_program(api: Api, key: str | None):
    theirs = await visitor(await api.beside())

    for fields, expected in (
        ({"email": "jane@example.com"}, "identifier_required"),
        ({"click_id": "unknown"}, "customer_not_found"),
        ({"customer_key": "unknown"}, "customer_not_found"),
        ({"click_id": theirs, "additional_data": {"program_id": api.acme.program_id}}, "customer_wrong_program"),
    ):
        answer = await api.lead(key=key, **fields)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, expected), fields


async def test_a_rejected_lead_stores_nothing_but_its_line_in_the_refused_call_log_and_a_browser_s_not_even_that(
    api: Api,
):
    await api.lead(customer_key="unknown", click_id="unknown-click")
    await api.lead(key=None, customer_key="unknown")

    (logged,) = await api.rows(refused_calls)
    assert (logged.call, logged.code, STATUS[logged.code]) == ("lead", "customer_not_found", 400)
    assert (logged.customer_key, logged.click_id, logged.at) == ("unknown", "unknown-click", NOW)
    assert await api.count(*ALL) == 0


async def test_a_browser_s_lead_stores_a_hash_of_its_network_and_a_server_s_does_not(api: Api):
    api.come_from("203.0.113.7")
    first, second = [(await api.click()).json()["click_id"] for _ in range(2)]
    await api.lead(key=None, click_id=first)
    await api.lead(click_id=second, customer_key="user-2")

    by_key = {row.with_key: row.address_hash for row in await api.rows(leads)}
    clicked = {row.address_hash for row in await api.rows(clicks)}
    assert {by_key[False]} == clicked
    assert by_key[True] is None


async def test_a_test_lead_belongs_to_its_key_or_to_the_program_that_it_or_its_click_names(api: Api):
    named = {**TEST, "program_id": api.acme.program_id}
    click_id = await visitor(api)

    answers = [
        await api.lead(additional_data={**TEST, "event_name": "signup"}),
        await api.lead(key=None, additional_data=named),
        await api.lead(key=None, click_id=click_id, additional_data=TEST),
        await api.lead(key=None, additional_data=TEST),
    ]

    stored = await api.rows(test_events)
    first = {"eventId": stored[0].id, "programId": api.acme.program_id, "test_mode": True}
    assert answers[0].json()["data"] == first
    assert [answer.json()["data"]["programId"] for answer in answers] == [*[api.acme.program_id] * 3, 0]
    assert [(row.is_test, row.with_key) for row in stored] == [(True, True), (True, False), (True, False)]


async def test_the_details_of_a_test_lead_are_stored_and_shown_and_touch_no_attribution(api: Api):
    extra = {**TEST, "event_name": "signup"}
    await api.lead(click_id="click-1", customer_key="user-1", email="jane@example.com", additional_data=extra)

    stored = (await api.rows(test_events))[0]
    read = (await api.acme.store.read(events.list_events, api.acme.program_id)).data[0]
    about = (stored.event_name, stored.customer_key, stored.click_id, stored.email_mask)
    assert about == ("signup", "user-1", "click-1", "j***@example.com")
    assert (read.event_name, read.customer_key, read.click_id, read.email_masked) == about
    assert read.is_test is True
    assert await api.count(*ALL) == 0


async def test_a_test_lead_for_an_unknown_or_another_program_or_with_a_bad_key_is_rejected(api: Api):
    unknown = {**TEST, "program_id": 987_654}
    foreign = {**TEST, "program_id": (await api.beside()).acme.program_id}

    answers = [
        await api.lead(additional_data=unknown),
        await api.lead(key=None, additional_data=unknown),
        await api.lead(additional_data=foreign),
        await api.lead(key="aff_wrong", additional_data=TEST),
    ]

    assert [(answer.status_code, answer.json()["error"]["code"]) for answer in answers] == [
        *[(400, "program_not_found")] * 2,
        (400, "customer_wrong_program"),
        (401, "invalid_key"),
    ]
    assert await api.count(test_events) == 0


async def test_only_a_test_lead_with_the_key_verifies_the_integration(api: Api):
    named = {**TEST, "program_id": api.acme.program_id}

    async def verified() -> bool:
        return {step["step"]: step["done"] for step in (await api.status())["checklist"]}["test_lead"]

    await api.lead(key=None, additional_data=named)
    without_key = await verified()
    await api.lead(additional_data=named)

    assert (without_key, await verified()) == (False, True)
