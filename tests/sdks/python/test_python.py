"""What only Python's SDK has: threads that may hang, decimals, asyncio, and a thread that resends."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import svc_affiliate.django
import svc_affiliate.fastapi
import svc_affiliate.flask
from django.conf import settings
from django.http import HttpRequest
from fastapi import FastAPI
from flask import Flask
from starlette.testclient import TestClient
from svc_affiliate import AsyncTrack, ErrorCode, Status, TrackResult, delivery

from presentation import guides
from tests.failing import HANGS, Answer, FailingService
from tests.sdks.conftest import KEY, Sdk


def test_what_cannot_be_sent_is_a_result(service: FailingService, sdk: Sdk, monkeypatch: pytest.MonkeyPatch):
    not_json = sdk().sale(customer_key="user-1", amount_cents=Decimal("49.00"))
    misspelled = sdk(api_key=None, api_kye=KEY).lead(click_id="c1")
    monkeypatch.setattr(delivery, "_free", threading.Semaphore(0))  # as many hang as may
    crowded = sdk().lead(click_id="c1")

    assert (not_json.status, misspelled.status, crowded.status) == (Status.REJECTED, Status.FAILED, Status.FAILED)
    assert "api_kye" in "".join(sdk.logged())
    assert service.received == []


@pytest.mark.usefixtures("no_thread")
async def test_asyncio_has_the_same_results(service: FailingService, tmp_path: Path):
    wrong: Any = {"clickid": "c1"}
    track = AsyncTrack(base_url=service.base_url, api_key=KEY, timeout_seconds=0.3, outbox=tmp_path)
    visitor = track.of({"svc_click_id": "c1"})

    recorded: list[TrackResult[Any]] = [
        await visitor.lead(customer_key="user-1"),
        await visitor.sale(customer_key="user-1", amount_cents=100, transaction_id="inv-1"),
        await visitor.refund(transaction_id="inv-1", refund_id="re-1"),
    ]
    skipped, rejected = await track.lead(customer_key="user-1"), await track.lead(**wrong)
    service.answers = [HANGS]
    hung = await visitor.lead(customer_key="user-1")

    assert [result.status for result in recorded] == [Status.RECORDED] * 3
    assert [call.name for call in service.received] == ["lead", "sale", "refund", "lead"]
    assert (skipped.status, rejected.status, hung.status) == (Status.SKIPPED, Status.REJECTED, Status.QUEUED)
    assert (hung.error and hung.error.code) in {ErrorCode.TIMED_OUT, ErrorCode.SERVICE_UNREACHABLE}


@pytest.mark.usefixtures("no_thread")
def test_calls_that_several_workers_resend_arrive_once_each_and_a_full_outbox_fails_a_call(
    service: FailingService, sdk: Sdk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    service.answers = ["overloaded"]
    workers: list[Any] = [sdk(outbox=tmp_path) for _ in range(4)]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda worker: worker.lead(customer_key=workers.index(worker), known=True), workers))
        monkeypatch.setattr(delivery, "MOST_WAITING", 4)
        assert workers[0].lead(click_id="c1").status == Status.FAILED
        service.received.clear()
        service.answers = [Answer()]
        list(pool.map(lambda worker: worker.resend(), workers))
    workers[0].resend()

    assert sorted(sent.body["customer_key"] for sent in service.received) == ["0", "1", "2", "3"]


def test_what_waits_is_resent_later(service: FailingService, sdk: Sdk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(delivery, "SHORTEST_WAIT_SECONDS", 0.01)
    service.answers = ["invalid_key", Answer()]

    queued = sdk(outbox=tmp_path).lead(click_id="c1")
    for thread in threading.enumerate():
        if thread.name == "svc-outbox":
            thread.join()

    assert queued.status == Status.QUEUED
    assert len(service.received) == 2
    assert list(tmp_path.rglob("*.json")) == []
    assert re.fullmatch(r"127\.0\.0\.1-\d+-1", next(tmp_path.iterdir()).name)


async def test_the_guide_s_code_for_django_gives_a_request_its_visitor_and_settings_options(service: FailingService):
    settings.configure(SVC_AFFILIATE={"base_url": service.base_url, "api_key": KEY})
    request, user = HttpRequest(), SimpleNamespace(id="user-1", email="jane@example.com")
    request.COOKIES["svc_click_id"] = "c1"
    bought = {"invoice": SimpleNamespace(id="i-1"), "refund": SimpleNamespace(id="r-1")}
    names = {"request": request, "user": user, **bought}

    exec(guides.blocks("sdk", guides.Filling("https://svc.example", 1))["sdk_python"], names)
    asynchronous = await svc_affiliate.django.atrack(request).lead(customer_key="user-1")

    assert asynchronous.status == Status.RECORDED
    assert [call.name for call in service.received] == ["lead", "sale", "refund", "lead"]
    assert [call.body.get("click_id") for call in service.received] == ["c1", "c1", None, "c1"]


def test_flask_and_fastapi_give_a_request_its_visitor_and_the_app_s_options(service: FailingService):
    options = {"base_url": service.base_url, "api_key": KEY}
    flask, fastapi = Flask(__name__), FastAPI()
    flask.config["SVC_AFFILIATE"] = fastapi.state.svc_affiliate = options

    @flask.post("/sign-up")
    def sign_up() -> str:
        return svc_affiliate.flask.track().lead(customer_key="user-1").status

    @fastapi.post("/sign-up")
    async def sign_up_too(track: svc_affiliate.fastapi.Tracking) -> str:
        return (await track.lead(customer_key="user-2")).status

    for client in (flask.test_client(use_cookies=False), TestClient(fastapi)):
        for headers in ({}, {"Cookie": "theme=dark; svc_click_id=c1"}):
            assert client.post("/sign-up", headers=headers).status_code == 200
    assert [call.body for call in service.received] == [
        {"click_id": "c1", "customer_key": "user-1"},
        {"click_id": "c1", "customer_key": "user-2"},
    ]
