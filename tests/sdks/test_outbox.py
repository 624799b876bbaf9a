"""The outbox: what cannot be sent waits in a folder, and is sent in order when the service or a new key is there."""

import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from svc_affiliate import Status, Track, outbox, resending

from tests.postgres import free_port
from tests.sdks.conftest import Sdk
from tests.sdks.reporting import KEY
from tests.sdks.stub import HANGS, Canned, Stub, rejection

OUTAGES = {
    "overloaded": rejection("overloaded"),
    "the database is out": rejection("storage_unavailable"),
    "an unknown outcome": rejection("outcome_unknown"),
    "rate limited": rejection("rate_limited"),
    "a gateway without the service": Canned(502, "<h1>Bad gateway"),
    "a replaced key": rejection("invalid_key"),
    "a key past its deadline": rejection("api_key_rotation_required"),
}


@pytest.fixture(autouse=True)
def _no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Resend only when a test says so."""
    monkeypatch.setattr(resending.Resender, "start", lambda *_: None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "outbox"


def waiting(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.json"))


@pytest.mark.parametrize("outage", OUTAGES)
def test_a_call_waits_through_an_outage_and_then_arrives_with_the_same_ids(
    outage: str, service: Stub, sdk: Sdk, folder: Path
):
    service.answers = [OUTAGES[outage]]
    track = sdk(outbox=folder)

    queued = track.sale(customer_key="user-1", amount_cents=4900)
    still = track.resend()
    service.answers = [Canned()]
    left = track.resend()

    assert (queued.status, queued.ok, still, left) == (Status.QUEUED, True, 1, 0)
    assert queued.error is not None
    assert len({sent.headers["Idempotency-Key"] for sent in service.received}) == 1
    assert len({str(sent.body) for sent in service.received}) == 1
    assert queued.transaction_id == service.received[-1].body["transaction_id"]
    assert waiting(folder) == []


def test_a_call_waits_while_nothing_listens(sdk: Sdk, folder: Path):
    queued = sdk(base_url=f"http://127.0.0.1:{free_port()}", outbox=folder).lead(click_id="c1")

    assert queued.status == Status.QUEUED
    assert len(waiting(folder)) == 1


def test_a_rotation_loses_nothing(service: Stub, sdk: Sdk, folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SERVICE_API_KEY", "aff_1_old")
    track = sdk(outbox=folder, api_key=None)
    service.answers = [rejection("invalid_key")]
    track.lead(click_id="c1", customer_key="user-1")
    track.sale(customer_key="user-1", amount_cents=100)

    monkeypatch.setenv("SERVICE_API_KEY", "aff_1_new")
    service.answers = [Canned()]

    assert track.resend() == 0
    assert [(sent.call, sent.headers["Authorization"]) for sent in service.received[-2:]] == [
        ("lead", "Bearer aff_1_new"),
        ("sale", "Bearer aff_1_new"),
    ]


def test_a_sale_does_not_overtake_the_lead_that_waits(service: Stub, sdk: Sdk, folder: Path):
    track = sdk(outbox=folder)
    service.answers = [rejection("storage_unavailable")]
    track.lead(click_id="c1", customer_key="user-1")
    service.answers = [Canned()]

    sold = track.sale(customer_key="user-1", amount_cents=100)
    service.received.clear()
    track.resend()

    assert sold.status == Status.QUEUED
    assert [sent.call for sent in service.received] == ["lead", "sale"]


def test_a_call_that_succeeds_after_its_timeout_leaves_the_outbox(service: Stub, sdk: Sdk, folder: Path):
    service.answers = [HANGS]
    track = sdk(outbox=folder, timeout_seconds=0.1)
    assert track.lead(click_id="c1").status == Status.QUEUED

    service.answers = [Canned()]

    assert track.resend() == 0
    assert len({sent.headers["Idempotency-Key"] for sent in service.received}) == 1


def test_a_rejected_call_is_set_aside_and_the_next_goes_on(service: Stub, sdk: Sdk, folder: Path):
    track = sdk(outbox=folder)
    service.answers = [rejection("overloaded")]
    track.sale(customer_key="user-1", amount_cents=100, currency="XTS", transaction_id="inv-1")
    track.sale(customer_key="user-1", amount_cents=100, transaction_id="inv-2")

    service.answers = [rejection("currency_not_supported"), Canned()]

    assert track.resend() == 0
    assert ["inv-1" in path.read_text() for path in folder.rglob("*.rejected")] == [True]


def test_a_call_at_which_the_service_fails_does_not_hold_up_the_others(service: Stub, sdk: Sdk, folder: Path):
    track = sdk(outbox=folder)
    service.answers = [rejection("overloaded")]
    for number in (1, 2):
        track.sale(customer_key="user-1", amount_cents=100, transaction_id=f"inv-{number}")

    service.answers = [rejection("internal_error"), rejection("internal_error"), Canned()]

    assert track.resend() == 1
    assert service.received[-1].body["transaction_id"] == "inv-2"


def test_what_waits_for_one_program_is_not_sent_to_another(service: Stub, sdk: Sdk, folder: Path):
    service.answers = [rejection("overloaded")]
    sdk(outbox=folder, api_key="aff_7_sandbox").lead(click_id="c1")
    service.answers = [Canned()]

    live = sdk(outbox=folder, api_key="aff_1_live")

    assert live.lead(click_id="c2").status == Status.RECORDED
    assert live.resend() == 0
    assert len(waiting(folder)) == 1


def test_only_its_owner_reads_what_waits(service: Stub, sdk: Sdk, folder: Path):
    service.answers = [rejection("overloaded")]
    sdk(outbox=folder).lead(click_id="c1", email="jane@example.com")

    (path,) = waiting(folder)
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert KEY not in path.read_text()


def test_an_outbox_that_cannot_be_written_fails_the_call_only(service: Stub, sdk: Sdk, tmp_path: Path):
    service.answers = [rejection("overloaded")]
    (tmp_path / "file").write_text("not a folder")

    assert sdk(outbox=tmp_path / "file").lead(click_id="c1").status == Status.FAILED


def test_a_full_outbox_fails_the_call_only(service: Stub, folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(outbox, "MOST_WAITING", 1)
    service.answers = [rejection("overloaded")]
    track = Track(base_url=service.base_url, api_key=KEY, outbox=folder)

    assert [track.lead(click_id="c1").status for _ in range(2)] == [Status.QUEUED, Status.FAILED]


def test_one_process_resends_at_a_time(service: Stub, sdk: Sdk, folder: Path):
    track = sdk(outbox=folder)
    service.answers = [rejection("overloaded")]
    track.lead(click_id="c1")
    lock = waiting(folder)[0].parent / "lock"
    service.answers = [Canned()]

    lock.touch()
    while_locked = track.resend()
    old = (datetime.now() - timedelta(minutes=2)).timestamp()  # noqa: DTZ005 - a file's time
    os.utime(lock, (old, old))  # its process has ended

    assert (while_locked, track.resend()) == (1, 0)
    assert not lock.exists()


def test_calls_that_several_workers_resend_arrive_once_each(service: Stub, folder: Path):
    service.answers = [rejection("overloaded")]
    workers = [Track(base_url=service.base_url, api_key=KEY, outbox=folder) for _ in range(4)]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda worker: worker.lead(customer_key=workers.index(worker), known=True), workers))
        service.received.clear()
        service.answers = [Canned()]
        list(pool.map(Track.resend, workers))
    workers[0].resend()

    assert sorted(sent.body["customer_key"] for sent in service.received) == ["0", "1", "2", "3"]


def test_what_waits_is_resent_in_the_background(service: Stub, folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.undo()
    monkeypatch.setattr(resending, "SHORTEST_WAIT_SECONDS", 0.01)
    service.answers = [rejection("invalid_key"), Canned()]
    track = Track(base_url=service.base_url, api_key=KEY, outbox=folder)

    queued = track.lead(click_id="c1")
    thread = next(each for each in threading.enumerate() if each.name == "svc-outbox")
    thread.join(timeout=20)

    assert queued.status == Status.QUEUED
    assert len(service.received) == 2
    assert waiting(folder) == []
    assert re.fullmatch(r"127\.0\.0\.1-\d+-1", next(folder.iterdir()).name)
