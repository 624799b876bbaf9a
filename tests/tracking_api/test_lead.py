"""POST /api/v1/track/lead, in live and in test mode; and what integrators send by accident with any call."""

from datetime import timedelta
from typing import Any

from storage.lists import rejected_calls
from storage.lists.events import EVENTS
from storage.tables import clicks, commissions, customers, leads, refunds, refused_calls, sales, test_events
from tests.tracking_api.conftest import Api
from tests.world import NOW

ALL = (customers, leads, commissions)
RECORDED = {"success", "message"}
TEST = {"test_mode": True}


async def test_a_lead_with_the_key_is_settled_once_and_its_email_stored_hashed_and_masked_only(api: Api):
    lead = {"click_id": await api.acme.visitor(), "customer_key": "user-1", "email": "Jane.Doe@Example.com"}

    first, again = [await api.lead(**lead) for _ in range(2)]

    assert (first.status_code, set(first.json()), first.json()["message"]) == (200, RECORDED, "Lead recorded.")
    assert again.json()["already_recorded"] is True
    (customer,) = await api.rows(customers)
    assert (customer.status, customer.customer_key) == ("lead", "user-1")
    assert (len(customer.email_hash), customer.email_mask) == (64, "j***@example.com")
    assert "doe" not in repr(customer).lower()


async def test_a_browser_lead_is_provisional_and_has_a_hash_of_its_network_until_the_server_settles_it(api: Api):
    api.come_from("203.0.113.7")
    click_id = (await api.click()).json()["click_id"]

    browser = await api.lead(key=None, click_id=click_id, customer_key="user-1")
    status = await api.status()
    settled = await api.lead(click_id=click_id, customer_key="user-1")

    assert (browser.status_code, browser.json()["provisional"]) == (200, True)
    assert (status["provisional_leads"], status["recent_events"]["leads_24h"]) == (1, 0)
    assert set(settled.json()) == RECORDED
    clicked = (await api.rows(clicks))[0].address_hash
    assert clicked is not None
    assert {row.with_key: row.address_hash for row in await api.rows(leads)} == {False: clicked, True: None}


async def test_a_bad_authorization_header_is_401_and_never_browser_mode(api: Api):
    body = {"click_id": await api.acme.visitor()}
    wrong = ["", "Bearer", "Basic dXNlcjpwYXNz", "Bearer aff_wrong", "Token x", "Bearer aff wrong", "Bearer \xff"]

    for header in [*wrong, f"Bearer {api.acme.key.swapcase()}"]:
        answer = await api.post("lead", body, key=None, headers={"Authorization": header.encode("latin-1")})
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_key"), header

    malformed = await api.post("lead", content=b"{", key="aff_wrong", headers={"Content-Type": "application/json"})
    assert malformed.status_code == 401  # a bad key outranks a bad body
    assert await api.count(*ALL) == 0


async def test_a_lead_names_a_customer_of_its_program_and_only_the_server_s_rejected_ones_are_logged(api: Api):
    theirs = await (await api.beside()).acme.visitor()
    rejected: list[tuple[dict[str, Any], str]] = [
        ({"email": "jane@example.com"}, "identifier_required"),
        ({"click_id": "unknown"}, "customer_not_found"),
        ({"customer_key": "unknown"}, "customer_not_found"),
        ({"click_id": theirs, "additional_data": {"program_id": api.acme.program_id}}, "customer_wrong_program"),
    ]

    for fields, expected in rejected:
        for key in ("acme", None):
            answer = await api.lead(key=key, **fields)
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, expected), (fields, key)

    assert [(row.call, row.code, row.click_id, row.customer_key, row.at) for row in await api.rows(refused_calls)] == [
        ("lead", expected, fields.get("click_id"), fields.get("customer_key"), NOW) for fields, expected in rejected
    ]
    assert await api.count(*ALL) == 0


async def test_a_test_lead_belongs_to_its_key_or_to_the_program_that_it_or_its_click_names(api: Api):
    named = {**TEST, "program_id": api.acme.program_id}
    unknown = {**TEST, "program_id": 987_654}
    foreign = {**TEST, "program_id": (await api.beside()).acme.program_id}
    click_id = await api.acme.visitor()

    answers = [
        await api.lead(additional_data={**TEST, "event_name": "signup"}),
        await api.lead(key=None, additional_data=named),
        await api.lead(key=None, click_id=click_id, additional_data=TEST),
        await api.lead(key=None, additional_data=TEST),
    ]
    rejected = [await api.lead(key=key, additional_data=unknown) for key in ("acme", None)]
    rejected += [await api.lead(additional_data=foreign), await api.lead(key="aff_wrong", additional_data=TEST)]

    stored = await api.rows(test_events)
    first = {"eventId": stored[0].id, "programId": api.acme.program_id, "test_mode": True}
    assert answers[0].json()["data"] == first
    assert [answer.json()["data"]["programId"] for answer in answers] == [*[api.acme.program_id] * 3, 0]
    assert [(row.is_test, row.with_key) for row in stored] == [(True, True), (True, False), (True, False)]
    assert [(answer.status_code, answer.json()["error"]["code"]) for answer in rejected] == [
        *[(400, "program_not_found")] * 2,
        (400, "customer_wrong_program"),
        (401, "invalid_key"),
    ]


async def test_a_test_lead_s_details_are_stored_and_it_alone_verifies_the_integration(api: Api):
    async def verified() -> bool:
        return {step["step"]: step["done"] for step in (await api.status())["checklist"]}["test_lead"]

    await api.lead(key=None, additional_data={**TEST, "program_id": api.acme.program_id})
    without_key = await verified()
    extra = {**TEST, "event_name": "signup"}
    await api.lead(click_id="click-1", customer_key="user-1", email="jane@example.com", additional_data=extra)

    stored = (await api.rows(test_events))[1]
    read = (await api.acme.listed(EVENTS)).data[0]
    about = (stored.event_name, stored.customer_key, stored.click_id, stored.email_mask)
    assert about == ("signup", "user-1", "click-1", "j***@example.com")
    assert (read.event_name, read.customer_key, read.click_id, read.email_masked) == about
    assert (read.is_test, without_key, await verified()) == (True, False, True)
    assert await api.count(*ALL) == 0


async def test_an_invalid_email_is_left_out_with_a_warning(api: Api):
    click_id = await api.acme.visitor()
    emails: list[Any] = ["no address", "a@b@c", "e" * 255 + "@example.com", "a\u0001@b.example", 5, [], True]

    for email in emails:
        for key in (None, "acme"):
            answer = await api.lead(key=key, click_id=click_id, email=email)
            assert (answer.status_code, answer.json()["success"]) == (200, True), email
            assert [warning["code"] for warning in answer.json()["warnings"]] == ["email_ignored"], email
    await api.flag(api.at.replace(year=2027))
    flagged = (await api.lead(click_id=click_id, email="no address")).json()["warnings"]

    assert [row.email_hash for row in await api.rows(customers)] == [None]
    assert await api.count(leads) == 2  # the browser's provisional one, and the settled one
    assert [warning["code"] for warning in flagged] == ["email_ignored", "api_key_rotation_required"]


async def test_a_sale_of_a_customer_whom_nobody_has_heard_of_is_organic_and_no_rejected_call(api: Api):
    store, program_id = api.acme.store, api.acme.program_id
    about: dict[str, Any] = {"customer_key": "stranger", "click_id": "stranger"}
    sale, lead = await api.sale(**about), await api.lead(**about)

    causes = await store.read(rejected_calls.by_cause, program_id)
    listed = (await api.acme.listed(rejected_calls.REJECTED_CALLS)).data
    later = await store.read(rejected_calls.count_organic, program_id, NOW + timedelta(days=1))
    explained = await api.acme.explain(transaction_id="inv-1")

    assert {each.json()["error"]["code"] for each in (sale, lead)} == {"customer_not_found"}
    assert ([each.calls for each in causes], [each.call for each in listed]) == ([1], ["lead"])
    status = await api.status()
    assert (status["refused_calls_24h"], status["organic_sales_24h"], later) == (1, 1, 0)
    assert explained.outcome == "customer_not_found"


async def test_an_empty_identifier_counts_as_absent_and_a_number_without_a_fraction_is_an_integer(api: Api):
    program_id = float(api.acme.program_id)
    empty: dict[str, Any] = {"page_title": "", "referrer_url": "", "existing_click_id": ""}
    answer = await api.click(program_id=program_id, **empty, additional_data={"event_name": ""})
    click_id = answer.json()["click_id"]

    neither = await api.lead(click_id="", customer_key="")
    led = await api.lead(click_id=click_id, customer_key="", email="", additional_data={"program_id": program_id})
    sold = await api.sale(click_id=click_id, customer_key="", currency="", occurred_at="", amount_cents=10_000.0)
    back = await api.refund(refund_id="", refund_reason="", refund_amount_cents=4.0)

    assert [each.status_code for each in (answer, led, sold, back)] == [200] * 4
    assert (neither.status_code, neither.json()["error"]["code"]) == (400, "identifier_required")
    assert ("warnings" in led.json(), [row.customer_key for row in await api.rows(customers)]) == (False, [None])
    assert [(row.amount_cents, row.refunded_cents) for row in await api.rows(sales)] == [(10_000, 4)]
    clicked, refunded = (await api.rows(clicks))[0], (await api.rows(refunds))[0]
    assert (clicked.page_title, clicked.referrer_url, refunded.refund_id, refunded.reason) == (None,) * 4
