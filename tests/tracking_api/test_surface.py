"""What every call shares: CORS, methods, unknown addresses, probes, the status call, rate limits."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

import storage
import tracking_api.app
from configuration import Configuration
from presentation.operations import DescribedRoute
from storage.engine import read_queue
from storage.tables import clicks, refused_calls
from tests import documented
from tests.busy import Busy
from tests.tracking_api.conftest import UNLIMITED, Api
from tests.world import LANDING_PAGE
from tracking_api.app import ROUTES

ORIGIN = {"Origin": "https://shop.example"}
OPEN = {"/api/v1/track/click", "/api/v1/track/lead", "/js/{name}"}  # and a program's own pages: test_handover.py
OPERATIONS = {route.path: set(route.descriptions) for route in ROUTES if isinstance(route, DescribedRoute)}


async def test_a_page_may_send_clicks_and_leads(api: Api):
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}

    for call in ("click", "lead"):
        preflight = await api.client.options(f"/api/v1/track/{call}", headers=ORIGIN | asked)
        rejected = await api.client.post(f"/api/v1/track/{call}", headers=ORIGIN, json={})

        assert preflight.status_code == 204
        assert "POST" in preflight.headers["access-control-allow-methods"]
        assert "content-type" in preflight.headers["access-control-allow-headers"].lower()
        for answer in (preflight, rejected):
            assert answer.headers["access-control-allow-origin"] == "*"
            assert "access-control-allow-credentials" not in answer.headers


async def test_a_page_may_call_nothing_else(api: Api):
    for path in OPERATIONS.keys() - OPEN:
        for method in OPERATIONS[path]:
            asked = await api.client.options(path, headers={**ORIGIN, "Access-Control-Request-Method": method})
            called = await api.client.request(method, path, headers=ORIGIN)
            sent = [name for answer in (asked, called) for name in answer.headers if name.startswith("access-control")]
            assert (asked.status_code, sent) == (400 if "OPTIONS" in OPERATIONS[path] else 405, []), path


async def test_another_method_is_405_with_the_allowed_ones(api: Api):
    for path, methods in OPERATIONS.items():
        answer = await api.client.request("TRACE", path)

        assert (answer.status_code, answer.json()["error"]["code"]) == (405, "method_not_allowed"), path
        implied = {"HEAD"} if "GET" in methods else set()
        assert set(answer.headers["allow"].split(", ")) == methods | implied, path


async def test_an_unknown_url_is_404_with_a_request_id_of_its_own(api: Api):
    paths = ("/nothing", "/api/v1/track", "/api/v1/track/sale/", "/api/v2/track/sale", "/etc/passwd")
    answers = [await api.client.get(path) for path in paths]

    assert [(each.status_code, each.json()["error"]["code"]) for each in answers] == [(404, "not_found")] * 5
    assert all(each.json()["request_id"] == each.headers["x-request-id"] for each in answers)
    assert len({each.headers["x-request-id"] for each in answers}) == 5


@pytest.fixture
async def empty(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """The tracking calls over a database that is there and holds no table."""
    (tmp_path / "empty.db").touch()
    async with storage.opened(f"sqlite+aiosqlite:///{tmp_path}/empty.db") as store:
        app = tracking_api.app.create(store, UNLIMITED)
        async with documented.client(documented.transport_to(app, raise_app_exceptions=False)) as client:
            yield client


async def test_without_migrations_the_process_is_up_but_not_ready_and_an_error_is_500_without_a_trace(
    api: Api, empty: httpx.AsyncClient
):
    probes = [await client.get(path) for client in (api.client, empty) for path in ("/healthz", "/readyz")]

    assert [answer.status_code for answer in probes] == [200, 200, 200, 503]
    assert probes[0].json() == probes[1].json() == {"status": "ok"}
    ready = probes[3]
    assert ready.json()["error"]["code"] == "storage_unavailable"
    assert ready.headers["retry-after"] == "2"
    failed = await empty.post("/api/v1/track/click", json={"program_id": 1, "affiliate_url": LANDING_PAGE})
    assert (failed.status_code, failed.json()["error"]["code"]) == (500, "internal_error")
    assert not any(word in failed.text for word in ("table", "Traceback"))


async def test_the_status_shows_a_programs_health(api: Api):
    first_step = (await api.status())["checklist"][0]
    await api.click()
    await api.acme.customer("user-1")
    await api.sale()
    await api.lead(customer_key="nobody")

    answer = await api.client.get("/api/v1/cli/status", headers=api.keyed)

    status, masked = answer.json()["data"], f"aff_••••{api.acme.key[-4:]}"
    assert (status["api_token_masked"], api.acme.key in answer.text) == (masked, False)
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
    tag = f'src="http://127.0.0.1:8000/js/svc-tracker.js" data-svc-program-id="{api.acme.program_id}"></script>'
    assert (first_step["step"], tag in first_step["next_action"]) == ("tracker_installed", True)


RATES = Configuration(click_rate="2/minute", lead_rate="2/minute", keyed_rate="4/minute", body_seconds=0.05)


@pytest.mark.parametrize("api", [RATES], indirect=True)
async def test_the_calls_of_each_program_have_limits_of_their_own(api: Api):
    other = await api.beside()
    click_id = await api.acme.visitor()

    clicked = [(await each.click()).status_code for each in (api, api, api, other)]
    browser = [(await api.lead(key=None, click_id=click_id)).status_code for _ in range(3)]
    keyed = [(await api.lead(click_id=click_id)).status_code for _ in range(3)]
    rejected = [(await api.sale(customer_key="unknown")).status_code for _ in range(3)]

    assert (clicked, await api.count(clicks)) == ([200, 200, 429, 200], 4)
    assert (browser, keyed) == ([200, 200, 429], [200, 200, 200])
    assert (rejected, await api.count(refused_calls)) == ([400, 429, 429], 1)  # they reach no writer
    assert (await other.sale(customer_key="unknown")).status_code == 400


async def test_a_read_that_waits_too_long_gets_503_with_retry_after(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(read_queue, "LONGEST_WAIT_SECONDS", 0.01)

    async with Busy(api.acme.store):
        answer = await api.client.get("/api/v1/cli/status", headers=api.keyed)
        clicked = await api.click()

    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "overloaded")
    assert answer.headers["Retry-After"] == "1"
    assert clicked.status_code == 200
