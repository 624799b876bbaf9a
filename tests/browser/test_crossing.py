"""Crossing to another domain of the shop: a link carries a token, the tracker there gets the click for it."""

import re
import time
from datetime import UTC, datetime

import pytest

from storage.rules import keys
from storage.rules.attribution import AttributionModel
from tests.browser.scene import Scene

HERE, THERE = "127.0.0.1", "localhost"
TOKEN = r"[0-9a-f]+\.[0-9a-f]+\.[0-9a-f]+"  # behind the click id


@pytest.fixture
async def scene(scene: Scene) -> Scene:
    """A visitor of Acme, whose shop has two domains."""
    await scene.change(domain=HERE, further_domains=THERE)
    return scene


async def crossing(scene: Scene) -> tuple[str, str]:
    """Follow Anna's link; return the click id and a link to the shop's other domain."""
    page, click_id = await scene.arrive("anna", host=HERE)
    await scene.prepare(page)
    link = await page.evaluate("link => svc.decorate(link)", scene.shop.url("/checkout?plan=a%20b&x#pay", host=THERE))
    return click_id, link


async def test_a_decorated_link_carries_a_token_for_the_click(scene: Scene):
    click_id, link = await crossing(scene)

    before, after = scene.shop.url("/checkout?plan=a%20b&x", host=THERE), "#pay"
    assert re.fullmatch(rf"{re.escape(before)}&svc_click_id={click_id}\.{TOKEN}{after}", link)


async def test_a_link_is_decorated_once_however_often(scene: Scene):
    visitor = await scene.visit("/")
    without_a_click = await visitor.evaluate("svc.decorate('/b?x')")
    page, click_id = await scene.arrive("anna")
    await scene.prepare(page)

    link = await page.evaluate("svc.decorate(svc.decorate(new URL('https://b.example/')))")

    assert without_a_click == "/b?x"
    assert re.fullmatch(rf"https://b\.example/\?svc_click_id={click_id}\.{TOKEN}", link)


async def test_pointing_at_a_link_to_another_host_prepares_the_token(scene: Scene):
    target = scene.shop.url("/checkout", host=THERE)
    click = "this.href = svc.decorate(this.href)"
    scene.show(f'{scene.tag()}<a href="{target}" onclick="{click}">Pay</a>')
    page, click_id = await scene.arrive("anna", host=HERE)
    async with page.expect_response("**/api/v1/track/handover?*"):
        await page.hover("a")
    await page.wait_for_function("() => svc.decorate('https://b.example/').includes('svc_click_id=')")

    async with page.expect_response("**/api/v1/track/redeem?*"):
        await page.click("a")
    await page.wait_for_function("id => document.cookie.includes(id)", arg=click_id)

    assert page.url == target


async def test_a_bare_click_id_in_a_link_is_not_stored(scene: Scene):
    _, bens = await scene.arrive("ben", host=HERE)
    page = await scene.tab()

    await page.goto(scene.shop.url(f"/?svc_click_id={bens}", host=THERE))
    answer = await page.evaluate("svc.signup('user-1')")

    assert answer["reason"] == "no_click"
    assert scene.sent(f"redeem?program_id={scene.acme.program_id}") == []


async def test_a_link_that_is_followed_twice_crosses_once(scene: Scene):
    _, link = await crossing(scene)
    page = await scene.tab()
    await page.goto(link)
    await page.evaluate("svc.signup('user-1')")
    await scene.context.clear_cookies()

    await page.goto(link)
    answer = await page.evaluate("svc.signup('user-1')")

    assert answer["reason"] == "no_click"


async def test_the_first_click_stays_where_the_program_credits_it(scene: Scene):
    await scene.change(attribution_model=AttributionModel.FIRST_CLICK)
    _, bens = await scene.arrive("ben", host=THERE)
    _, link = await crossing(scene)
    page = await scene.tab()

    await page.goto(link)
    await page.evaluate("svc.signup('user-1')")

    assert scene.sent("lead")[0]["click_id"] == bens


async def test_the_other_domain_stores_the_click_and_removes_it_from_the_url(scene: Scene):
    click_id, link = await crossing(scene)
    page = await scene.tab()

    await page.goto(link)
    answer = await page.evaluate("svc.signup('user-1')")

    cookies = {cookie["domain"]: cookie for cookie in await scene.context.cookies()}
    assert (cookies[THERE]["value"], cookies[HERE]["value"]) == (click_id, click_id)
    assert cookies[THERE]["expires"] == pytest.approx(time.time() + 60 * 86_400, abs=60)
    assert page.url == scene.shop.url("/checkout?plan=a%20b&x#pay", host=THERE)
    assert answer["provisional"]
    assert len(scene.sent("click")) == 1


async def test_a_link_with_a_partner_code_as_well_is_one_visit(scene: Scene):
    click_id, link = await crossing(scene)
    page = await scene.tab()

    again = await scene.clicked(page, page.goto(link.replace("?", "?aff=anna&")))

    assert again == click_id
    assert scene.sent("click")[1]["existing_click_id"] == click_id


async def test_the_later_click_wins(scene: Scene):
    _, link = await crossing(scene)
    _, bens = await scene.arrive("ben", host=THERE)
    page = await scene.tab()

    await page.goto(link)
    await page.evaluate("svc.signup('user-1')")

    assert scene.sent("lead")[0]["click_id"] == bens
    assert "carries a later one" in "".join(scene.said)


async def test_consent_precedes_the_cookie_and_follows_the_removal_of_the_parameter(scene: Scene):
    click_id, link = await crossing(scene)
    scene.show(scene.tag('data-svc-consent="required"'))
    page = await scene.tab()
    await page.goto(link)
    before = await scene.context.cookies(page.url)

    await page.evaluate("svc.consent(); svc.signup('user-1')")

    assert "svc_click_id" not in page.url
    assert before == []
    assert [cookie["value"] for cookie in await scene.context.cookies(page.url)] == [click_id]


async def test_the_click_id_is_removed_from_the_url_however_it_is_spelled(scene: Scene):
    page = await scene.visit("/?%73vc_click_id=x&svc_click_id&keep=a%20b&svc_click_id=y")

    assert page.url == scene.shop.url("/?keep=a%20b")
    assert len([line for line in scene.said if "ignored" in line]) == 1


FORGED = {
    "text": "x; Domain=example.com",
    "markup": "<script>alert(1)</script>",
    "from 1970": "0" * 32 + "-{program_id:x}",
    "from the future": "f" * 32 + "-{program_id:x}",
    "another program's": keys.click_id(2**40, datetime.now(UTC)),
    "nothing": "",
    "a token": "0" * 32 + "-{program_id:x}.ffffffff.1.2",
}


async def test_only_a_live_click_of_the_program_is_stored(scene: Scene):
    page = await scene.visit("/")

    for forged, pattern in FORGED.items():
        id_ = pattern.format(program_id=scene.acme.program_id)
        await page.evaluate("id => history.pushState({}, '', `/?svc_click_id=${encodeURIComponent(id)}`)", id_)
        answer = await page.evaluate("svc.signup('user-1')")
        assert (forged, answer["reason"], page.url) == (forged, "no_click", scene.shop.url("/"))
        assert await scene.context.cookies() == [], forged
