"""GET /metrics: never open on the public port, and it counts what happened."""

import socket
from collections.abc import Iterator

import httpx
import pytest

from tests.serving import Serve
from web import measures

TOKEN = "a long and random token of Prometheus"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
CLICK = "/api/v1/track/click"


@pytest.fixture
def port() -> Iterator[int]:
    """A port of which the next one is free, too; it is taken itself."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield taken.getsockname()[1]


def values(text: str) -> dict[str, float]:
    """Return the samples of a scrape by their name with labels."""
    lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


def test_without_a_setting_the_path_is_not_found(sqlite_url: str, serve: Serve):
    service = serve(sqlite_url)

    assert httpx.get(f"{service.base_url}/metrics", headers=BEARER).status_code == 404


def test_the_public_port_wants_the_token(sqlite_url: str, serve: Serve):
    url = f"{serve(sqlite_url, SVC_METRICS_TOKEN=TOKEN).base_url}/metrics"

    sent = [None, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}, BEARER]
    assert [httpx.get(url, headers=headers).status_code for headers in sent] == [401, 401, 401, 200]
    assert httpx.get(url).json()["error"]["code"] == "invalid_credentials"
    assert httpx.post(url, headers=BEARER).status_code == 405
    assert httpx.get(f"{url}-and-more", headers=BEARER).status_code == 404


def test_requests_batches_and_rejected_calls_are_counted(sqlite_url: str, serve: Serve):
    service = serve(sqlite_url, SVC_METRICS_TOKEN=TOKEN)

    def scrape() -> dict[str, float]:
        return values(httpx.get(f"{service.base_url}/metrics", headers=BEARER).text)

    httpx.get(f"{service.base_url}/readyz")
    measures.count_round("a task", failed=False)
    before = scrape()
    httpx.post(f"{service.base_url}{CLICK}", json={"program_id": 77})
    httpx.get(f"{service.base_url}/no/such/page")
    httpx.get(f"{service.base_url}/readyz")
    after = scrape()

    assert {name: after[name] - before.get(name, 0) for name in COUNTED} == COUNTED
    assert all(after[name] > before.get(name, 0) for name in BATCHES)
    assert after["svc_lanes"] == after['svc_storage_available{purpose="writing"}'] == 1
    assert after["svc_reads_waiting"] == after["svc_writes_waiting"] == 0
    assert after['svc_background_rounds_total{result="done",task="a task"}'] == 1
    assert after['svc_background_done_timestamp_seconds{task="a task"}'] > 0
    assert after["process_resident_memory_bytes"] > 0


COUNTED = {
    f'svc_requests_total{{route="{CLICK}",status="400"}}': 1,
    f'svc_request_seconds_count{{route="{CLICK}"}}': 1,
    'svc_requests_total{route="none",status="404"}': 1,
    'svc_requests_total{route="/readyz",status="200"}': 1,
    'svc_requests_total{route="/metrics",status="200"}': 1,
    'svc_rejected_calls_total{code="affiliate_url_required"}': 1,
    'svc_rejected_calls_total{code="not_found"}': 1,
}
BATCHES = [
    'svc_batch_writes_sum{lane="0"}',
    'svc_commit_seconds_count{lane="0"}',
    'svc_write_wait_seconds_count{lane="0"}',
]


def test_a_port_of_its_own_needs_no_token_and_the_next_worker_takes_the_next_one(
    sqlite_url: str, serve: Serve, port: int
):
    service = serve(sqlite_url, SVC_METRICS_PORT=str(port))

    assert "svc_lanes 1.0" in httpx.get(f"http://127.0.0.1:{port + 1}/metrics").text
    assert httpx.get(f"{service.base_url}/metrics").status_code == 404
