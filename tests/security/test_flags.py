"""Fraud over HTTP: a partner who cheats is not paid, an agent sees why, and another program's flags stay private."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

import agent_api.app
import storage
import tracking_api.app
from configuration import Configuration
from storage.access import agent_keys, workspaces
from storage.engine.audit import Actor
from storage.management import partners
from storage.rules.scope import Scope
from tests import world
from tests.world import LANDING_PAGE, NOW, World
from web.middleware import RequestMiddleware

EMAIL = "Mallory@partners.example"


class Shop:
    """Acme's program, reached as the public, its server and its agents reach it."""

    def __init__(self, acme: World) -> None:
        self.acme = acme
        settings = Configuration(rate_limit=False)
        tracking = tracking_api.app.create(acme.store, settings, clock=lambda: NOW)
        agents = agent_api.app.create(acme.store, base_url="http://svc.test", clock=lambda: NOW)
        self.public = self._client(tracking)
        self.agents = self._client(agents)
        self.agent_key = ""

    def _client(self, app: Any) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.ASGITransport(RequestMiddleware(app)), base_url="http://svc.test")

    async def buy(self, number: int, email: str) -> int:
        """Have a visitor of Anna's link sign up and buy; return the commission."""
        keyed = {"Authorization": f"Bearer {self.acme.key}"}
        sent = {"program_id": self.acme.program_id, "affiliate_url": LANDING_PAGE}
        clicked = (await self.public.post("/api/v1/track/click", json=sent)).json()
        who = {"click_id": clicked["click_id"], "customer_key": f"user-{number}"}
        await self.public.post("/api/v1/track/lead", json={**who, "email": email}, headers=keyed)
        sale = {**who, "transaction_id": f"inv-{number}", "amount_cents": 10_000}
        sold = (await self.public.post("/api/v1/track/sale", json=sale, headers=keyed)).json()
        commission_id: int = sold["data"]["commission_id"]
        return commission_id

    async def agent(self, method: str, path: str, *, key: str | None = None, **options: Any) -> httpx.Response:
        """Call a path under Acme's program with an agent key."""
        url = f"/api/agent/v1/programs/{self.acme.program_id}/{path}"
        headers = {"Authorization": f"Bearer {key or self.agent_key}"}
        return await self.agents.request(method, url, headers=headers, **options)

    async def key(self, workspace_id: int, *scopes: Scope) -> str:
        issued = await self.acme.store.write(agent_keys.issue, workspace_id, name="Reviewer", scopes=scopes, at=NOW)
        secret: str = issued.secret
        return secret


@pytest.fixture
async def shop(sqlite_url: str) -> AsyncIterator[Shop]:
    """Acme without a hold period, where Anna is Mallory."""
    async with storage.opened(sqlite_url) as store:
        acme = await world.acme(store, hold_days=0)
        changes, actor = {"email": EMAIL}, Actor("user", "1", "owner@acme.example")
        await store.write(partners.change, acme.program_id, acme.anna, changes, actor=actor, at=NOW)
        made = Shop(acme)
        made.agent_key = await made.key(acme.workspace_id, *Scope)
        async with made.public, made.agents:
            yield made


async def test_a_partner_is_not_paid_for_their_own_purchase(shop: Shop):
    commission_id = await shop.buy(1, EMAIL.lower())

    approved = await shop.agent("PATCH", f"commissions/{commission_id}", json={"status": "approved"})

    assert approved.status_code == 409
    error = approved.json()["error"]
    assert (error["code"], error["flags"]) == ("commission_flagged", ["self_referral"])
    (flag,) = (await shop.agent("GET", "flags")).json()["data"]
    assert (flag["kind"], flag["state"], flag["evidence"]) == ("self_referral", "open", {"same": "email"})
    assert (flag["commission_id"], flag["partner"]["code"]) == (commission_id, "anna")
    assert flag["reason"]
    (commission,) = (await shop.agent("GET", "commissions")).json()["data"]
    assert commission["flags"] == ["self_referral"]
    counts = {each["code"]: each["open_flags"] for each in (await shop.agent("GET", "partners")).json()["data"]}
    assert counts == {"anna": 1, "ben": 0}


async def test_confirming_rejects_and_dismissing_releases(shop: Shop):
    for number, state, status in ((1, "confirmed", "rejected"), (2, "dismissed", "pending")):
        commission_id = await shop.buy(number, EMAIL)
        await shop.agent("PATCH", f"commissions/{commission_id}", json={"status": "approved"})
        flag = (await shop.agent("GET", "flags?state=open")).json()["data"][0]

        decided = await shop.agent("PATCH", f"flags/{flag['id']}", json={"state": state, "reason": "Looked into it."})

        assert (decided.status_code, decided.json()["state"]) == (200, state)
        stored = {each["id"]: each["status"] for each in (await shop.agent("GET", "commissions")).json()["data"]}
        assert stored[commission_id] == status
    released = await shop.agent("PATCH", f"commissions/{commission_id}", json={"status": "approved"})
    assert released.status_code == 200


async def test_an_honest_customer_is_approved(shop: Shop):
    commission_id = await shop.buy(1, "jane@mail.example")

    approved = await shop.agent("PATCH", f"commissions/{commission_id}", json={"status": "approved"})

    assert approved.status_code == 200
    assert (await shop.agent("GET", "flags")).json() == {"data": [], "next_cursor": None}


async def test_flags_need_their_scopes_and_their_program(shop: Shop):
    commission_id = await shop.buy(1, EMAIL)
    await shop.agent("PATCH", f"commissions/{commission_id}", json={"status": "approved"})
    (flag,) = (await shop.agent("GET", "flags")).json()["data"]
    reader = await shop.key(shop.acme.workspace_id, Scope.COMMISSIONS_READ)
    events = await shop.key(shop.acme.workspace_id, Scope.EVENTS_READ)
    other = await shop.acme.store.write(
        workspaces.create, "Globex", owner_email="gina@globex.example", password_hash="not a hash", at=NOW
    )
    stranger = await shop.key(other.workspace_id, *Scope)
    path, decision = f"flags/{flag['id']}", {"json": {"state": "dismissed"}}

    codes = [
        (await shop.agent("GET", "flags", key=events)).json()["error"]["code"],
        (await shop.agent("PATCH", path, key=reader, **decision)).json()["error"]["code"],
        (await shop.agent("GET", "flags", key=stranger)).json()["error"]["code"],
        (await shop.agent("PATCH", path, key=stranger, **decision)).json()["error"]["code"],
    ]

    assert codes == ["insufficient_scope", "insufficient_scope", "program_not_allowed", "program_not_allowed"]
    assert (await shop.agent("GET", "flags", key=reader)).json()["data"][0]["state"] == "open"


@pytest.mark.parametrize(
    "body", [{"state": "open"}, {"state": "gone"}, {}, {"state": "dismissed", "reason": "x" * 513}]
)
async def test_a_decision_is_dismissed_or_confirmed(shop: Shop, body: dict[str, Any]):
    rejected = await shop.agent("PATCH", "flags/1", json=body)

    assert (rejected.status_code, rejected.json()["error"]["code"]) == (400, "validation_error")


async def test_an_unknown_flag_is_not_found(shop: Shop):
    for path in ("flags/1", "flags/x"):
        assert (await shop.agent("PATCH", path, json={"state": "dismissed"})).status_code == 404
