"""POST /api/v1/track/sale and /refund, in live and in test mode."""

import json
from datetime import timedelta
from typing import Any

import pytest

from storage.management import coupons
from storage.tables import commissions, refunds, refused_calls, sales, test_events, tracking_log
from tests import stripe_events
from tests.storage.payments import paying
from tests.tracking_api.conftest import CALLS, Api
from tests.world import NOW

TEST = {"test_mode": True}


@pytest.fixture(autouse=True)
async def user_1(api: Api) -> None:
    await api.acme.customer("user-1")


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


async def test_a_sale_of_every_field_earns_its_commission(api: Api):
    await api.acme.customer("user-2", at=NOW - timedelta(days=2))

    answer = await api.sale(**CALLS["whole_sale"])

    stored, earned = (await api.rows(sales))[0], (await api.rows(commissions))[0]
    explained = await api.acme.explain(transaction_id="inv-1")
    assert (answer.json()["success"], stored.occurred_at) == (True, NOW - timedelta(days=1))
    assert "12345 without tax and shipping; 12345 x 2000 / 10000" in explained.steps[-1].text
    assert answer.json()["data"] == {
        "eventId": stored.id,
        "programId": api.acme.program_id,
        "transaction_id": "inv-1",
        "customer_key": "user-2",
        "commission_id": earned.id,
        "commission_cents": 2469,
        "currency": "USD",
        "customer_key_saved": True,
        "test_mode": False,
    }


UNWRITABLE: list[Any] = [["x" * 16_385], [float("nan")]]  # as line items


async def test_a_wrong_field_is_named_and_nothing_stored(api: Api):
    for fields, field in [*CALLS["wrong_sales"], *(({"line_items": each}, "line_items") for each in UNWRITABLE)]:
        body = {"transaction_id": "inv-1", "customer_key": "user-1", "amount_cents": 10_000, **fields}
        answer = await api.post("sale", content=json.dumps(body), headers={"Content-Type": "application/json"})
        assert code(answer) == (400, "validation_error"), fields
        assert [wrong["field"] for wrong in answer.json()["error"]["fields"]] == [field], fields

    every = {wrong["field"] for wrong in (await api.post("sale", {})).json()["error"]["fields"]}
    assert every == {"transaction_id", "customer_key", "amount_cents"}
    assert await api.count(sales, commissions, test_events) == 0


async def test_a_transaction_id_counts_once_and_a_rejected_call_is_logged_with_what_it_repeated(api: Api):
    first = (await api.sale()).json()["data"]
    differing = {"amount_cents": 9_999, "currency": "EUR", "customer_key": "nobody", "coupon_code": "SPRING20"}
    changes: list[dict[str, Any]] = [{}, differing]
    same, other = [await api.sale(**changed) for changed in changes]
    await api.sale(customer_key=None)
    await api.refund(refund_amount_cents=20_000)
    await api.sale(customer_key="nobody", additional_data={**TEST, "program_id": 404})

    assert code(same) == code(other) == (409, "duplicate_transaction")
    existing = {"eventId": first["eventId"], "recorded_at": "2026-05-20T12:00:00Z"}
    assert same.json()["error"]["existing"] == other.json()["error"]["existing"] == existing
    assert (same.json()["error"]["same_payload"], other.json()["error"]["same_payload"]) == (True, False)
    rows = await api.rows(refused_calls)
    assert (rows[0].call, rows[0].customer_key, rows[0].transaction_id) == ("sale", "user-1", "inv-1")
    assert rows[0].request_id == same.headers["x-request-id"]
    assert [row.coupon_code for row in rows] == [None, "SPRING20", None, None, None]
    assert [(row.code, row.amount_cents, row.currency, row.same_payload) for row in rows] == [
        ("duplicate_transaction", 10_000, "USD", True),
        ("duplicate_transaction", 9_999, "EUR", False),
        ("validation_error", 10_000, "USD", None),
        ("refund_exceeds_sale", 20_000, None, None),
        ("program_not_found", None, None, None),
    ]
    assert await api.count(sales) == 1


async def test_a_sale_beside_a_payment_is_answered_with_a_warning(api: Api):
    await paying.connect(api.acme)
    await paying.take(api.acme, stripe_events.checkout(metadata={"svc_customer_key": "user-1"}))

    second, other = await api.sale(transaction_id="order-7"), await api.sale(transaction_id="order-8", amount_cents=1)

    assert [each.status_code for each in (second, other)] == [200, 200]
    [warning] = second.json()["warnings"]
    assert (warning["code"], "as pi_1." in warning["message"]) == ("possible_duplicate", True)
    assert {"warnings", "possibly_repeats"}.isdisjoint({*other.json(), *second.json()["data"]})


async def test_a_sale_says_whether_the_key_that_it_echoes_is_saved(api: Api):
    click_id = await api.acme.visitor()
    await api.lead(key=None, click_id=click_id)

    for number, customer_key in enumerate(("not-known-yet", None)):
        sale = await api.sale(transaction_id=f"inv-{number}", customer_key=customer_key, click_id=click_id)
        data = sale.json()["data"]
        assert (data["customer_key"], data["customer_key_saved"]) == (customer_key, False)
        assert [warning["code"] for warning in sale.json()["warnings"]] == ["customer_key_not_saved"]


async def test_a_coupon_credits_its_partner_and_one_that_is_unknown_only_warns(api: Api):
    await api.acme.do(coupons.create, partner_id=api.acme.ben, code="SPRING20")

    credited = await api.sale(customer_key="user-9", coupon_code="spring20")
    warned = await api.sale(transaction_id="inv-2", coupon_code="nonsense")
    browser = await api.lead(key=None, customer_key="user-7", coupon_code="spring20")

    warnings = [[each["code"] for each in answer.json()["warnings"]] for answer in (credited, warned)]
    assert (warnings, browser.status_code) == ([["customer_key_not_saved"], ["coupon_unknown"]], 400)
    first = (await api.rows(sales))[0]
    assert (first.partner_id, first.details) == (api.acme.ben, '{"coupon_code": "spring20"}')


async def test_a_test_sale_needs_no_other_field_blocks_no_live_one_and_advances_the_checklist(api: Api):
    answer = await api.post("sale", {"additional_data": TEST})
    tested = [await api.sale(additional_data=TEST) for _ in range(2)]
    steps = {step["step"]: step for step in (await api.status())["checklist"]}
    live = await api.sale()
    rejected = [code(await api.sale(key=key, additional_data=TEST)) for key in (None, "aff_wrong")]

    stored, logged = (await api.rows(test_events))[0], (await api.rows(tracking_log))[0]
    assert answer.json()["data"] == {"eventId": stored.id, "programId": api.acme.program_id, "test_mode": True}
    assert (stored.kind, stored.is_test, logged.event_id) == ("sale", True, stored.id)
    assert (steps["test_sale"]["done"], steps["test_sale"]["verified_at"]) == (True, "2026-05-20T12:00:00Z")
    assert steps["live_sale"]["done"] is False
    assert [each.status_code for each in (*tested, live)] == [200, 200, 200]
    assert rejected == [(401, "invalid_key")] * 2
    assert (await api.count(sales, commissions), await api.count(test_events)) == (2, 3)


async def test_a_refund_reverses_its_share_is_replayed_by_its_id_and_then_takes_what_remains(api: Api):
    await api.sale()
    partly: dict[str, Any] = {"refund_amount_cents": 2_500, "refund_id": "r-1", "refund_reason": "late"}

    first, again, rest, after = [(await api.refund(**each)).json() for each in (partly, partly, {}, {})]

    assert (first["data"]["transaction_id"], first["data"]["refund_id"]) == ("inv-1", "r-1")
    assert (again["replayed"], again["data"]["refunded_total_cents"]) == (True, 2_500)
    names = ("status", "refunded_cents", "refunded_total_cents", "remaining_cents", "commission_reversed_cents")
    assert [[each["data"][name] for name in names] for each in (first, rest, after)] == [
        ["partially_refunded", 2_500, 2_500, 7_500, 500],
        ["refunded", 7_500, 10_000, 0, 1_500],
        ["already_refunded", 0, 10_000, 0, 0],
    ]
    assert [(row.refund_id, row.reason) for row in await api.rows(refunds)] == [("r-1", "late"), (None, None)]


async def test_a_rejected_refund_changes_nothing(api: Api):
    await api.sale()

    for fields, status, rejection in CALLS["wrong_refunds"]:
        assert code(await api.refund(**fields)) == (status, rejection), fields
    assert (await (await api.beside()).refund()).status_code == 404

    assert await api.count(refunds) == 0


async def test_test_mode_refunds_a_test_sale_and_not_the_live_one(api: Api):
    await api.sale()
    await api.sale(amount_cents=300, additional_data=TEST)

    data = (await api.refund(refund_amount_cents=100, additional_data=TEST)).json()["data"]

    assert (data["test_mode"], data["status"], data["remaining_cents"]) == (True, "partially_refunded", 200)
    assert (data["commission_id"], data["commission_reversed_cents"]) == (None, 0)
    assert await api.count(refunds) == 0
