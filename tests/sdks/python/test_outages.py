"""Outages: a call ends while the service hangs, is sent at most twice with the same ids, and is logged once."""

import time

import pytest
from svc_affiliate import ErrorCode, Status

from tests import failing
from tests.failing import BROKEN, CUTS, DRIPS, HANGS, Answer, FailingService
from tests.postgres import free_port
from tests.sdks.conftest import KEY, Sdk

NOT_THE_SERVICE = {
    "404": Answer(404, b"<h1>Nothing here"),
    **{fault: failing.answer(fault) for fault in BROKEN if fault not in {CUTS, "html"}},
    "nothing": Answer(200, b"{}"),
    "another error": Answer(400, b'{"error": "no"}'),
    "redirect": Answer(302, b"", {"Location": "/login"}),
}


@pytest.mark.parametrize("fault", [HANGS, DRIPS])
def test_a_call_ends_while_the_service_goes_on(fault: str, service: FailingService, sdk: Sdk):
    service.answers = [fault]

    result = sdk(timeout_seconds=0.3).lead(click_id="c1")

    assert result.error is not None
    assert (result.status, result.ok) == (Status.FAILED, False)
    assert result.error.code in {ErrorCode.TIMED_OUT, ErrorCode.SERVICE_UNREACHABLE}


def test_the_timeout_is_two_seconds_by_default(service: FailingService, sdk: Sdk):
    service.answers = [HANGS]
    started = time.monotonic()

    result = sdk().lead(click_id="c1")

    assert 1.9 < time.monotonic() - started < 20
    assert result.status == Status.FAILED


def test_a_service_that_is_down_is_a_result(sdk: Sdk):
    result = sdk(base_url=f"http://127.0.0.1:{free_port()}").lead(click_id="c1")

    assert result.error is not None
    assert (result.status, result.error.code) == (Status.FAILED, ErrorCode.SERVICE_UNREACHABLE)


@pytest.mark.parametrize("fault", [CUTS, "html", "internal_error"])
def test_one_retry_sends_the_same_ids(fault: str, service: FailingService, sdk: Sdk):
    service.answers = [fault, Answer()]

    result = sdk().sale(customer_key="user-1", amount_cents=1)

    first, second = service.received
    assert result.status == Status.RECORDED
    assert first.body == second.body
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]


def test_what_would_fail_again_or_too_late_is_not_sent_again(service: FailingService, sdk: Sdk):
    track = sdk()
    hopeless = ("invalid_key", "rate_limited", "validation_error")

    for answer in (*map(failing.answer, hopeless), failing.answer("overloaded", retry_after_seconds=60)):
        service.answers = [answer]
        service.received.clear()
        track.lead(click_id="c1")
        assert len(service.received) == 1, answer


def test_what_is_not_the_service_is_named(service: FailingService, sdk: Sdk):
    track = sdk()

    for name, answer in NOT_THE_SERVICE.items():
        service.answers = [answer]
        result = track.lead(click_id="c1")
        assert result.error is not None
        assert (name, result.error.code) == (name, ErrorCode.NOT_THE_SERVICE)
    assert {call.path for call in service.received} == {"/api/v1/track/lead"}  # the key follows no redirect


def test_a_warning_of_rotation_is_logged_once(service: FailingService, sdk: Sdk):
    warning = b'{"code": "api_key_rotation_required", "message": "Rotate.", "hint": "Ask.", "rotate_by": "2026-06-01"}'
    service.answers = [Answer(200, b'{"success": true, "warnings": [%s]}' % warning)]
    track = sdk()

    for _ in range(3):
        track.lead(click_id="c1")

    assert [line.removeprefix("svc-affiliate: ") for line in sdk.logged()] == [
        "api_key_rotation_required: Rotate. Ask."
    ]


def test_an_outage_is_logged_once_a_minute_and_without_the_key(service: FailingService, sdk: Sdk):
    service.answers = ["invalid_key"]
    track = sdk()

    for _ in range(3):
        track.lead(click_id="c1", email="jane@example.com")

    (line,) = sdk.logged()
    assert "invalid_key" in line
    assert KEY not in line
    assert "jane" not in line
