"""`svc test stripe` and `svc listen` against the live server: sample events, each with its effect."""

import asyncio
import json
import signal
import subprocess
from datetime import UTC, datetime

import httpx

from storage.engine.audit import Actor
from storage.engine.sealing import Sealer
from storage.payments import accounts
from tests import serving, stripe_events
from tests.cli.integrator.conftest import OLGA, Shop


async def connect(shop: Shop) -> None:
    """Connect an account as the server can read it."""
    await shop.acme.store.write(
        accounts.connect,
        shop.acme.program_id,
        provider="stripe",
        account_id="acct_1",
        secret=stripe_events.SECRET,
        sealer=Sealer(serving.SECRET_KEY),
        actor=Actor("user", "1", OLGA),
        at=datetime.now(UTC),
    )


async def test_each_event_shows_its_outcome_nothing_remains_to_pay_and_a_wrong_secret_is_rejected(shop: Shop):
    await connect(shop)
    command = ("test", "stripe", "--code", "anna", "--webhook-secret-stdin", "--json")

    wrong = await shop.svc(*command, stdin="whsec_somebody_elses", SERVICE_API_KEY=shop.acme.key)
    done = await shop.svc(*command, stdin=stripe_events.SECRET, SERVICE_API_KEY=shop.acme.key)
    status = (await shop.svc("status", "--json", SERVICE_API_KEY=shop.acme.key)).json

    assert (wrong.code, wrong.json["error"]["code"]) == (1, "invalid_signature")
    assert done.code == 0, done.stderr
    assert [step["outcome"] for step in done.json["steps"]] == ["recorded", "repeated", *["recorded"] * 3]
    assert (status["payment_account_connected"], status["pending_commissions"]) == (True, 0)


async def test_each_shape_plays_in_a_sandbox_without_a_secret_and_touches_nothing_live(shop: Shop):
    await shop.sign_in()
    without = await shop.svc("test", "stripe", "--json")
    await shop.svc("init", "--sandbox")

    played = [await shop.svc("test", "stripe", "--shape", shape, "--json") for shape in ("one-off", "trial")]

    assert (without.code, without.json["error"]["code"]) == (1, "no_sandbox")
    assert [done.code for done in played] == [0, 0]
    assert {step["right"] for done in played for step in done.json["steps"]} == {True}
    live = await shop.svc("status", "--json", SERVICE_API_KEY=shop.acme.key)
    assert live.json["recent_events"] == {"clicks_24h": 0, "leads_24h": 0, "sales_24h": 0}


async def test_listening_shows_each_event_as_it_arrives_and_what_to_do(shop: Shop):
    await shop.sign_in()
    await connect(shop)
    now = datetime.now(UTC)
    unknown = {"svc_customer_key": "user-404"}
    events = [
        stripe_events.invoice("evt_1", at=now),
        stripe_events.invoice("evt_2", name="in_2", metadata=unknown, at=now),
    ]
    with shop.start("listen", "--json", "--interval", "0.2", stderr=subprocess.PIPE) as listening:
        assert listening.stdout
        assert listening.stderr
        await asyncio.to_thread(listening.stderr.readline)

        async with httpx.AsyncClient(base_url=shop.server.base_url) as client:
            for event in events:
                content, headers = stripe_events.signed(event)
                await client.post(f"/api/v1/payments/stripe/{shop.acme.program_id}", content=content, headers=headers)
        first, second = [json.loads(await asyncio.to_thread(listening.stdout.readline)) for _ in events]
        listening.send_signal(signal.SIGINT)

        try:
            assert await asyncio.to_thread(listening.wait, 10) == 0
        finally:
            listening.kill()
    assert (first["outcome"], first["advice"]) == ("organic", None)
    assert (second["event_id"], second["outcome"]) == ("evt_2", "unknown_customer")
    assert "Try again" in second["advice"]
