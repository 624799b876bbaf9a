"""The outbox: what cannot be sent waits in a folder, and is sent in order when the service or a new key is there."""

import os
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from svc_affiliate import Status

from tests.failing import HANGS, Answer, FailingService
from tests.sdks.conftest import KEY, Sdk

pytestmark = pytest.mark.usefixtures("no_thread")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "outbox"


def waiting(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.json"))


@pytest.mark.parametrize("outage", ["storage_unavailable", "rate_limited", "html", "invalid_key", HANGS])
def test_a_call_waits_out_an_outage_and_keeps_its_ids(outage: str, service: FailingService, sdk: Sdk, folder: Path):
    service.answers = [outage]
    track = sdk(outbox=folder, timeout_seconds=0.3)

    queued = track.sale(customer_key="user-1", amount_cents=4900)
    still = track.resend()
    service.answers = [Answer()]
    left = track.resend()

    assert (queued.status, queued.ok, still, left) == (Status.QUEUED, True, 1, 0)
    assert len({str(sent.body) for sent in service.received}) == 1
    assert queued.transaction_id == service.received[-1].body["transaction_id"]
    assert waiting(folder) == []


def test_a_rotation_loses_nothing_and_a_sale_does_not_overtake_the_lead_that_waits(
    service: FailingService, sdk: Sdk, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SERVICE_API_KEY", "aff_1_old")
    track = sdk(outbox=folder, api_key=None)
    service.answers = ["invalid_key"]
    track.lead(click_id="c1", customer_key="user-1")
    service.answers = [Answer()]
    sold = track.sale(customer_key="user-1", amount_cents=100)
    service.received.clear()
    monkeypatch.setenv("SERVICE_API_KEY", "aff_1_new")

    assert (sold.status, track.resend()) == (Status.QUEUED, 0)
    sent = [(call.name, call.headers["authorization"]) for call in service.received]
    assert sent == [("lead", "Bearer aff_1_new"), ("sale", "Bearer aff_1_new")]


def test_a_rejected_call_is_set_aside_and_one_that_fails_holds_up_none(service: FailingService, sdk: Sdk, folder: Path):
    track = sdk(outbox=folder)
    service.answers = ["overloaded"]
    for number in (1, 2, 3):
        track.sale(customer_key="user-1", amount_cents=100, transaction_id=f"inv-{number}")

    service.answers = ["currency_not_supported", "internal_error", "internal_error", Answer()]

    assert track.resend() == 1
    assert ["inv-1" in path.read_text() for path in folder.rglob("*.rejected")] == [True]
    assert service.received[-1].body["transaction_id"] == "inv-3"
    assert ["inv-2" in path.read_text() for path in waiting(folder)] == [True]


def test_what_waits_for_one_program_is_not_sent_to_another(service: FailingService, sdk: Sdk, folder: Path):
    service.answers = ["overloaded"]
    sdk(outbox=folder, api_key="aff_7_sandbox").lead(click_id="c1")
    service.answers = [Answer()]

    live = sdk(outbox=folder, api_key="aff_1_live")

    assert live.lead(click_id="c2").status == Status.RECORDED
    assert live.resend() == 0
    assert len(waiting(folder)) == 1


def test_only_its_owner_reads_what_waits_and_an_outbox_that_cannot_be_written_fails_the_call_only(
    service: FailingService, sdk: Sdk, folder: Path
):
    service.answers = ["overloaded"]
    sdk(outbox=folder).lead(click_id="c1", email="jane@example.com")

    (path,) = waiting(folder)
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert KEY not in path.read_text()
    assert sdk(outbox=path).lead(click_id="c1").status == Status.FAILED  # a file is no folder


def test_one_process_resends_at_a_time(service: FailingService, sdk: Sdk, folder: Path):
    track = sdk(outbox=folder)
    service.answers = ["overloaded"]
    track.lead(click_id="c1")
    lock = waiting(folder)[0].parent / "lock"
    service.answers = [Answer()]

    lock.touch()
    while_locked = track.resend()
    old = (datetime.now() - timedelta(minutes=2)).timestamp()  # noqa: DTZ005 - a file's time
    os.utime(lock, (old, old))  # its process has ended

    assert (while_locked, track.resend()) == (1, 0)
    assert not lock.exists()
