"""Fraud over HTTP: a partner who cheats is not paid, and an agent sees why and decides."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

import agent_api.app
from storage.access import agent_keys
from storage.engine.audit import OPERATOR
from storage.management import partners
from storage.rules.scope import Scope
from tests.tracking_api.conftest import Api
from tests.world import NOW
from web.middleware import RequestMiddleware

EMAIL = "Mallory@partners.example"


class Shop:
    """A program, reached as the public, its server and its agents reach it."""

    def __init__(self, api: Api, agent_key: str) -> None:
        self.api = api
        app = agent_api.app.create(api.acme.store, base_url="http://svc.test", clock=lambda: NOW)
        self.agents = httpx.AsyncClient(
            transport=httpx.ASGITransport(RequestMiddleware(app)),
            base_url=f"http://svc.test/api/agent/v1/programs/{api.acme.program_id}/",
            headers={"Authorization": f"Bearer {agent_key}"},
        )

    async def buy(self, number: int, email: str) -> int:
        """Have a visitor of Anna's link sign up and buy; return the commission."""
        clicked = (await self.api.click()).json()
        who = {"click_id": clicked["click_id"], "customer_key": f"user-{number}"}
        await self.api.lead(**who, email=email)
        sold = (await self.api.sale(**who, transaction_id=f"inv-{number}")).json()
        commission_id: int = sold["data"]["commission_id"]
        return commission_id

    async def decide(self, path: str, **decision: str) -> httpx.Response:
        return await self.agents.patch(path, json=decision)

    async def listed(self, path: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = (await self.agents.get(path)).json()["data"]
        return rows


@pytest.fixture
async def shop(api: Api) -> AsyncIterator[Shop]:
    """A program without a hold period, where Anna is Mallory."""
    beside = await api.beside(hold_days=0)
    acme = beside.acme
    about = {"name": "Reviewer", "scopes": tuple(Scope), "at": NOW}
    issued = await acme.store.write(agent_keys.issue, acme.workspace_id, **about)
    await acme.store.write(partners.change, acme.program_id, acme.anna, {"email": EMAIL}, actor=OPERATOR, at=NOW)
    made = Shop(beside, issued.secret)
    async with made.agents:
        yield made


async def test_a_partner_is_not_paid_for_their_own_purchase_until_the_flag_is_dismissed(shop: Shop):
    commission_id = await shop.buy(1, EMAIL.lower())

    approved = await shop.decide(f"commissions/{commission_id}", status="approved")

    error = approved.json()["error"]
    assert (approved.status_code, error["code"], error["flags"]) == (409, "commission_flagged", ["self_referral"])
    (flag,) = await shop.listed("flags")
    assert (flag["kind"], flag["state"], flag["evidence"]) == ("self_referral", "open", {"same": "email"})
    assert (flag["commission_id"], flag["partner"]["code"]) == (commission_id, "anna")
    assert flag["reason"]
    (commission,) = await shop.listed("commissions")
    assert commission["flags"] == ["self_referral"]
    assert {each["code"]: each["open_flags"] for each in await shop.listed("partners")} == {"anna": 1, "ben": 0}

    dismissed = await shop.decide(f"flags/{flag['id']}", state="dismissed", reason="Looked into it.")
    approved = await shop.decide(f"commissions/{commission_id}", status="approved")
    confirmed = await shop.decide(f"flags/{flag['id']}", state="confirmed")

    assert (dismissed.json()["state"], approved.json()["status"]) == ("dismissed", "approved")
    assert confirmed.status_code == 400
