"""The click cookie: its attributes, the widest domain that a browser lets a shop use, and the visitor's consent."""

import time
from typing import Any

import pytest
from playwright.async_api import Route

from presentation import guides
from tests.browser.scene import Scene

DAY = 86_400
PRIVACY = guides.blocks("tracker", guides.Filling("https://svc.example", 1))["tracker_privacy"]
ASKING = 'data-svc-consent="required" data-svc-debug'
NOT_SECURE = {"name": "svc_click_id", "path": "/", "sameSite": "Lax", "httpOnly": False, "secure": False}
DOMAINS = {
    "www.acme.example": ".acme.example",
    "a.b.shop.co.uk": ".shop.co.uk",
    "acme.github.io": ".acme.github.io",
    "localhost": "localhost",
    "127.0.0.1": "127.0.0.1",
}


async def test_the_cookie_is_on_the_widest_domain_that_is_no_public_suffix_for_the_program_s_window(scene: Scene):
    for host, domain in DOMAINS.items():
        await scene.context.clear_cookies()
        _, click_id = await scene.arrive("anna", host=host)
        (cookie,) = await scene.context.cookies()
        assert cookie.pop("expires") == pytest.approx(time.time() + 60 * DAY, abs=60)
        assert cookie == NOT_SECURE | {"value": click_id, "domain": domain}, host
        assert guides.cookie_domain(f"{host}:443") == domain.removeprefix(".")  # where the snippets' servers set it


async def test_an_older_click_on_a_part_of_the_site_goes_and_servers_of_each_part_get_one_cookie(scene: Scene):
    _, older = await scene.arrive("anna", host="app.acme.example")
    about = {"name": "svc_click_id", "value": older, "path": "/"}
    on_a_part: list[Any] = [about | {"domain": domain} for domain in (".app.acme.example", "app.acme.example")]
    await scene.context.add_cookies(on_a_part)
    page = await scene.visit("/", host="app.acme.example")
    await page.wait_for_function("document.cookie.split('svc_click_id').length == 2")
    after_a_load = (await scene.cookie())["value"]
    await scene.context.add_cookies(on_a_part)

    _, newer = await scene.arrive("ben", host="www.acme.example")
    _, newest = await scene.arrive("anna", host="app.acme.example")

    assert (after_a_load, older != newer) == (older, True)
    assert [each["existing_click_id"] for each in scene.sent("click")[1:]] == [older, newer]
    assert ((await scene.cookie())["value"], (await scene.cookie())["domain"]) == (newest, ".acme.example")


async def test_the_cookie_is_secure_on_https_and_the_calls_may_go_through_the_shop(scene: Scene):
    async def proxied(route: Route) -> None:
        """Act as the shop's server with TLS: pages of its own, /svc/ handed on to the service."""
        path = route.request.url.removeprefix("https://www.acme.example")
        if path.startswith("/svc/"):
            await route.fulfill(response=await route.fetch(url=scene.server.base_url + path.removeprefix("/svc")))
        else:
            tag = f'<script src="/svc/js/svc-tracker.js" data-svc-program-id="{scene.acme.program_id}"></script>'
            await route.fulfill(body=tag, content_type="text/html")

    await scene.context.route("https://www.acme.example/**", proxied)
    page = await scene.tab()

    click_id = await scene.clicked(page, page.goto("https://www.acme.example/?aff=anna"))

    cookie = await scene.cookie()
    assert (cookie["value"], cookie["secure"], cookie["domain"]) == (click_id, True, ".acme.example")
    assert scene.calls[0].url == "https://www.acme.example/svc/api/v1/track/click"


async def test_without_cookies_the_click_lives_as_long_as_the_page(scene: Scene):
    scene.shop.headers = {"Content-Security-Policy": "sandbox allow-scripts"}  # reading document.cookie throws there
    page = await scene.visit("/?aff=anna")

    answer = await page.evaluate("svc.signup('user-1')")

    assert answer["provisional"]
    assert (await scene.cookie())["value"] is None


async def test_nothing_is_sent_or_stored_before_consent_and_all_of_it_once_the_visitor_agrees(scene: Scene):
    scene.show(scene.tag(ASKING))
    page = await scene.visit("/?aff=anna")
    answer = await page.evaluate("history.pushState({}, '', '/pricing'), svc.signup('user-1')")
    assert (answer["success"], answer["reason"]) == (False, "consent_required")
    assert (scene.calls, await scene.context.cookies()) == ([], [])
    assert "held until window.svc.consent() is called" in "".join(scene.said)

    async with page.expect_response("**/api/v1/track/lead") as lead:
        await page.evaluate("svc.consent(); svc.consent()")

    assert (await (await lead.value).json())["provisional"]
    ([click], [sent]) = (scene.sent("click"), scene.sent("lead"))
    assert (await scene.cookie())["value"] == sent["click_id"]
    assert (click["affiliate_url"], click["page_url"]) == (scene.shop.url("/?aff=anna"), scene.shop.url("/pricing"))


async def test_a_shop_that_allows_it_gets_consent_on_a_later_page_and_another_shop_must_have_it_on_the_first(
    scene: Scene,
):
    for attributes, kept in ((ASKING, 0), (f'{ASKING} data-svc-hold="session"', 1)):
        scene.show(scene.tag(attributes))
        page = await scene.visit("/?aff=anna&utm=1")
        await page.goto(scene.shop.url("/pricing"))
        await page.evaluate("Object.defineProperty(navigator, 'globalPrivacyControl', {value: true, writable: true})")
        await page.evaluate(PRIVACY)
        assert scene.sent("click") == []
        await page.evaluate(f"navigator.globalPrivacyControl = false; {PRIVACY} svc.signup()")

        assert len(scene.sent("click")) == kept
    assert scene.sent("click")[0]["affiliate_url"] == scene.shop.url("/?aff=anna&utm=1")
    assert await page.evaluate("sessionStorage.svc_landing") == "null"


async def test_a_link_is_not_decorated_before_consent(scene: Scene):
    await scene.change(domain="127.0.0.1")
    await scene.arrive("anna")
    scene.show(scene.tag(ASKING))
    page = await scene.visit("/")
    decorate = "svc.decorate('https://b.example/')"

    before = await page.evaluate(decorate)
    asked = [call.url for call in scene.calls if "/handover" in call.url]
    await page.evaluate("svc.consent()")
    await scene.prepare(page)
    after = await page.evaluate(decorate)

    assert (before, asked) == ("https://b.example/", [])
    assert after.startswith(f"https://b.example/?svc_click_id={(await scene.cookie())['value']}.")
