"""Outages: a call takes no longer than its timeout, is sent at most twice with the same ids, and is logged once."""

import threading
import time

import pytest
from svc_affiliate import ErrorCode, Status, Track, delivery

from tests.postgres import free_port
from tests.sdks.conftest import Sdk
from tests.sdks.reporting import KEY
from tests.sdks.stub import CUTS, DRIPS, HANGS, Canned, Stub, rejection


@pytest.mark.parametrize("fault", [HANGS, DRIPS])
def test_a_call_takes_no_longer_than_its_timeout(fault: str, service: Stub, sdk: Sdk):
    service.answers = [fault]
    track = sdk(timeout_seconds=0.3)
    started = time.monotonic()

    result = track.lead(click_id="c1")

    assert time.monotonic() - started < 1.5
    assert result.error is not None
    assert (result.status, result.ok) == (Status.FAILED, False)
    assert result.error.code in {ErrorCode.TIMED_OUT, ErrorCode.SERVICE_UNREACHABLE}


def test_the_timeout_is_two_seconds_by_default(service: Stub, sdk: Sdk):
    service.answers = [HANGS]
    started = time.monotonic()

    result = sdk().lead(click_id="c1")

    assert 1.9 < time.monotonic() - started < 4
    assert result.status == Status.FAILED


def test_a_service_that_is_down_is_a_result(sdk: Sdk):
    result = sdk(base_url=f"http://127.0.0.1:{free_port()}").lead(click_id="c1")

    assert result.error is not None
    assert (result.status, result.error.code) == (Status.FAILED, ErrorCode.SERVICE_UNREACHABLE)


@pytest.mark.parametrize(
    "fault", [CUTS, Canned(502, "<h1>Bad gateway"), rejection("internal_error"), rejection("storage_unavailable")]
)
def test_one_retry_sends_the_same_ids(fault: Canned | str, service: Stub, sdk: Sdk):
    service.answers = [fault, Canned()]

    result = sdk().sale(customer_key="user-1", amount_cents=1)

    first, second = service.received
    assert result.status == Status.RECORDED
    assert first.body == second.body
    assert first.headers["Idempotency-Key"] == second.headers["Idempotency-Key"]


@pytest.mark.parametrize("code", ["invalid_key", "rate_limited", "validation_error"])
def test_what_would_fail_again_is_not_sent_again(code: str, service: Stub, sdk: Sdk):
    service.answers = [rejection(code)]

    sdk().lead(click_id="c1")

    assert len(service.received) == 1


def test_no_retry_waits_longer_than_the_timeout(service: Stub, sdk: Sdk):
    service.answers = [rejection("overloaded", retry_after_seconds=60)]

    sdk().lead(click_id="c1")

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
def test_what_is_not_the_service_is_named(answer: Canned, service: Stub, sdk: Sdk):
    service.answers = [answer]

    result = sdk().lead(click_id="c1")

    assert result.error is not None
    assert result.error.code == ErrorCode.NOT_THE_SERVICE


def test_more_calls_than_may_hang_at_once_fail_at_once(service: Stub, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(delivery, "_free", threading.Semaphore(0))

    result = Track(base_url=service.base_url, api_key=KEY).lead(click_id="c1")

    assert result.status == Status.FAILED
    assert service.received == []


def test_a_warning_of_rotation_is_logged_once(service: Stub, sdk: Sdk):
    warning = '{"code": "api_key_rotation_required", "message": "Rotate.", "hint": "Ask.", "rotate_by": "2026-06-01"}'
    service.answers = [Canned(200, f'{{"success": true, "warnings": [{warning}]}}')]
    track = sdk()

    for _ in range(3):
        track.lead(click_id="c1")

    assert [line.removeprefix("svc-affiliate: ") for line in sdk.logged()] == [
        "api_key_rotation_required: Rotate. Ask."
    ]


def test_an_outage_is_logged_once_a_minute_and_without_the_key(service: Stub, sdk: Sdk):
    service.answers = [rejection("invalid_key")]
    track = sdk()

    for _ in range(3):
        track.lead(click_id="c1", email="jane@example.com")

    (line,) = sdk.logged()
    assert "invalid_key" in line
    assert KEY not in line
    assert "jane" not in line
