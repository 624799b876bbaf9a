"""Idempotency-Key on the tracking calls: done once, answered alike."""

from typing import Any

import httpx
import pytest

from storage.tables import refunds, sales, test_events
from tests.tracking_api.conftest import Api

REFUND = {"transaction_id": "inv-1", "refund_amount_cents": 2_500}


@pytest.fixture(autouse=True)
async def user_1(api: Api) -> None:
    await api.acme.customer("user-1")
    await api.sale()


async def send(api: Api, call: str, body: Any, name: str = "once-1", **options: Any) -> httpx.Response:
    return await api.post(call, body, headers={"Idempotency-Key": name}, **options)


async def test_a_refund_without_a_refund_id_repeated_with_the_same_key_is_one_refund(api: Api):
    first = await send(api, "refund", REFUND)
    again = await send(api, "refund", dict(reversed(REFUND.items())))

    assert (again.status_code, again.json()) == (200, first.json())
    assert (first.headers.get("idempotency-replayed"), again.headers["idempotency-replayed"]) == (None, "true")
    assert [row.amount_cents for row in await api.rows(refunds)] == [2_500]


async def test_another_body_or_another_call_is_rejected(api: Api):
    await send(api, "refund", REFUND)

    body = await send(api, "refund", {**REFUND, "refund_amount_cents": 1})
    call = await send(api, "sale", {"transaction_id": "inv-2", "customer_key": "user-1", "amount_cents": 1})

    for answer in (body, call):
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "idempotency_key_reused")
    assert (await api.count(refunds), await api.count(sales)) == (1, 1)


async def test_a_repeated_sale_and_lead_get_the_first_response(api: Api):
    sale = {"transaction_id": "inv-2", "customer_key": "user-1", "amount_cents": 500}
    lead = {"click_id": await api.acme.visitor(), "customer_key": "user-2"}

    sold = [await send(api, "sale", sale) for _ in range(2)]
    led = [await send(api, "lead", lead, "once-2") for _ in range(2)]

    assert [answer.status_code for answer in (*sold, *led)] == [200] * 4
    assert sold[0].json() == sold[1].json()
    assert led[0].json() == led[1].json()
    assert await api.count(sales) == 2


async def test_a_rejected_call_leaves_its_key_free(api: Api):
    early = {"transaction_id": "inv-9", "customer_key": "user-9", "amount_cents": 500}
    rejected = await send(api, "sale", early)
    await api.acme.customer("user-9")

    assert rejected.json()["error"]["code"] == "customer_not_found"
    assert (await send(api, "sale", early)).status_code == 200


async def test_a_repeated_test_call_gets_the_same_response(api: Api):
    answers = [await send(api, "sale", {"additional_data": {"test_mode": True}}) for _ in range(2)]

    assert answers[0].json() == answers[1].json()
    assert await api.count(test_events) == 1


async def test_two_programs_do_not_share_keys(api: Api):
    globex = await api.beside()
    await globex.acme.customer("user-1")
    await globex.sale()

    answers = [await send(each, "refund", REFUND) for each in (api, globex)]

    assert [answer.headers.get("idempotency-replayed") for answer in answers] == [None, None]
    assert await api.count(refunds) == 2


async def test_a_browser_has_no_key_to_repeat(api: Api):
    lead = {"click_id": await api.acme.visitor()}

    answers = [await send(api, "lead", lead, key=None) for _ in range(2)]

    assert [answer.json()["provisional"] for answer in answers] == [True, True]
    assert "idempotency-replayed" not in answers[1].headers


async def test_a_malformed_key_is_rejected(api: Api):
    for name in ("", "k" * 256):
        answer = await send(api, "refund", REFUND, name)

        assert (answer.status_code, answer.json()["error"]["fields"][0]["field"]) == (400, "Idempotency-Key")
