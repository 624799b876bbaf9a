"""The Next.js example, made of the guides' snippets: shoppers in Chromium, and a service that fails under them."""

import json
from collections.abc import Iterator

import httpx
import pytest
from playwright.async_api import Route

from tests import failing
from tests.examples import shop
from tests.examples.conftest import Around, counts
from tests.examples.shop import EXAMPLES, Example, Shopper
from tests.failing import CUTS, HANGS, Answer, FailingService

FOLDER = EXAMPLES / "next"


@pytest.fixture(scope="module")
def stripe() -> Iterator[FailingService]:
    """What the example opens its checkouts with."""
    with failing.running() as running:
        yield running


@pytest.fixture(scope="module")
def example(service: Around, stripe: FailingService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Example]:
    """The example, built and running."""
    command = ["node", "node_modules/next/dist/bin/next", "start", "-p", "PORT", "-H", "127.0.0.1"]
    environment = {"SERVICE_BASE_URL": service.between.base_url, "SERVICE_API_KEY": service.acme.key}
    environment |= {"STRIPE_API_URL": stripe.base_url, "STRIPE_SECRET_KEY": "sk_test_1"}
    log = tmp_path_factory.mktemp("next") / "log"
    with shop.running(command, "Ready in", cwd=FOLDER, log=log, NEXT_TELEMETRY_DISABLED="1", **environment) as running:
        yield running


async def test_an_ordinary_visitor_signs_up_and_buys(service: Around, shopper: Shopper):
    before = await counts(service)

    await shopper.sign_up()
    await shopper.pay()
    service.between.wait_for("sale", 1)

    assert service.between.bodies("lead") == []
    assert "customer_not_found" not in shopper.example.log
    assert await counts(service) == before


async def test_a_referred_visitor_buys_and_gets_a_refund(service: Around, shopper: Shopper):
    before = await counts(service)
    click_id = await shopper.arrive("anna")
    user = await shopper.sign_up()
    (lead,) = service.between.wait_for("lead", 1)
    invoice = await shopper.pay()
    (sale,) = service.between.wait_for("sale", 1)
    await shopper.refund()
    (refund,) = service.between.wait_for("refund", 1)

    assert (lead["click_id"], lead["customer_key"]) == (click_id, user)
    assert (sale["customer_key"], sale["transaction_id"]) == (user, invoice)
    assert (refund["transaction_id"], refund["refund_amount_cents"]) == (invoice, 900)
    assert invoice not in shopper.example.log
    assert await counts(service) == [each + 1 for each in before]


async def test_a_service_that_hangs_reaches_no_shopper(service: Around, shopper: Shopper):
    await shopper.arrive("anna")
    service.between.answers = [HANGS]
    await shopper.page.goto(shopper.example.url("/?aff=ben"), wait_until="domcontentloaded")

    await shopper.sign_up()
    await shopper.pay()
    await shopper.refund()

    for call in ("lead", "sale", "refund"):
        service.between.wait_for(call, 1)


async def test_the_proxy_forwards_no_cookie_and_only_the_tracker(service: Around, shopper: Shopper):
    asked: list[str] = []
    shopper.page.on("request", lambda request: asked.append(request.url))
    await shopper.sign_up()

    await shopper.arrive("anna")

    assert "session" in await shopper.cookies()
    relayed = [(call.path, call.headers) for call in service.between.received]
    assert {path for path, _ in relayed} == {"/js/svc-tracker.js", "/api/v1/track/click"}
    assert [headers for _, headers in relayed if "cookie" in headers or "authorization" in headers] == []
    assert [url for url in asked if "track" in url or not url.startswith(shopper.example.url())] == []
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{shopper.example.port}") as client:
        for name in ("sale", "refund", "__proto__", "..%2Fcli%2Fstatus"):
            assert (await client.get(f"/assets/visit/{name}")).status_code == 404


async def test_the_server_sets_the_click_cookie_again_for_safari(shopper: Shopper):
    click_id = await shopper.arrive("anna")

    async with shopper.page.expect_response(shopper.example.url("/register")) as caught:
        await shopper.page.goto(shopper.example.url("/register"))

    cookie = (await (await caught.value).all_headers())["set-cookie"]
    assert f"svc_click_id={click_id}" in cookie
    assert {"Max-Age=5184000", "Domain=.shop.example", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
    assert [each["value"] for each in await shopper.context.cookies() if each["name"] == "svc_click_id"] == [click_id]


async def test_a_link_to_the_checkout_s_domain_carries_a_token(shopper: Shopper):
    click_id = await shopper.arrive("anna")
    async with shopper.page.expect_response("**/assets/visit/handover?*"):
        await shopper.page.hover("text=Our checkout")
    await shopper.page.wait_for_function("() => svc.decorate('http://checkout.example/').includes('svc_click_id=')")
    await shopper.context.route("http://checkout.example/**", lambda route: route.fulfill(body="Checkout"))

    await shopper.page.click("text=Our checkout")
    await shopper.page.wait_for_url(f"http://checkout.example/?svc_click_id={click_id}.*")


async def test_the_tracker_loads_in_each_way(service: Around, shopper: Shopper):
    async def pass_on(route: Route) -> None:
        url = route.request.url.replace("https://svc.example", service.served.base_url)
        await route.fulfill(response=await route.fetch(url=url))

    await shopper.context.route("https://svc.example/**", pass_on)
    for path in ("direct", "sdk", "react", "everywhere"):
        await shopper.context.clear_cookies()
        await shopper.page.goto(shopper.example.url(f"/{path}?aff=ben"))
        await shopper.page.wait_for_function("() => document.cookie.includes('svc_click_id=')")
        if path in {"sdk", "react"}:
            async with shopper.page.expect_response("https://svc.example/api/v1/track/lead") as caught:
                await shopper.page.click("text=Sign up")
            assert (await (await caught.value).json())["provisional"] is True
            await shopper.page.wait_for_selector("text=Welcome 1")


async def test_no_failure_of_the_service_reaches_a_visitor_who_signs_up_in_the_browser(
    service: Around, shopper: Shopper
):
    faults, fault = ("internal_error", "html", "null", CUTS, HANGS), ""

    async def fail(route: Route) -> None:
        if fault == CUTS:
            await route.abort()
        elif fault != HANGS:
            given, headers = failing.answer(fault), {"Access-Control-Allow-Origin": "*"}
            await route.fulfill(status=given.status, body=given.content, headers=headers)

    async def script(route: Route) -> None:
        await route.fulfill(response=await route.fetch(url=f"{service.served.base_url}/js/svc-tracker.js"))

    await shopper.context.route("https://svc.example/js/*", script)
    await shopper.context.route("https://svc.example/api/v1/track/*", fail)
    cookie = {"name": "svc_click_id", "value": "c1", "url": shopper.example.url()}
    await shopper.context.add_cookies([cookie])  # type: ignore[list-item] # its type is a TypedDict
    for path in ("sdk", "react"):
        await shopper.page.goto(shopper.example.url(f"/{path}"))
        for number, fault in enumerate(faults, start=1):  # noqa: B007 - `fail` reads it
            async with shopper.page.expect_request("https://svc.example/api/v1/track/lead"):
                await shopper.page.click("text=Sign up")
            await shopper.page.wait_for_selector(f"text=Welcome {number}")


async def test_a_checkout_at_stripe_carries_the_click_and_the_customer(
    service: Around, shopper: Shopper, stripe: FailingService
):
    session = {"id": "cs_1", "object": "checkout.session", "url": shopper.example.url("/account")}
    stripe.answers = [Answer(content=json.dumps(session).encode())]
    click_id = await shopper.arrive("anna")
    user = await shopper.sign_up()

    await shopper.page.click("text=Start the trial")
    await shopper.page.wait_for_selector("#plan:has-text('trial')")

    (sent,) = stripe.received
    wanted = {"svc_click_id": click_id, "svc_customer_key": user, "program_id": "1"}
    assert {name: sent.body[f"subscription_data[metadata][{name}]"] for name in wanted} == wanted
    assert service.between.bodies("sale") == []  # Stripe reports them
