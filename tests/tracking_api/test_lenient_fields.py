"""What integrators send by accident: empty strings, an e-mail that is none, a number with a needless fraction."""

import itertools

import pytest

from storage.tables import clicks, customers, leads, refunds, sales
from tests.tracking_api.conftest import Api


@pytest.fixture
async def click_id(api: Api) -> str:
    return await api.acme.visitor()


async def test_an_empty_identifier_beside_a_good_one_counts_as_absent(api: Api, click_id: str):
    led = await api.lead(click_id=click_id, customer_key="", email="")
    sold = await api.sale(click_id=click_id, customer_key="", currency="", occurred_at="")
    back = await api.refund(refund_id="", refund_reason="")

    assert [led.status_code, sold.status_code, back.status_code] == [200, 200, 200]
    assert "warnings" not in led.json()
    assert [row.customer_key for row in await api.rows(customers)] == [None]
    assert [(row.refund_id, row.reason) for row in await api.rows(refunds)] == [(None, None)]


async def test_an_empty_click_id_beside_a_key_counts_as_absent(api: Api):
    await api.acme.customer("user-1")

    neither = await api.lead(click_id="", customer_key="")

    assert (await api.lead(click_id="", customer_key="user-1")).json()["already_recorded"] is True
    assert (await api.sale(click_id="")).status_code == 200
    assert (neither.status_code, neither.json()["error"]["code"]) == (400, "identifier_required")


async def test_empty_texts_of_a_click_count_as_absent(api: Api):
    answer = await api.click(page_title="", referrer_url="", existing_click_id="", additional_data={"event_name": ""})

    assert answer.status_code == 200
    assert [(row.page_title, row.referrer_url) for row in await api.rows(clicks)] == [(None, None)]


async def test_an_invalid_email_is_left_out_with_a_warning(api: Api, click_id: str):
    emails = ["no address", "a@b@c", "e" * 255 + "@example.com", "a\u0000@b.example", 5, [], True]

    for key, email in itertools.product((None, "acme"), emails):
        answer = await api.lead(key=key, click_id=click_id, email=email)
        assert (answer.status_code, answer.json()["success"]) == (200, True), email
        assert [warning["code"] for warning in answer.json()["warnings"]] == ["email_ignored"], email

    assert [row.email_hash for row in await api.rows(customers)] == [None]
    assert await api.count(leads) == 2  # the browser's provisional one, and the settled one


async def test_a_number_without_a_fraction_is_an_integer(api: Api):
    await api.acme.customer("user-1")

    clicked = await api.click(program_id=float(api.acme.program_id))
    named = {"program_id": float(api.acme.program_id)}
    led = await api.lead(customer_key="user-1", additional_data=named)
    sold = await api.sale(amount_cents=10_000.0)
    back = await api.refund(refund_amount_cents=4.0)

    assert [each.status_code for each in (clicked, led, sold, back)] == [200, 200, 200, 200]
    assert [(row.amount_cents, row.refunded_cents) for row in await api.rows(sales)] == [(10_000, 4)]


async def test_a_flagged_key_and_a_wrong_email_are_two_warnings(api: Api, click_id: str):
    await api.flag(api.at.replace(year=2027))

    answer = await api.lead(click_id=click_id, email="no address")

    codes = [warning["code"] for warning in answer.json()["warnings"]]
    assert codes == ["email_ignored", "api_key_rotation_required"]
