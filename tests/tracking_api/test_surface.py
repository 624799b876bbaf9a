"""What every call shares: CORS, methods, unknown addresses, probes, the status call, rate limits."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

import storage
import tracking_api.app
from configuration import Configuration
from storage.tables import clicks, refused_calls
from tests.tracking_api.conftest import UNLIMITED, Api
from tests.world import World
from web.middleware import RequestMiddleware

ORIGIN = {"Origin": "https://shop.example"}
CLOSED = [
    ("POST", "/api/v1/track/sale"),
    ("POST", "/api/v1/track/refund"),
    ("GET", "/api/v1/cli/status"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/openapi.json"),
]


@pytest.mark.parametrize("call", ["click", "lead"])
async def test_a_page_may_send_clicks_and_leads(api: Api, call: str):
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}

    preflight = await api.client.options(f"/api/v1/track/{call}", headers=ORIGIN | asked)
    rejected = await api.client.post(f"/api/v1/track/{call}", headers=ORIGIN, json={})

    assert preflight.status_code == 204
    assert "POST" in preflight.headers["access-control-allow-methods"]
    assert "content-type" in preflight.headers["access-control-allow-headers"].lower()
    for answer in (preflight, rejected):
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize(("method", "path"), CLOSED)
async def test_a_page_may_call_nothing_else(api: Api, method: str, path: str):
    asked = await api.client.options(path, headers={**ORIGIN, "Access-Control-Request-Method": method})
    called = await api.client.request(method, path, headers=ORIGIN)

    assert asked.status_code == 405
    assert [name for answer in (asked, called) for name in answer.headers if name.startswith("access-control")] == []


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/api/v1/track/click", {"POST", "HEAD", "OPTIONS"}),
        ("PUT", "/api/v1/track/lead", {"POST", "OPTIONS"}),
        ("GET", "/api/v1/track/sale", {"POST"}),
        ("DELETE", "/api/v1/track/refund", {"POST"}),
        ("POST", "/api/v1/cli/status", {"GET", "HEAD"}),
    ],
)
async def test_another_method_is_405_with_the_allowed_ones(api: Api, method: str, path: str, allowed: set[str]):
    answer = await api.client.request(method, path)

    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "method_not_allowed")
    assert set(answer.headers["allow"].split(", ")) == allowed


@pytest.mark.parametrize(
    "path", ["/nothing", "/api/v1/track", "/api/v1/track/sale/", "/api/v2/track/sale", "/etc/passwd"]
)
async def test_an_unknown_url_is_404(api: Api, path: str):
    answer = await api.client.get(path)

    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
    assert answer.json()["request_id"] == answer.headers["x-request-id"]


async def test_every_response_has_its_own_request_id(api: Api):
    ids = {(await api.client.get("/healthz")).headers["x-request-id"] for _ in range(3)}

    assert len(ids) == 3


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_the_probes_return_ok(api: Api, path: str):
    answer = await api.client.get(path)

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.fixture
def empty_url(tmp_path: Path) -> str:
    """The address of a database that is there and holds no table."""
    (tmp_path / "empty.db").touch()
    return f"sqlite+aiosqlite:///{tmp_path}/empty.db"


async def test_without_migrations_the_process_is_up_but_not_ready(empty_url: str):
    async with storage.opened(empty_url) as store:
        transport = httpx.ASGITransport(RequestMiddleware(tracking_api.app.create(store, UNLIMITED)))
        async with httpx.AsyncClient(transport=transport, base_url="http://svc.test") as client:
            up, ready = await client.get("/healthz"), await client.get("/readyz")

    assert (up.status_code, ready.status_code) == (200, 503)
    assert ready.json()["error"]["code"] == "storage_unavailable"
    assert ready.headers["retry-after"] == "2"


async def test_an_error_of_ours_is_500_without_a_trace(empty_url: str):
    async with storage.opened(empty_url) as store:
        app = RequestMiddleware(tracking_api.app.create(store, UNLIMITED))
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://svc.test") as client:
            body = {"program_id": 1, "affiliate_url": "https://acme.example/?aff=anna"}
            answer = await client.post("/api/v1/track/click", json=body)

    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal_error")
    assert "table" not in answer.text.lower()
    assert "Traceback" not in answer.text


async def test_the_status_shows_a_programs_health(api: Api):
    await api.click()
    await api.acme.customer("user-1")
    await api.sale()
    await api.lead(customer_key="nobody")

    status = await api.status()

    assert (status["program_id"], status["name"]) == (api.acme.program_id, "Acme partners")
    assert (status["domain"], status["lead_auth_policy"]) == ("acme.example", "server_required")
    assert status["recent_events"] == {"clicks_24h": 2, "leads_24h": 1, "sales_24h": 1}
    assert (status["active_partners"], status["pending_commissions"], status["refused_calls_24h"]) == (2, 1, 1)
    assert status["payment_account_connected"] is False
    assert status["rotate_by"] is None
    steps = {step["step"]: step["done"] for step in status["checklist"]}
    assert list(steps) == [
        *("tracker_installed", "test_click", "test_lead", "test_sale", "live_click", "live_lead", "live_sale")
    ]
    assert (steps["live_sale"], steps["test_sale"]) == (True, False)


async def test_the_next_action_of_the_tracker_is_the_line_to_copy(api: Api):
    tracker = (await api.status())["checklist"][0]

    assert tracker["step"] == "tracker_installed"
    tag = f'src="http://127.0.0.1:8000/js/svc-tracker.js" data-svc-program-id="{api.acme.program_id}"></script>'
    assert tag in tracker["next_action"]


async def test_the_status_masks_the_key(api: Api):
    answer = await api.client.get("/api/v1/cli/status", headers=api.keyed)

    masked = answer.json()["data"]["api_token_masked"]
    assert masked.startswith("aff_")
    assert masked.endswith(api.acme.key[-4:])
    assert api.acme.key not in answer.text


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer aff_wrong"}, {"Authorization": "Bearer agt_x"}])
async def test_the_status_needs_the_program_key(api: Api, headers: dict[str, str]):
    answer = await api.client.get("/api/v1/cli/status", headers=headers)

    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_key")


@pytest.fixture
async def limited(acme: World) -> AsyncIterator[Api]:
    """The tracking calls, with two clicks and two browser leads a minute."""
    made = Api(
        acme, Configuration(click_rate="2/minute", lead_rate="2/minute", keyed_rate="4/minute", body_seconds=0.05)
    )
    async with made.client:
        yield made


async def test_too_many_clicks_from_one_ip_address_are_429(limited: Api):
    answers = [await limited.click() for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[2].json()["error"]["code"] == "rate_limited"
    assert int(answers[2].headers["retry-after"]) == answers[2].json()["error"]["retry_after_seconds"]
    assert 1 <= int(answers[2].headers["retry-after"]) <= 60
    assert answers[2].headers["access-control-allow-origin"] == "*"
    assert await limited.count(clicks) == 2


async def test_each_program_has_its_own_limit(limited: Api):
    globex = await limited.beside()
    for _ in range(3):
        await limited.click()

    assert (await globex.click()).status_code == 200


async def test_browser_leads_are_limited_and_keyed_ones_are_not(limited: Api):
    click_id = (await limited.click()).json()["click_id"]

    browser = [(await limited.lead(key=None, click_id=click_id)).status_code for _ in range(3)]
    keyed = [(await limited.lead(click_id=click_id)).status_code for _ in range(3)]

    assert (browser, keyed) == ([200, 200, 429], [200, 200, 200])
    assert await limited.count(refused_calls) == 0


async def test_too_many_calls_with_one_key_are_429_and_reach_no_writer(limited: Api):
    other = await limited.beside()
    answers = [(await limited.sale(customer_key="unknown")).status_code for _ in range(6)]

    assert answers == [400, 400, 400, 400, 429, 429]
    assert await limited.count(refused_calls) == 4
    assert (await other.sale(customer_key="unknown")).status_code == 400
