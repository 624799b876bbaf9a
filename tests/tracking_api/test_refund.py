"""POST /api/v1/track/refund."""

from typing import Any

import pytest

from storage.tables import refunds, rollups
from tests.tracking_api.conftest import Api


@pytest.fixture(autouse=True)
async def a_sale(api: Api) -> None:
    await api.acme.customer("user-1")
    await api.sale(amount_cents=10_000)


async def test_a_refund_without_an_amount_takes_all_that_remains(api: Api):
    data = (await api.refund()).json()["data"]

    assert (data["status"], data["refunded_cents"], data["remaining_cents"]) == ("refunded", 10_000, 0)
    assert (data["transaction_id"], data["refund_id"], data["commission_reversed_cents"]) == ("inv-1", None, 2000)
    assert sum(row.commission_cents for row in await api.rows(rollups)) == 0


async def test_a_partial_refund_reverses_its_share(api: Api):
    data = (await api.refund(refund_amount_cents=2_500, refund_id="r-1", refund_reason="late")).json()["data"]

    assert (data["status"], data["refunded_total_cents"], data["remaining_cents"]) == (
        "partially_refunded",
        2_500,
        7_500,
    )
    assert data["commission_reversed_cents"] == 500


async def test_the_same_refund_id_is_replayed(api: Api):
    first = (await api.refund(refund_amount_cents=100, refund_id="r-1")).json()

    again = (await api.refund(refund_amount_cents=100, refund_id="r-1")).json()

    assert again["replayed"] is True
    assert again["data"]["refunded_total_cents"] == first["data"]["refunded_total_cents"] == 100
    assert await api.count(refunds) == 1


async def test_after_a_full_refund_nothing_is_left_to_refund(api: Api):
    await api.refund()

    data = (await api.refund(refund_amount_cents=5)).json()["data"]

    assert (data["status"], data["refunded_cents"], data["commission_reversed_cents"]) == ("already_refunded", 0, 0)
    assert await api.count(refunds) == 1


REJECTED: list[tuple[dict[str, Any], int, str]] = [
    ({"refund_amount_cents": 10_001}, 400, "refund_exceeds_sale"),
    ({"transaction_id": "unknown"}, 404, "transaction_not_found"),
    ({"transaction_id": None}, 400, "validation_error"),
    ({"refund_amount_cents": 0}, 400, "validation_error"),
    ({"additional_data": {"test_mode": True}}, 404, "transaction_not_found"),
    ({"key": None}, 401, "invalid_key"),
    ({"key": "aff_wrong"}, 401, "invalid_key"),
]


async def test_a_rejected_refund_changes_nothing(api: Api):
    for fields, status, code in REJECTED:
        answer = await api.refund(**fields)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), fields
    assert (await (await api.beside()).refund()).status_code == 404

    assert await api.count(refunds) == 0


async def test_test_mode_refunds_a_test_sale_and_not_the_live_one(api: Api):
    test_mode = {"test_mode": True}
    await api.sale(amount_cents=300, additional_data=test_mode)

    data = (await api.refund(refund_amount_cents=100, additional_data=test_mode)).json()["data"]

    assert (data["test_mode"], data["status"], data["remaining_cents"]) == (True, "partially_refunded", 200)
    assert (data["commission_id"], data["commission_reversed_cents"]) == (None, 0)
    assert await api.count(refunds) == 0
