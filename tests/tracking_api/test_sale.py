"""POST /api/v1/track/sale."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from storage.rules.attribution import PartnerStatus
from storage.tables import commissions, customers, partners, refused_calls, sales, test_events, tracking_log
from tests.tracking_api.conftest import Api
from tests.world import NOW


@pytest.fixture(autouse=True)
async def user_1(api: Api) -> None:
    await api.acme.customer("user-1")


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


async def test_a_sale_earns_its_commission(api: Api):
    answer = await api.sale(amount_cents=12_345)

    stored, earned = (await api.rows(sales))[0], (await api.rows(commissions))[0]
    assert answer.json()["success"] is True
    assert answer.json()["data"] == {
        "eventId": stored.id,
        "programId": api.acme.program_id,
        "transaction_id": "inv-1",
        "customer_key": "user-1",
        "commission_id": earned.id,
        "commission_cents": 2469,
        "currency": "USD",
        "customer_key_saved": True,
        "test_mode": False,
    }


async def test_the_first_sale_makes_the_customer_a_conversion_once(api: Api):
    await api.sale()
    first = (await api.rows(customers))[0]

    api.at = NOW + timedelta(days=3)
    await api.sale(transaction_id="inv-2")

    assert (first.status, first.first_purchase_at) == ("conversion", NOW)
    assert (await api.rows(customers))[0].first_purchase_at == NOW


async def test_a_sale_reaches_a_provisional_customer_by_their_click_and_leaves_them_provisional(api: Api):
    click_id = await api.acme.visitor()
    await api.lead(key=None, click_id=click_id)

    answer = await api.sale(customer_key="not-known-yet", click_id=click_id)

    assert answer.status_code == 200
    assert [row.settlement for row in await api.rows(customers)] == ["settled", "provisional"]


async def test_all_fields_of_a_sale_are_accepted(api: Api):
    await api.acme.customer("user-2", at=NOW - timedelta(days=2))

    answer = await api.sale(
        customer_key="user-2",
        currency="usd",
        sale_type="subscription",
        is_recurring=True,
        subscription_id="sub-1",
        subscription_interval="annual",
        product_id="plan-1",
        line_items=[{"sku": "a", "quantity": 1}],
        occurred_at="2026-05-19T12:00:00Z",
        unknown_field="ignored",
    )

    assert answer.status_code == 200
    assert (await api.rows(sales))[0].occurred_at == NOW - timedelta(days=1)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"transaction_id": None}, "transaction_id"),
        ({"transaction_id": ""}, "transaction_id"),
        ({"transaction_id": "t" * 256}, "transaction_id"),
        ({"transaction_id": 5}, "transaction_id"),
        ({"customer_key": None}, "customer_key"),
        ({"customer_key": ""}, "customer_key"),
        ({"customer_key": "user\x001"}, "customer_key"),
        ({"amount_cents": None}, "amount_cents"),
        ({"amount_cents": 0}, "amount_cents"),
        ({"amount_cents": -1}, "amount_cents"),
        ({"amount_cents": "1"}, "amount_cents"),
        ({"amount_cents": True}, "amount_cents"),
        ({"amount_cents": 1.5}, "amount_cents"),
        ({"amount_cents": 10**30}, "amount_cents"),
        ({"currency": "US"}, "currency"),
        ({"currency": "U\nD"}, "currency"),
        ({"sale_type": "gift"}, "sale_type"),
        ({"is_recurring": 1}, "is_recurring"),
        ({"subscription_interval": "weekly"}, "subscription_interval"),
        ({"line_items": ["x" * 16_385]}, "line_items"),
        ({"line_items": ["a\u0000b"]}, "line_items"),
        ({"occurred_at": "yesterday"}, "occurred_at"),
        ({"occurred_at": "2026-05-19T12:00:00"}, "occurred_at"),
        ({"occurred_at": "2026-05-21T12:00:00Z"}, "occurred_at"),
        ({"occurred_at": "2025-05-18T12:00:00Z"}, "occurred_at"),
        ({"occurred_at": "0001-01-01T00:00:00+14:00"}, "occurred_at"),
        ({"additional_data": []}, "additional_data"),
        ({"additional_data": {"test_mode": "true"}}, "additional_data.test_mode"),
        ({"additional_data": {"test_mode": 1}}, "additional_data.test_mode"),
    ],
)
async def test_a_wrong_field_is_named_and_nothing_stored(api: Api, fields: dict[str, Any], field: str):
    answer = await api.sale(**fields)

    assert code(answer) == (400, "validation_error")
    assert field in [wrong["field"] for wrong in answer.json()["error"]["fields"]]
    assert await api.count(sales, commissions, test_events) == 0


async def test_every_wrong_field_is_named_at_once(api: Api):
    answer = await api.post("sale", {})

    named = {wrong["field"] for wrong in answer.json()["error"]["fields"]}
    assert named == {"transaction_id", "customer_key", "amount_cents"}


async def test_an_unknown_customer_is_rejected_and_logged(api: Api):
    answer = await api.sale(customer_key="nobody")

    logged = (await api.rows(refused_calls))[0]
    assert code(answer) == (400, "customer_not_found")
    assert (logged.call, logged.code, logged.transaction_id) == ("sale", "customer_not_found", "inv-1")
    assert (logged.customer_key, logged.request_id) == ("nobody", answer.headers["x-request-id"])


async def test_a_rejected_call_is_logged_with_its_amount_and_whether_it_was_a_repeat(api: Api):
    await api.acme.customer()
    changes: list[dict[str, Any]] = [{}, {}, {"amount_cents": 9_999, "currency": "EUR"}, {"customer_key": None}]
    for changed in changes:
        await api.sale(**changed)
    await api.post("refund", {"transaction_id": "inv-1", "refund_amount_cents": 20_000})
    await api.sale(customer_key="nobody", additional_data={"test_mode": True, "program_id": 404})

    logged = [(row.code, row.amount_cents, row.currency, row.same_payload) for row in await api.rows(refused_calls)]

    assert logged == [
        ("duplicate_transaction", 10_000, "USD", True),
        ("duplicate_transaction", 9_999, "EUR", False),
        ("validation_error", 10_000, "USD", None),
        ("refund_exceeds_sale", 20_000, None, None),
        ("program_not_found", None, None, None),
    ]


async def test_a_customer_of_another_program_is_not_found_by_key_and_wrong_by_click(api: Api):
    globex = await api.beside()
    theirs = await globex.acme.visitor()
    await globex.acme.lead(theirs, "user-9")

    by_key, by_click = await api.sale(customer_key="user-9"), await api.sale(customer_key=None, click_id=theirs)

    assert code(by_key) == (400, "customer_not_found")
    assert code(by_click) == (400, "customer_wrong_program")


async def test_a_customer_whose_partner_has_left_is_not_attributed(api: Api):
    left = update(partners).where(partners.c.id == api.acme.anna).values(status=PartnerStatus.INACTIVE)
    await api.acme.store.write(lambda connection: connection.execute(left))

    assert code(await api.sale()) == (400, "customer_not_attributed")


async def test_a_first_sale_after_the_attribution_window_is_rejected(api: Api):
    api.at = NOW + timedelta(days=60, seconds=1)

    assert code(await api.sale()) == (400, "attribution_window_expired")


async def test_a_currency_without_a_rate_is_rejected(api: Api):
    assert code(await api.sale(currency="CHF")) == (400, "currency_not_supported")


async def test_a_transaction_id_counts_once(api: Api):
    first = (await api.sale()).json()["data"]

    same, other = await api.sale(), await api.sale(amount_cents=1)

    assert code(same) == code(other) == (409, "duplicate_transaction")
    existing = {"eventId": first["eventId"], "recorded_at": "2026-05-20T12:00:00Z"}
    assert same.json()["error"]["existing"] == other.json()["error"]["existing"] == existing
    assert (same.json()["error"]["same_payload"], other.json()["error"]["same_payload"]) == (True, False)
    assert await api.count(sales, commissions) == 2


async def test_two_programs_may_use_one_transaction_id(api: Api):
    globex = await api.beside()
    await globex.acme.customer("user-1")

    answers = [await api.sale(), await globex.sale()]

    assert [answer.status_code for answer in answers] == [200, 200]


async def test_a_rejected_sale_uses_up_no_transaction_id(api: Api):
    await api.sale(customer_key="nobody")

    assert (await api.sale()).status_code == 200


@pytest.mark.parametrize("key", [None, "aff_wrong", ""])
async def test_a_sale_needs_the_program_key(api: Api, key: str | None):
    assert code(await api.sale(key=key)) == (401, "invalid_key")
    assert await api.count(sales) == 0


async def test_test_mode_needs_no_other_field(api: Api):
    answer = await api.post("sale", {"additional_data": {"test_mode": True}})

    stored, logged = (await api.rows(test_events))[0], (await api.rows(tracking_log))[0]
    assert answer.json()["data"] == {"eventId": stored.id, "programId": api.acme.program_id, "test_mode": True}
    assert (stored.kind, stored.is_test, logged.event_id) == ("sale", True, stored.id)
    assert await api.count(sales, commissions) == 0


async def test_a_test_sale_advances_the_checklist(api: Api):
    await api.sale(additional_data={"test_mode": True})

    steps = {step["step"]: step for step in (await api.status())["checklist"]}
    assert (steps["test_sale"]["done"], steps["test_sale"]["verified_at"]) == (True, "2026-05-20T12:00:00Z")
    assert steps["live_sale"]["done"] is False


async def test_a_test_transaction_id_never_blocks_a_live_one(api: Api):
    tested = [await api.sale(additional_data={"test_mode": True}) for _ in range(2)]

    live = await api.sale()

    assert [answer.status_code for answer in (*tested, live)] == [200, 200, 200]


async def test_a_test_sale_needs_the_key(api: Api):
    assert code(await api.sale(key=None, additional_data={"test_mode": True})) == (401, "invalid_key")
