"""What calls send and return: they never raise, end in an outage, are repeated at most once, and are logged once."""

from pathlib import Path
from typing import Any

import pytest
from svc_affiliate import ErrorCode, Status

from storage.rules.errors import BY_CODE
from tests import failing
from tests.failing import BROKEN, CUTS, DRIPS, HANGS, Answer, FailingService
from tests.generated import LOCAL
from tests.postgres import free_port
from tests.sdks.conftest import KEY, Sdk

UNATTRIBUTED = {
    *("customer_not_found", "attribution_window_expired", "customer_not_attributed"),
    *("sale_before_click", "status_transition_refused", "transaction_not_found"),
}
SERVED = sorted(set(ErrorCode) - LOCAL.keys())
NOT_THE_SERVICE = {
    "404": Answer(404, b"<h1>Nothing here"),
    **{fault: failing.answer(fault) for fault in BROKEN if fault not in {CUTS, "html"}},
    "nothing": Answer(200, b"{}"),
    "another error": Answer(400, b'{"error": "no"}'),
    "redirect": Answer(302, b"", {"Location": "/login"}),
}


def test_a_call_carries_the_key_and_ids_that_make_it_repeatable(service: FailingService, sdk: Sdk):
    sold = sdk(base_url=f"{service.base_url}/").sale(customer_key=7, amount_cents=4900)

    (sent,) = service.received
    assert (sold.status, sold.ok, sold.call) == (Status.RECORDED, True, "sale")
    assert sent.path == "/api/v1/track/sale"
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert "idempotency-key" not in sent.headers
    assert sent.body == {"customer_key": "7", "amount_cents": 4900, "transaction_id": sold.transaction_id}


def test_nothing_is_sent_for_a_visitor_without_a_click_or_known_key(service: FailingService, sdk: Sdk):
    track = sdk()
    strangers = [
        track.lead(click_id=None, customer_key="user-1"),
        track.lead(click_id="", email="jane@example.com"),
        track.sale(click_id=None, customer_key=None, amount_cents=100),
    ]
    assert service.received == []

    ours = [
        track.lead(customer_key="user-1", known=True),
        track.lead(click_id="c1"),
        track.sale(customer_key="user-1", amount_cents=100),
        track.refund(transaction_id="inv-1"),
    ]

    assert {(result.status, result.ok) for result in strangers} == {(Status.SKIPPED, True)}
    assert {(result.status, result.ok) for result in ours} == {(Status.RECORDED, True)}
    assert [sent.name for sent in service.received] == ["lead", "lead", "sale", "refund"]
    assert all("known" not in sent.body for sent in service.received)


def test_every_error_is_a_result_with_its_code_and_no_fault_without_a_partner(service: FailingService, sdk: Sdk):
    track = sdk()
    for code in SERVED:
        service.answers = [failing.answer(code)]

        result = track.sale(customer_key="user-1", amount_cents=1, transaction_id="inv-1")

        assert result.ok == (code in UNATTRIBUTED)
        assert (result.status == Status.UNATTRIBUTED) == result.ok
        assert result.status in {Status.UNATTRIBUTED, Status.REJECTED, Status.FAILED}
        assert result.error is not None
        assert result.error.code is ErrorCode(code)
        assert (result.error.message, result.error.hint) == (BY_CODE[code].message, BY_CODE[code].hint)
        assert result.error.request_id == "0" * 24
    service.answers = [Answer(400, b'{"error": {"code": "brand_new", "message": "New."}}')]
    newer = track.refund(transaction_id="inv-1")
    assert (newer.status, newer.error and newer.error.code) == (Status.REJECTED, "brand_new")


@pytest.mark.parametrize(("same", "status"), [(True, Status.RECORDED), (False, Status.REJECTED)])
def test_a_sale_that_is_recorded_already_is_recorded(*, same: bool, status: Status, service: FailingService, sdk: Sdk):
    existing = {"eventId": 5, "recorded_at": "2026-05-20T12:00:00Z"}
    service.answers = [failing.answer("duplicate_transaction", same_payload=same, existing=existing)]

    result = sdk().sale(customer_key="user-1", amount_cents=1, transaction_id="inv-1")

    assert (result.status, result.already_recorded) == (status, same)
    assert not same or result.data["eventId"] == 5


def test_an_unknown_field_a_missing_key_and_a_service_that_is_down_are_results(service: FailingService, sdk: Sdk):
    results = [
        sdk().lead(clickid="c1"),
        sdk().refund(transaction_id="inv-1", amount_cents=5),
        sdk(api_key=None).lead(click_id="c1"),
        sdk(base_url=f"http://127.0.0.1:{free_port()}").lead(click_id="c1"),
    ]

    assert [(result.status, result.ok, result.error and result.error.code) for result in results] == [
        (Status.REJECTED, False, ErrorCode.VALIDATION_ERROR),
        (Status.REJECTED, False, ErrorCode.VALIDATION_ERROR),
        (Status.FAILED, False, ErrorCode.NOT_CONFIGURED),
        (Status.FAILED, False, ErrorCode.SERVICE_UNREACHABLE),
    ]
    assert service.received == []


def test_test_mode_marks_calls_and_needs_no_click(service: FailingService, sdk: Sdk, monkeypatch: pytest.MonkeyPatch):
    sdk(test_mode=True).lead(event_name="trial")
    monkeypatch.setenv("SERVICE_TEST_MODE", "1")
    sdk().refund(transaction_id="inv-1", refund_id="re-1")

    assert [sent.body for sent in service.received] == [
        {"additional_data": {"test_mode": True, "event_name": "trial"}},
        {"transaction_id": "inv-1", "refund_id": "re-1", "additional_data": {"test_mode": True}},
    ]


def test_the_environment_wins_over_the_project_s_file_and_a_new_key_counts_at_once(
    service: FailingService, sdk: Sdk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / ".svc").mkdir()
    (tmp_path / "app").mkdir()
    monkeypatch.chdir(tmp_path / "app")
    track = sdk(base_url=None, api_key=None)

    for key in ("aff_1_old", "aff_1_new"):
        (tmp_path / ".svc/.env").write_text(f"SERVICE_BASE_URL='{service.base_url}'\nSERVICE_API_KEY={key}\n")
        track.lead(click_id="c1")
    monkeypatch.setenv("SERVICE_API_KEY", "aff_1_environment")
    track.lead(click_id="c1")

    sent = [received.headers["authorization"].rpartition("_")[2] for received in service.received]
    assert sent == ["old", "new", "environment"]


@pytest.mark.parametrize(("fault", "options"), [(HANGS, {}), (DRIPS, {"timeout_seconds": 0.3})])
def test_a_call_ends_while_the_service_goes_on(fault: str, options: dict[str, Any], service: FailingService, sdk: Sdk):
    service.answers = [fault]

    result = sdk(**options).lead(click_id="c1")

    assert (result.status, result.ok) == (Status.FAILED, False)
    assert (result.error and result.error.code) in {ErrorCode.TIMED_OUT, ErrorCode.SERVICE_UNREACHABLE}


def test_one_retry_sends_the_same_ids_unless_it_would_fail_again_or_too_late(service: FailingService, sdk: Sdk):
    track, hopeless = sdk(), ("invalid_key", "rate_limited", "validation_error")

    for fault in (CUTS, "html", "internal_error"):
        service.answers = [fault, Answer()]
        service.received.clear()
        assert track.sale(customer_key="user-1", amount_cents=1).status == Status.RECORDED, fault
        first, second = service.received
        assert first.body == second.body, fault
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
        assert (result.error and result.error.code) == ErrorCode.NOT_THE_SERVICE, name
    assert {call.path for call in service.received} == {"/api/v1/track/lead"}  # the key follows no redirect


def test_a_warning_and_an_outage_are_logged_once_and_without_the_key(service: FailingService, sdk: Sdk):
    warning = b'{"code": "api_key_rotation_required", "message": "Rotate.", "hint": "Ask.", "rotate_by": "2026-06-01"}'
    track = sdk()

    for answer in (Answer(200, b'{"success": true, "warnings": [%s]}' % warning), "invalid_key"):
        service.answers = [answer]
        for _ in range(3):
            track.lead(click_id="c1", email="jane@example.com")

    rotation, outage = sdk.logged()
    assert rotation.removeprefix("svc-affiliate: ") == "api_key_rotation_required: Rotate. Ask."
    assert "invalid_key" in outage
    assert KEY not in outage
    assert "jane" not in outage


def test_a_dry_run_says_so_and_never_waits_in_the_outbox(service: FailingService, sdk: Sdk, tmp_path: Path):
    outbox = tmp_path / "outbox"
    track = sdk(dry_run=True, outbox=str(outbox))
    said = b'{"success": true, "dry_run": true, "data": {"commission_cents": 980}}'
    service.answers = [Answer(200, said), Answer(503, b'{"error": {"code": "overloaded", "message": "Later."}}')]

    dry = track.sale(customer_key=7, amount_cents=4900)
    lost = track.sale(customer_key=7, amount_cents=4900)

    assert {sent.headers["svc-dry-run"] for sent in service.received} == {"true"}
    assert (dry.status, dry.dry_run, dry.data) == (Status.RECORDED, True, {"commission_cents": 980})
    assert (lost.status, track.resend(), list(outbox.rglob("*"))) == (Status.FAILED, 0, [])
