"""Rotation signalling: what a flagged or expired program key gets, on successes and on errors."""

from datetime import timedelta
from typing import Any

import pytest

from storage.access import program_keys
from storage.tables import refused_calls, sales
from tests.tracking_api.conftest import Api
from tests.world import NOW
from web.errors import STATUS

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


@pytest.mark.parametrize(("call", "body"), SUCCESSES)
async def test_a_flagged_key_works_and_is_warned(api: Api, call: str, body: dict[str, Any]):
    await api.flag(DEADLINE)

    answer = await api.post(call, body)

    assert (answer.status_code, signalled(answer)) == (200, HEADERS)
    warning = answer.json()["warnings"][0]
    assert (warning["code"], warning["rotate_by"]) == ("api_key_rotation_required", "2026-05-27T12:00:00Z")
    assert (warning["docs_url"], bool(warning["message"]), bool(warning["hint"])) == (DOCS, True, True)


@pytest.mark.parametrize(("call", "body"), ERRORS)
async def test_a_flagged_key_is_warned_on_errors_too(api: Api, call: str, body: Any):
    await api.flag(DEADLINE)

    answer = await api.post(call, body)

    assert answer.status_code in {400, 404, 409}
    assert signalled(answer) == HEADERS
    assert [warning["code"] for warning in answer.json()["warnings"]] == ["api_key_rotation_required"]


@pytest.mark.parametrize("headers", [{"Content-Type": "text/plain"}, {"Content-Length": "99999"}])
async def test_a_flagged_key_is_warned_when_its_body_is_not_read(api: Api, headers: dict[str, str]):
    await api.flag(DEADLINE)

    answer = await api.post("sale", content=b"{}", headers={"Content-Type": "application/json"} | headers)

    assert answer.status_code in {413, 415}
    assert signalled(answer) == HEADERS


async def test_the_status_of_a_flagged_key_says_so(api: Api):
    await api.flag(DEADLINE)

    answer = await api.client.get("/api/v1/cli/status", headers=api.keyed)

    assert (answer.json()["data"]["rotate_by"], signalled(answer)) == ("2026-05-27T12:00:00Z", HEADERS)
    assert answer.json()["warnings"]


@pytest.mark.parametrize("late", [timedelta(), timedelta(days=400)])
@pytest.mark.parametrize(("call", "body"), [*SUCCESSES, *ERRORS])
async def test_at_its_deadline_a_key_is_rejected_whatever_it_sends(api: Api, call: str, body: Any, late: timedelta):
    await api.flag(DEADLINE)
    stored = await api.count(sales)

    api.at = DEADLINE + late
    answer = await api.post(call, body)

    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "api_key_rotation_required")
    assert signalled(answer) == HEADERS
    assert "warnings" not in answer.json()
    assert await api.count(sales) == stored


async def test_the_status_is_rejected_at_the_deadline(api: Api):
    await api.flag(DEADLINE)

    api.at = DEADLINE
    answer = await api.client.get("/api/v1/cli/status", headers=api.keyed)

    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "api_key_rotation_required")
    assert signalled(answer) == HEADERS


async def test_the_key_still_works_just_before_the_deadline(api: Api):
    await api.flag(DEADLINE)

    api.at = DEADLINE - timedelta(milliseconds=1)

    assert (await api.sale(transaction_id="inv-2")).status_code == 200


async def test_regenerating_clears_the_flag_and_invalidates_the_old_key(api: Api):
    await api.flag(DEADLINE)
    old = api.acme.key

    new = await api.acme.store.write(program_keys.regenerate, api.acme.program_id, at=NOW)

    with_new = await api.sale(key=new.secret, transaction_id="inv-2")
    with_old = await api.sale(key=old, transaction_id="inv-3")
    assert (with_new.status_code, signalled(with_new), "warnings" in with_new.json()) == (200, {}, False)
    assert (with_old.status_code, with_old.json()["error"]["code"]) == (401, "invalid_key")
    assert signalled(with_old) == {}


async def test_calls_with_a_replaced_key_are_in_its_programs_log(api: Api):
    old = api.acme.key
    await api.acme.store.write(program_keys.regenerate, api.acme.program_id, at=NOW)

    await api.sale(key=old, transaction_id="inv-9")

    logged = [(row.program_id, row.code, STATUS[row.code]) for row in await api.rows(refused_calls)]
    assert logged == [(api.acme.program_id, "invalid_key", 401)]


async def test_an_imported_key_without_the_prefix_works(api: Api):
    await api.acme.store.write(program_keys.import_key, api.acme.program_id, "from-before-the-prefix", at=NOW)

    answer = await api.sale(key="from-before-the-prefix", transaction_id="inv-2")

    assert answer.status_code == 200
