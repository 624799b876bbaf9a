"""POST /api/programs/:id/reconciliation: who may ask, what is rejected, and that asking changes nothing."""

from typing import Any

from tests.tracking_api.dashboard.conftest import MAX, Dashboard

PAID = {
    "line": 2,
    "names": ["pi_1"],
    "amount": "100.00",
    "currency": "usd",
    "occurred_at": "2026-05-20T12:00:00Z",
    "customer_key": "user-1",
}


async def reconcile(dashboard: Dashboard, *payments: dict[str, Any], who: str | None = MAX) -> Any:
    return await dashboard.post("./reconciliation", who, payments=list(payments))


async def test_a_member_sees_the_difference_and_the_calls_that_fix_it(dashboard: Dashboard):
    await dashboard.acme.customer()

    (finding,) = (await reconcile(dashboard, PAID)).json()["findings"]
    (call,) = finding.pop("calls")

    assert finding == {
        "code": "missing",
        "line": 2,
        "transaction_id": "pi_1",
        "paid_cents": 10_000,
        "returned_cents": 0,
        "currency": "USD",
        "recorded_cents": None,
        "recorded_refunded_cents": None,
        "recorded_currency": None,
        "reason": None,
    }
    assert (call["path"], call["body"]["amount_cents"]) == ("/api/v1/track/sale", 10_000)
    assert (await reconcile(dashboard, PAID)).json()["findings"][0]["code"] == "missing"


async def test_an_invalid_payment_is_named_and_more_than_a_thousand_are_rejected(dashboard: Dashboard):
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"amount": "100.001"}, "line 2: amount"),
        ({"amount": "100.5", "currency": "jpy"}, "line 2: amount"),
        ({"returned": "99999999999999"}, "line 2: returned"),
        ({"amount": "-1"}, "payments.0.amount"),
        ({"names": []}, "payments.0.names"),
        ({"names": ["pi\n1"]}, "payments.0.names.0"),
        ({"currency": "dollar"}, "payments.0.currency"),
        ({"occurred_at": "2026-05-20T12:00:00"}, "payments.0.occurred_at"),
    ]
    for changed, field in wrong:
        answer = await reconcile(dashboard, PAID | changed)
        assert (answer.status_code, [each["field"] for each in answer.json()["error"]["fields"]]) == (400, [field])

    assert (await reconcile(dashboard, *[PAID] * 1001)).json()["error"]["code"] == "validation_error"
