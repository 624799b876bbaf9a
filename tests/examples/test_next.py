"""The Next.js example: a visitor who buys, a proxy for the tracker, each way to load it, and a checkout at Stripe."""

import json

import httpx
from playwright.async_api import Route

from tests.examples.conftest import Around, Shopper, counts
from tests.failing import Answer, FailingService


async def test_a_referred_visitor_buys_and_gets_a_refund(service: Around, shopper: Shopper):
    before = await counts(service)
    click_id = await shopper.arrive("anna")
    user = await shopper.sign_up()
    order = await shopper.pay()
    await shopper.refund()

    (lead,), (sale,), (refund,) = (service.between.wait_for(call, 1) for call in ("lead", "sale", "refund"))
    assert (lead["click_id"], lead["customer_key"]) == (click_id, user)
    assert (sale["customer_key"], sale["transaction_id"]) == (user, order)
    assert (refund["transaction_id"], refund["refund_amount_cents"]) == (order, 900)
    assert f"sale {order}" not in shopper.example.log.read_text(encoding="utf-8", errors="replace")
    assert await counts(service) == [each + 1 for each in before]
    assert [each["value"] for each in await shopper.context.cookies() if each["name"] == "svc_click_id"] == [click_id]


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


async def test_the_tracker_loads_in_each_way_and_a_sign_up_goes_on_without_a_service(service: Around, shopper: Shopper):
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
            await shopper.context.route("https://svc.example/api/**", lambda route: route.abort())
            await shopper.page.click("text=Sign up")
            await shopper.page.wait_for_selector("text=Welcome 2")
            await shopper.context.unroute("https://svc.example/api/**")


async def test_a_checkout_carries_the_click_and_customer(service: Around, shopper: Shopper, stripe: FailingService):
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
