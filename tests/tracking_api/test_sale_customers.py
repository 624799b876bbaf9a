"""POST /api/v1/track/sale: whose sale it is."""

from typing import Any

import pytest

from storage.tables import commissions, sales
from tests.tracking_api.conftest import Api


@pytest.fixture(autouse=True)
async def user_1(api: Api) -> None:
    await api.acme.customer("user-1")


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


async def test_a_sale_says_whether_the_key_that_it_echoes_is_saved(api: Api):
    click_id = await api.acme.visitor()
    await api.lead(key=None, click_id=click_id)

    unsaved = (await api.sale(customer_key="not-known-yet", click_id=click_id)).json()["data"]
    without = (await api.sale(transaction_id="inv-2", customer_key=None, click_id=click_id)).json()["data"]

    assert (unsaved["customer_key"], unsaved["customer_key_saved"]) == ("not-known-yet", False)
    assert (without["customer_key"], without["customer_key_saved"]) == (None, False)


async def test_a_sale_before_the_click_is_rejected(api: Api):
    answer = await api.sale(occurred_at="2026-05-19T12:00:00Z")

    assert code(answer) == (400, "sale_before_click")
    assert await api.count(sales, commissions) == 0


async def test_the_click_of_one_customer_and_the_key_of_another_conflict(api: Api):
    click_id = await api.acme.visitor("ben")
    await api.acme.lead(click_id, "user-2")

    answer = await api.sale(click_id=click_id)

    assert code(answer) == (400, "identifier_conflict")


@pytest.mark.parametrize("customer_key", ["user-2", "nobody"])
async def test_a_repeated_transaction_id_is_a_duplicate_for_any_customer(api: Api, customer_key: str):
    await api.acme.customer("user-2")
    first = await api.sale()

    answer = await api.sale(customer_key=customer_key)

    assert code(answer) == (409, "duplicate_transaction")
    assert answer.json()["error"]["existing"]["eventId"] == first.json()["data"]["eventId"]
