"""`svc test journey`: the whole chain in the sandbox, each step with its verdict."""

import pytest

from tests.browser.shop import Shop as WebShop
from tests.cli.integrator.conftest import Shop
from tests.cli.integrator.test_doctor import NO_BROWSER, tag
from tests.cli.integrator.test_stripe import connect

CHAIN = [("click", "no_lead"), ("lead", "no_sale"), ("sale", "credited"), ("refund", "fully_refunded")]


async def sandboxed(shop: Shop, web: WebShop, attributes: str = "") -> None:
    """Let the project and the page use the program's sandbox."""
    await shop.sign_in()
    program_id = (await shop.svc("init", "--sandbox", "--json")).json["program_id"]
    web.page = tag(shop, attributes, program=program_id)


async def test_a_journey_passes_in_the_sandbox_with_the_shop_and_stripe_and_leaves_the_live_program_alone(
    shop: Shop, web: WebShop
):
    await shop.sign_in()
    await connect(shop)
    await sandboxed(shop, web)

    walked = await shop.svc("test", "journey", "--shop", web.url(), "--json", **NO_BROWSER)
    web.page = tag(shop)
    other = await shop.svc("test", "journey", "--shop", web.url(), "--json", **NO_BROWSER)
    in_live = await shop.svc("test", "journey", "--json", SERVICE_API_KEY=shop.acme.key)

    assert walked.code == 0, walked.stderr
    verdicts = [(step["step"], step["verdict"]) for step in walked.json["steps"]]
    assert verdicts == [("shop", "tracker_found"), *CHAIN, ("stripe", "subscription")]
    assert walked.json["browser"] is None
    assert (other.code, other.json["steps"][0]["verdict"], other.json["passed"]) == (1, "other_program", False)
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
    assert (blocked.code, blocked.json["steps"][0]["verdict"]) == (1, "no_click")
    assert status.json["recent_events"]["clicks_24h"] == 2  # the shop's own, and for the blocked page a call's


async def test_a_shop_without_the_tracker_or_down_is_named(shop: Shop, web: WebShop):
    await sandboxed(shop, web)
    web.page = "<h1>The shop</h1>"

    walks = [
        await shop.svc("test", "journey", "--shop", url, "--json", **NO_BROWSER)
        for url in (web.url(), "http://127.0.0.1:9/")
    ]

    first = [walked.json["steps"][0] for walked in walks]
    assert [(step["verdict"], step["state"]) for step in first] == [("no_tracker", "unknown"), ("unreachable", "fail")]
