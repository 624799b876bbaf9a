"""Bodies that no honest client sends: a clear 4xx each, nothing stored, nothing leaked."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.tables import clicks, customers, leads, refunds, sales, test_events, tracking_log
from tests.tracking_api.conftest import Api

CALLS = ["click", "lead", "sale", "refund"]
STORED = (clicks, customers, leads, refunds, sales, test_events, tracking_log)
JSON = {"Content-Type": "application/json"}
every_call = pytest.mark.parametrize("call", CALLS)


async def rejection(api: Api, call: str, content: Any, **headers: str) -> tuple[int, str]:
    answer = await api.post(call, content=content, headers=JSON | headers)
    assert await api.count(*STORED) == 0
    return answer.status_code, answer.json()["error"]["code"]


@every_call
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"5",
        b"\xff\xfe{}",
        b'{"customer_key": "\xff"}',
        b'{"customer_key": "\\ud800"}',
        b'{"customer_key": "user\x01"}',
        b'{"program_id": 1,}',
        b"{'program_id': 1}",
        b'{"a": ' * 5_000 + b"1" + b"}" * 5_000,
        b"[" * 30_000,
        b'{"line_items": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
        b"\xef\xbb\xbf{}",
        b"a=1&b=2",
    ],
    ids=range(17),
)
async def test_a_body_that_is_not_a_json_object_is_rejected(api: Api, call: str, content: bytes):
    assert await rejection(api, call, content) == (400, "invalid_json")


@pytest.mark.parametrize(
    ("call", "content"),
    [
        ("click", b'{"program_id": true}'),
        ("click", b'{"program_id": "1"}'),
        ("click", b'{"program_id": 1.5}'),
        ("click", b'{"program_id": 1e400}'),
        ("click", b'{"program_id": NaN}'),
        ("click", b'{"program_id": 99999999999999999999999999}'),
        ("click", b'{"program_id": -9223372036854775809}'),
        ("click", b'{"affiliate_url": ["https://acme.example"]}'),
        ("click", b'{"affiliate_url": "https://acme.example/\\u0000?aff=anna"}'),
        ("click", b'{"affiliate_url": "https://acme.example/?aff=anna&x=' + b"x" * 2048 + b'"}'),
        ("click", b'{"page_title": "' + b"x" * 513 + b'"}'),
        ("click", b'{"page_title": "line\\nbreak"}'),
        ("click", b'{"page_title": "\\u0085"}'),
        ("click", b'{"additional_data": "test_mode"}'),
        ("lead", b'{"click_id": 5}'),
        ("lead", b'{"customer_key": "' + b"k" * 256 + b'"}'),
        ("lead", b'{"customer_key": "a\\u0000b"}'),
        ("lead", b'{"additional_data": {"test_mode": "yes"}}'),
        ("lead", b'{"additional_data": {"test_mode": true, "event_name": "a\\u001fb"}}'),
        ("lead", b'{"additional_data": {"test_mode": true, "program_id": "1"}}'),
        ("sale", b'{"amount_cents": 1.5}'),
        ("sale", b'{"amount_cents": -0}'),
        ("sale", b'{"amount_cents": Infinity}'),
        ("refund", b'{"transaction_id": "a\\u007fb"}'),
        ("refund", b'{"transaction_id": "a", "refund_amount_cents": 1e-2}'),
    ],
)
async def test_a_value_of_the_wrong_type_or_size_is_rejected(api: Api, call: str, content: bytes):
    status, code = await rejection(api, call, content)

    assert status == 400
    assert code == "validation_error"


async def test_of_a_key_sent_twice_the_last_one_counts(api: Api):
    twice = b'{"customer_key": "a", "customer_key": "", "transaction_id": "t", "amount_cents": 1}'

    assert await rejection(api, "sale", twice) == (400, "validation_error")


@every_call
@pytest.mark.parametrize("declared", ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""])
async def test_a_body_that_is_not_sent_as_json_is_rejected(api: Api, call: str, declared: str):
    assert await rejection(api, call, b"{}", **{"Content-Type": declared}) == (415, "unsupported_media_type")


@pytest.mark.parametrize("declared", ["application/json; charset=utf-8", "Application/JSON", "application/json ;x=y"])
async def test_json_with_parameters_is_json(api: Api, declared: str):
    assert await rejection(api, "sale", b"{}", **{"Content-Type": declared}) == (400, "validation_error")


@every_call
async def test_a_body_of_64_kib_is_read_and_one_byte_more_is_not(api: Api, call: str):
    most = b"{" + b" " * (64 * 1024 - 2) + b"}"

    assert (await rejection(api, call, most))[0] == 400
    assert await rejection(api, call, most + b" ") == (413, "payload_too_large")


@every_call
async def test_an_endless_body_is_rejected_while_it_is_being_read(api: Api, call: str):
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1024
            yield b" " * 1024

    assert await rejection(api, call, endless()) == (413, "payload_too_large")
    assert sent <= 66 * 1024


async def test_a_declared_length_is_rejected_before_a_byte_is_read(api: Api):
    async def untouched() -> AsyncIterator[bytes]:
        pytest.fail("the body was read")
        yield b""

    assert await rejection(api, "sale", untouched(), **{"Content-Length": "65537"}) == (413, "payload_too_large")


@every_call
async def test_a_body_that_stalls_is_rejected_and_its_connection_closed(api: Api, call: str):
    async def stalling() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    answer = await api.post(call, content=stalling(), headers=JSON)

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_json")
    assert answer.headers["connection"] == "close"


async def test_an_error_does_not_repeat_what_was_sent(api: Api):
    secret = "s3cret" * 50

    answer = await api.post("sale", {"transaction_id": secret, "customer_key": 5, "amount_cents": "x"})

    assert answer.status_code == 400
    assert "s3cret" not in answer.text
    assert api.acme.key not in answer.text


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = [
    *("program_id", "affiliate_url", "existing_click_id", "page_url", "click_id", "customer_key", "email"),
    *("transaction_id", "amount_cents", "currency", "occurred_at", "line_items", "sale_type", "is_recurring"),
    *("refund_amount_cents", "refund_id", "refund_reason", "additional_data"),
]
likely = st.sampled_from([1, 5, True, "https://acme.example/?aff=anna", "user-1", "USD", "a@b", "2026-05-19T12:00:00Z"])
extra = st.dictionaries(st.sampled_from(["test_mode", "program_id", "event_name"]), anything | likely, max_size=3)


@every_call
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.dictionaries(st.sampled_from(FIELDS), anything | likely | extra, max_size=6), keyed=st.booleans())
async def test_no_json_object_whatsoever_breaks_a_call(api: Api, call: str, body: dict[str, Any], *, keyed: bool):
    content = json.dumps(body).encode()

    answer = await api.post(call, content=content, headers=JSON, key="acme" if keyed else None)

    assert answer.status_code in {200, 400, 401, 404, 409}
