"""Rotation signalling: what a flagged or expired program key gets, on successes and on errors."""

from datetime import timedelta
from typing import Any

import pytest

from storage.tables import sales
from tests.tracking_api.conftest import Api
from tests.world import NOW

DEADLINE = NOW + timedelta(days=7)
DOCS = "http://127.0.0.1:8000/docs/key-rotation"
HEADERS = {
    "deprecation": f"@{int(NOW.timestamp())}",
    "sunset": "Wed, 27 May 2026 12:00:00 GMT",
    "link": f'<{DOCS}>; rel="deprecation", <{DOCS}>; rel="sunset"',
}
SUCCESSES: list[tuple[str, dict[str, Any]]] = [
    ("lead", {"customer_key": "user-2"}),
    ("lead", {"additional_data": {"test_mode": True}}),
    ("sale", {"transaction_id": "inv-2", "customer_key": "user-1", "amount_cents": 1}),
    ("sale", {"additional_data": {"test_mode": True}}),
    ("refund", {"transaction_id": "inv-1"}),
]
ERRORS: list[tuple[str, Any]] = [
    ("lead", {}),
    ("lead", {"customer_key": "nobody"}),
    ("lead", {"additional_data": {"test_mode": True, "program_id": 987_654}}),
    ("lead", []),
    ("sale", {}),
    ("sale", {"transaction_id": "inv-1", "customer_key": "user-1", "amount_cents": 1}),
    ("sale", []),
    ("refund", {"transaction_id": "unknown"}),
    ("refund", {}),
]


def signalled(answer: Any) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name in HEADERS}


@pytest.fixture(autouse=True)
async def a_sale(api: Api) -> None:
    await api.acme.customer("user-1")
    await api.acme.customer("user-2")
    await api.sale()


async def test_an_active_key_is_not_signalled(api: Api):
    answer = await api.sale(transaction_id="inv-2")

    assert signalled(answer) == {}
    assert "warnings" not in answer.json()


async def test_a_flagged_key_works_and_is_warned(api: Api):
    await api.flag(DEADLINE)
    api.at = DEADLINE - timedelta(milliseconds=1)

    for call, body in SUCCESSES:
        answer = await api.post(call, body)
        assert (answer.status_code, signalled(answer)) == (200, HEADERS), (call, body)
        warning = answer.json()["warnings"][0]
        assert (warning["code"], warning["rotate_by"]) == ("api_key_rotation_required", "2026-05-27T12:00:00Z")
        assert (warning["docs_url"], bool(warning["message"]), bool(warning["hint"])) == (DOCS, True, True)


async def test_a_flagged_key_is_warned_on_errors_too(api: Api):
    await api.flag(DEADLINE)

    for call, body in ERRORS:
        answer = await api.post(call, body)
        assert answer.status_code in {400, 404, 409}, (call, body)
        assert signalled(answer) == HEADERS, (call, body)
        assert [warning["code"] for warning in answer.json()["warnings"]] == ["api_key_rotation_required"]


async def test_a_flagged_key_is_warned_when_its_body_is_not_read(api: Api):
    await api.flag(DEADLINE)

    for headers, status in (({"Content-Type": "text/plain"}, 415), ({"Content-Length": "99999"}, 413)):
        answer = await api.post("sale", content=b"{}", headers={"Content-Type": "application/json"} | headers)
        assert (answer.status_code, signalled(answer)) == (status, HEADERS)


async def test_the_status_of_a_flagged_key_says_so_and_ends_at_the_deadline(api: Api):
    await api.flag(DEADLINE)

    flagged = await api.client.get("/api/v1/cli/status", headers=api.keyed)
    api.at = DEADLINE
    rejected = await api.client.get("/api/v1/cli/status", headers=api.keyed)

    assert (flagged.json()["data"]["rotate_by"], signalled(flagged)) == ("2026-05-27T12:00:00Z", HEADERS)
    assert flagged.json()["warnings"]
    assert (rejected.status_code, rejected.json()["error"]["code"]) == (401, "api_key_rotation_required")
    assert signalled(rejected) == HEADERS


async def test_at_its_deadline_a_key_is_rejected_whatever_it_sends(api: Api):
    await api.flag(DEADLINE)
    stored = await api.count(sales)

    for late in (timedelta(), timedelta(days=400)):
        api.at = DEADLINE + late
        for call, body in [*SUCCESSES, *ERRORS]:
            answer = await api.post(call, body)
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "api_key_rotation_required"), call
            assert signalled(answer) == HEADERS, (call, body)
            assert "warnings" not in answer.json()
    assert await api.count(sales) == stored
