"""Referral tokens from an agent's call to the commission: as they were signed, once, in time and in their program."""

import json
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest

from configuration import Configuration
from storage.engine.sealing import Sealer
from storage.management.referrals import token_of
from storage.rules import keys
from storage.rules.scope import Scope
from storage.tables import clicks, customers, idempotent_answers, refused_calls
from tests import stripe_events as stripe
from tests.agent_api.conftest import Agents
from tests.security.operations import visible_in
from tests.security.test_public_calls import invented
from tests.storage.payments import paying
from tests.tracking_api.conftest import Api
from tests.world import NOW, World

SECRET = "a secret key"
LIFETIME = timedelta(hours=24)
REFERRAL = {"partner_code": "anna", "campaign": "espresso"}


class Checkout(Api):
    """A shop's calls, and those of an agent that may do nothing but issue tokens."""

    agents: Agents

    async def agent(self, path: str, body: Any, **headers: str) -> httpx.Response:
        """Call a path below the program's in the agent API."""
        self.agents.at = self.at
        return await self.agents.call("POST", f"/programs/{self.acme.program_id}{path}", json=body, headers=headers)

    async def issue(self, **fields: Any) -> str:
        return str((await self.agent("/referrals", REFERRAL | fields)).json()["token"])

    async def verify(self, token: str) -> dict[str, Any]:
        found: dict[str, Any] = (await self.agent("/referrals/verify", {"token": token})).json()
        return found

    async def pay(self, token: str, number: int) -> str:
        """Deliver a paid invoice with a token in its metadata, and return the outcome."""
        content, headers = stripe.signed(stripe.invoice(f"evt_{number}", metadata={"svc_click_id": token}))
        path = f"/api/v1/payments/stripe/{self.acme.program_id}"
        return str((await self.client.post(path, content=content, headers=headers)).json()["outcome"])


@pytest.fixture
async def checkout(acme: World) -> AsyncIterator[Checkout]:
    """Acme's shop with a connected account, and an agent with the scope referrals:issue."""
    await paying.connect(acme, secret=stripe.SECRET, key=SECRET)
    made = Checkout(acme, Configuration(rate_limit=False, secret_key=SECRET))
    made.agents = Agents(acme)
    made.agents.good = await made.agents.issue([Scope.REFERRALS_ISSUE])
    async with made.client, made.agents.client:
        yield made


async def test_a_token_becomes_a_lead_a_sale_and_a_commission(checkout: Checkout):
    issued = (await checkout.agent("/referrals", REFERRAL)).json()
    token = issued["token"]

    test = await checkout.lead(key=None, click_id=token, additional_data={"test_mode": True})
    provisional = await checkout.lead(key=None, click_id=token)
    lead = await checkout.lead(click_id=token, customer_key="user-1")
    sale = await checkout.sale(click_id=token)

    times = {"issued_at": "2026-05-20T12:00:00Z", "expires_at": "2026-05-21T12:00:00Z"}
    assert issued["affiliate_attribution"] == times | {
        "provider": "svc.test",
        "token": token,
        "publisher_id": "anna",
    }
    assert (test.json()["data"]["programId"], provisional.json()["provisional"]) == (checkout.acme.program_id, True)
    assert (lead.status_code, sale.json()["data"]["commission_cents"]) == (200, 2_000)
    [customer] = await checkout.rows(customers)
    assert (customer.click_id, customer.partner_id) == (issued["click_id"], checkout.acme.anna)
    assert (await checkout.verify(token))["state"] == "used"


async def test_a_sale_is_credited_by_hand_to_the_partner_of_a_token_but_not_of_a_forged_one(checkout: Checkout):
    token, forged = await checkout.issue(), f"{await checkout.issue()}0"
    checkout.agents.good = await checkout.agents.issue([Scope.COMMISSIONS_WRITE])
    missed = {"amount_cents": 100, "currency": "USD", "reason": "The shop was down"}

    credited, rejected = [await checkout.agent("/credits", missed | {"click_id": each}) for each in (token, forged)]

    assert (credited.status_code, credited.json()["partner"]["id"]) == (201, checkout.acme.anna)
    assert rejected.json()["error"]["code"] == "customer_not_found"


FORGERIES: dict[str, Callable[[str], str]] = {
    "without its signature": lambda token: token.rpartition(".")[0],
    "with an empty one": lambda token: f"{token.rpartition('.')[0]}.",
    "with another one": lambda token: f"{token[:-1]}{'0' if token[-1] != '0' else '1'}",
    "with more behind it": lambda token: f"{token}0",
    "in capitals": str.upper,
    "that lasts longer": lambda token: token.replace("~", "~7"),
    "of another click": lambda token: ("1" if token[0] == "0" else "0") + token[1:],
    "of another secret": lambda token: token_of(token.rpartition(".")[0], Sealer("another secret")),
    "with a part of its signature": lambda token: f"{token.rpartition('.')[0]}.{token[-16:]}",
    "with letters that look alike": lambda token: token.replace(".", "\uff0e"),
}


async def test_a_forged_token_gets_what_an_unknown_click_gets(checkout: Checkout):
    token, unknown = await checkout.issue(), invented(checkout, checkout.acme.program_id)
    forged = {name: forge(token) for name, forge in FORGERIES.items()}
    forged |= {f"cut to {end}": token[:end] for end in range(35, len(token), 16)}

    answers = {
        name: [
            *[visible_in(await checkout.lead(key=key, click_id=each)) for key in ("acme", None)],
            visible_in(await checkout.sale(click_id=each)),
            await checkout.verify(each),
        ]
        for name, each in {"unknown": unknown, **forged}.items()
    }

    expected: Any = answers["unknown"]
    assert {name for name, got in answers.items() if got != expected} == set()
    assert {error["code"] for _, error in expected[:3]} == {"customer_not_found"}
    assert {*expected[3].values()} == {"unknown", None}


async def test_a_payments_metadata_takes_a_token_that_is_signed(checkout: Checkout):
    token = await checkout.issue()

    assert [await checkout.pay(each, n) for n, each in enumerate((f"{token[:-4]}0000", token))] == [
        "waiting",
        "recorded",
    ]


async def test_a_token_of_another_program_is_as_a_click_of_another_program(checkout: Checkout):
    other: Any = await checkout.beside()
    token, click_id = await checkout.issue(), await checkout.acme.visitor()

    answers = [await other.sale(click_id=each) for each in (token, click_id)]

    assert visible_in(answers[0]) == visible_in(answers[1])
    assert answers[0].json()["error"]["code"] == "customer_wrong_program"
    assert {*(await other.verify(token)).values()} == {"unknown", None}


async def test_no_row_or_log_holds_what_a_call_accepts_and_a_token_says_nothing_of_a_person(checkout: Checkout):
    tokens = [(await checkout.agent("/referrals", REFERRAL, **{"Idempotency-Key": "1"})).json()["token"] for _ in "12"]
    checkout.at = NOW + LIFETIME
    await checkout.sale(click_id=tokens[0])

    assert tokens[0] == tokens[1]
    click_id, _, signature = tokens[0].rpartition(".")
    rows = [row for table in (clicks, idempotent_answers, refused_calls) for row in await checkout.rows(table)]
    assert len(rows) == 3
    assert signature not in json.dumps(list(map(list, rows)), default=str)
    assert (keys.click_program(click_id), keys.click_until(click_id)) == (checkout.acme.program_id, NOW + LIFETIME)
    assert keys.click_millis(click_id) == NOW.timestamp() * 1000
