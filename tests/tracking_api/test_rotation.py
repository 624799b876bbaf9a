"""What headers say of a call: its program key, flagged or expired, and its Idempotency-Key."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from storage.tables import refunds, sales, test_events
from tests.tracking_api.conftest import CALLS, Api
from tests.world import NOW

TEST = {"test_mode": True}
REFUND = {"transaction_id": "inv-1", "refund_amount_cents": 2_500}
DEADLINE = NOW + timedelta(days=7)
DOCS = "http://127.0.0.1:8000/docs/key-rotation"
HEADERS = {
    "deprecation": f"@{int(NOW.timestamp())}",
    "sunset": "Wed, 27 May 2026 12:00:00 GMT",
    "link": f'<{DOCS}>; rel="deprecation", <{DOCS}>; rel="sunset"',
}
SUCCESSES, ERRORS = CALLS["successes"], CALLS["errors"]


def signalled(answer: Any) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name in HEADERS}


@pytest.fixture(autouse=True)
async def a_sale(api: Api) -> None:
    await api.acme.customer("user-1")
    await api.acme.customer("user-2")
    await api.sale()


async def test_a_flagged_key_works_and_is_warned_and_an_active_one_is_not(api: Api):
    active = await api.sale(transaction_id="inv-3")
    await api.flag(DEADLINE)
    api.at = DEADLINE - timedelta(milliseconds=1)

    for call, body in SUCCESSES:
        answer = await api.post(call, body)
        assert (answer.status_code, signalled(answer)) == (200, HEADERS), (call, body)
        warning = answer.json()["warnings"][0]
        assert (warning["code"], warning["rotate_by"]) == ("api_key_rotation_required", "2026-05-27T12:00:00Z")
        assert (warning["docs_url"], bool(warning["message"]), bool(warning["hint"])) == (DOCS, True, True)
    assert (signalled(active), "warnings" in active.json()) == ({}, False)
    status = await api.client.get("/api/v1/cli/status", headers=api.keyed)
    assert (status.json()["data"]["rotate_by"], signalled(status)) == ("2026-05-27T12:00:00Z", HEADERS)
    assert status.json()["warnings"]


async def test_a_flagged_key_is_warned_on_errors_too_also_when_its_body_is_not_read(api: Api):
    await api.flag(DEADLINE)

    for call, body in ERRORS:
        answer = await api.post(call, body)
        assert answer.status_code in {400, 404, 409}, (call, body)
        assert signalled(answer) == HEADERS, (call, body)
        assert [warning["code"] for warning in answer.json()["warnings"]] == ["api_key_rotation_required"]
    for headers, status in (({"Content-Type": "text/plain"}, 415), ({"Content-Length": "99999"}, 413)):
        answer = await api.post("sale", content=b"{}", headers={"Content-Type": "application/json"} | headers)
        assert (answer.status_code, signalled(answer)) == (status, HEADERS)
    no_method = await api.client.get("/api/v1/track/sale", headers=api.keyed)
    assert (no_method.status_code, signalled(no_method)) == (405, {})


async def test_at_its_deadline_a_key_is_rejected_whatever_it_sends(api: Api):
    await api.flag(DEADLINE)
    stored = await api.count(sales)

    for late in (timedelta(), timedelta(days=400)):
        api.at = DEADLINE + late
        answers = [await api.post(call, body) for call, body in [*SUCCESSES, *ERRORS]]
        for answer in (*answers, await api.client.get("/api/v1/cli/status", headers=api.keyed)):
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "api_key_rotation_required")
            assert (signalled(answer), "warnings" in answer.json()) == (HEADERS, False)
    assert await api.count(sales) == stored


async def repeat(api: Api, call: str, body: Any, name: str = "once-1", **options: Any) -> httpx.Response:
    return await api.post(call, body, headers={"Idempotency-Key": name}, **options)


async def test_a_call_repeated_with_the_same_idempotency_key_is_done_once_and_gets_the_first_response(api: Api):
    lead = {"click_id": await api.acme.visitor(), "customer_key": "user-3"}
    sale = {"transaction_id": "inv-2", "customer_key": "user-1", "amount_cents": 500}
    calls: dict[str, Any] = {"refund": REFUND, "sale": sale, "lead": lead, "test": {"additional_data": TEST}}

    for name, body in calls.items():
        call = "sale" if name == "test" else name
        first = await repeat(api, call, body, name)
        again = await repeat(api, call, dict(reversed(body.items())), name)

        assert (first.status_code, again.status_code, again.json()) == (200, 200, first.json()), name
        assert (first.headers.get("idempotency-replayed"), again.headers["idempotency-replayed"]) == (None, "true")

    assert [row.amount_cents for row in await api.rows(refunds)] == [2_500]
    assert (await api.count(sales), await api.count(test_events)) == (2, 1)


async def test_an_idempotency_key_belongs_to_one_program_one_call_and_one_body_and_is_well_formed(api: Api):
    globex = await api.beside()
    await globex.acme.customer("user-1")
    await globex.sale()
    body = {**REFUND, "customer_key": "user-1", "amount_cents": 1}  # of a refund or of a sale
    await repeat(api, "refund", body)

    elsewhere = await repeat(globex, "refund", body)
    reused = [await repeat(api, "refund", {**body, "refund_amount_cents": 1}), await repeat(api, "sale", body)]
    malformed = [await repeat(api, "refund", REFUND, name) for name in ("", "k" * 256)]

    assert (elsewhere.status_code, elsewhere.headers.get("idempotency-replayed")) == (200, None)
    assert [(one.status_code, one.json()["error"]["code"]) for one in reused] == [(409, "idempotency_key_reused")] * 2
    assert {(answer.status_code, answer.json()["error"]["fields"][0]["field"]) for answer in malformed} == {
        (400, "Idempotency-Key")
    }
    assert (await api.count(refunds), await api.count(sales)) == (2, 2)


async def test_a_rejected_call_leaves_its_idempotency_key_free_and_a_browser_has_none(api: Api):
    early = {"transaction_id": "inv-9", "customer_key": "user-9", "amount_cents": 500}
    rejected = await repeat(api, "sale", early)
    await api.acme.customer("user-9")
    lead = {"click_id": await api.acme.visitor()}

    browser = [await repeat(api, "lead", lead, key=None) for _ in range(2)]

    assert rejected.json()["error"]["code"] == "customer_not_found"
    assert (await repeat(api, "sale", early)).status_code == 200
    assert [answer.json()["provisional"] for answer in browser] == [True, True]
    assert "idempotency-replayed" not in browser[1].headers
