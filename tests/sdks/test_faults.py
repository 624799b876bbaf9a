"""Outages: a call takes no longer than its timeout, is sent at most twice with the same ids, and is logged once."""

import logging
import threading
import time

import pytest
from svc_affiliate import AsyncTrack, ErrorCode, Status, Track, delivery

from tests.postgres import free_port
from tests.sdks.reporting import BOTH, KEY, called, of
from tests.sdks.stub import CUTS, DRIPS, HANGS, Canned, Stub, rejection


@BOTH
@pytest.mark.parametrize("fault", [HANGS, DRIPS])
async def test_a_call_takes_no_longer_than_its_timeout(kind: type[Track | AsyncTrack], fault: str, service: Stub):
    service.answers = [fault]
    started = time.monotonic()

    options = {"base_url": service.base_url, "api_key": KEY, "timeout_seconds": 0.3}
    result = await called(kind, "lead", {"click_id": "c1"}, **options)

    assert time.monotonic() - started < 1.5
    assert result.error is not None
    assert (result.status, result.ok) == (Status.FAILED, False)
    assert result.error.code in {ErrorCode.TIMED_OUT, ErrorCode.SERVICE_UNREACHABLE}


def test_the_timeout_is_two_seconds_by_default(service: Stub):
    service.answers = [HANGS]
    started = time.monotonic()

    result = of(service).lead(click_id="c1")

    assert 1.9 < time.monotonic() - started < 4
    assert result.status == Status.FAILED


@BOTH
async def test_a_service_that_is_down_is_a_result(kind: type[Track | AsyncTrack]):
    where = {"base_url": f"http://127.0.0.1:{free_port()}", "api_key": KEY}
    result = await called(kind, "lead", {"click_id": "c1"}, **where)

    assert result.error is not None
    assert (result.status, result.error.code) == (Status.FAILED, ErrorCode.SERVICE_UNREACHABLE)


@pytest.mark.parametrize(
    "fault", [CUTS, Canned(502, "<h1>Bad gateway"), rejection("internal_error"), rejection("storage_unavailable")]
)
def test_one_retry_sends_the_same_ids(fault: Canned | str, service: Stub):
    service.answers = [fault, Canned()]

    result = of(service).sale(customer_key="user-1", amount_cents=1)

    first, second = service.received
    assert result.status == Status.RECORDED
    assert first.body == second.body
    assert first.headers["Idempotency-Key"] == second.headers["Idempotency-Key"]


@pytest.mark.parametrize("code", ["invalid_key", "rate_limited", "validation_error"])
def test_what_would_fail_again_is_not_sent_again(code: str, service: Stub):
    service.answers = [rejection(code)]

    of(service).lead(click_id="c1")

    assert len(service.received) == 1


def test_no_retry_waits_longer_than_the_timeout(service: Stub):
    service.answers = [rejection("overloaded", retry_after_seconds=60)]

    of(service).lead(click_id="c1")

    assert len(service.received) == 1


@pytest.mark.parametrize(
    "answer",
    [
        Canned(404, "<h1>Nothing here"),
        Canned(200, "[]"),
        Canned(200, "{}"),
        Canned(400, '{"error": "no"}'),
        Canned(302, "", {"Location": "/login"}),
    ],
    ids=["404", "list", "nothing", "another error", "redirect"],
)
def test_what_is_not_the_service_is_named(answer: Canned, service: Stub):
    service.answers = [answer]

    result = of(service).lead(click_id="c1")

    assert result.error is not None
    assert result.error.code == ErrorCode.NOT_THE_SERVICE


def test_more_calls_than_may_hang_at_once_fail_at_once(service: Stub, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(delivery, "_free", threading.Semaphore(0))

    result = of(service).lead(click_id="c1")

    assert result.status == Status.FAILED
    assert service.received == []


def test_a_warning_of_rotation_is_logged_once(service: Stub, caplog: pytest.LogCaptureFixture):
    warning = '{"code": "api_key_rotation_required", "message": "Rotate.", "hint": "Ask.", "rotate_by": "2026-06-01"}'
    service.answers = [Canned(200, f'{{"success": true, "warnings": [{warning}]}}')]
    track = of(service)

    for _ in range(3):
        track.lead(click_id="c1")

    assert [record.message for record in caplog.records] == ["api_key_rotation_required: Rotate. Ask."]


def test_an_outage_is_logged_once_a_minute_and_without_the_key(service: Stub, caplog: pytest.LogCaptureFixture):
    service.answers = [rejection("invalid_key")]
    track = of(service)

    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            track.lead(click_id="c1", email="jane@example.com")

    (record,) = caplog.records
    assert "invalid_key" in record.message
    assert KEY not in caplog.text
    assert "jane" not in caplog.text
