"""`svc test journey`, `test stripe` and `listen`: each step with its verdict, each event with its effect."""

import asyncio
import json
import signal
import subprocess
from datetime import UTC, datetime

import httpx
import pytest

from tests import stripe_events
from tests.browser.shop import Shop as WebShop
from tests.cli.integrator.conftest import Shop, connect
from tests.cli.integrator.test_doctor import NO_BROWSER, tag

CHAIN = [("click", "no_lead"), ("lead", "no_sale"), ("sale", "credited"), ("refund", "fully_refunded")]


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


async def sandboxed(shop: Shop, web: WebShop, attributes: str = "") -> None:
    """Let the project and the page use the program's sandbox."""
    await shop.sign_in()
    program_id = (await shop.svc("init", "--sandbox", "--json")).json["program_id"]
    web.page = tag(shop, attributes, program=program_id)


async def test_a_journey_passes_in_the_sandbox_with_shop_and_stripe_and_touches_nothing_live(shop: Shop, web: WebShop):
    await shop.sign_in()
    await connect(shop)
    await sandboxed(shop, web)

    walked = await shop.svc("test", "journey", "--shop", web.url(), "--json", **NO_BROWSER)
    web.page, web.files["/.svc/.env"] = tag(shop), "SERVICE_API_KEY=aff_1"
    other = await shop.svc("test", "journey", "--shop", web.url(), "--json", **NO_BROWSER)
    in_live = await shop.svc("test", "journey", "--json", SERVICE_API_KEY=shop.acme.key)

    assert walked.code == 0, walked.stderr
    verdicts = [(step["step"], step["verdict"]) for step in walked.json["steps"]]
    assert verdicts == [("shop", "tracker_found"), *CHAIN, ("stripe", "subscription")]
    assert walked.json["browser"] is None
    found = [step["verdict"] for step in other.json["steps"]]
    assert (other.code, found[:2], other.json["passed"]) == (1, ["key_published", "other_program"], False)
    live = await shop.svc("status", "--json", SERVICE_API_KEY=shop.acme.key)
    assert live.json["recent_events"] == {"clicks_24h": 0, "leads_24h": 0, "sales_24h": 0}
    assert (in_live.code, in_live.json["error"]["code"]) == (1, "not_in_sandbox")


@pytest.mark.browser
async def test_in_a_browser_the_shop_s_own_click_goes_through_the_chain(shop: Shop, web: WebShop):
    await sandboxed(shop, web)

    walked = await shop.svc("test", "journey", "--shop", web.url(), "--json")
    web.page = '<meta http-equiv="Content-Security-Policy" content="connect-src \'none\'">' + web.page
    blocked = await shop.svc("test", "journey", "--shop", web.url(), "--json")
    status = await shop.svc("status", "--json")

    assert (walked.code, walked.json["browser"]) == (0, "chromium"), walked.stdout
    assert [(step["step"], step["verdict"]) for step in walked.json["steps"]] == [("shop", "click_recorded"), *CHAIN]
    assert (blocked.code, blocked.json["steps"][0]["verdict"]) == (1, "policy_connect")
    assert status.json["recent_events"]["clicks_24h"] == 2  # the shop's own, and for the blocked page a call's
