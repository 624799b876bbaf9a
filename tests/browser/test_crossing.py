"""Crossing to another domain of the shop: a link carries a token, the tracker there gets the click for it."""

import re
import time
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.async_api import Page

from storage.rules import attribution, keys
from tests.browser.scene import Scene
from tests.tables import table

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


async def test_a_link_is_decorated_once_however_often(scene: Scene):
    visitor = await scene.visit("/")
    without_a_click = await visitor.evaluate("svc.decorate('/b?x')")
    page, click_id = await scene.arrive("anna")
    await scene.prepare(page)

    link = await page.evaluate("svc.decorate(svc.decorate(new URL('https://b.example/')))")

    assert without_a_click == "/b?x"
    assert re.fullmatch(rf"https://b\.example/\?svc_click_id={click_id}\.{TOKEN}", link)


async def follow(scene: Scene, link: str) -> tuple[Page, Any]:
    """Open a link in a new tab and sign up there; return the page, and the answer."""
    page = await scene.tab()
    await page.goto(link)
    return page, await page.evaluate("svc.signup('user-1')")


async def test_a_link_carries_a_token_for_which_the_other_domain_stores_the_click_once_and_cleans_the_url(scene: Scene):
    click_id, link = await crossing(scene)
    before = re.escape(scene.shop.url("/checkout?plan=a%20b&x", host=THERE))
    assert re.fullmatch(rf"{before}&svc_click_id={click_id}\.{TOKEN}#pay", link)

    page, answer = await follow(scene, link)

    cookies = {cookie["domain"]: cookie for cookie in await scene.context.cookies()}
    assert (cookies[THERE]["value"], cookies[HERE]["value"]) == (click_id, click_id)
    assert cookies[THERE]["expires"] == pytest.approx(time.time() + 60 * 86_400, abs=60)
    assert page.url == scene.shop.url("/checkout?plan=a%20b&x#pay", host=THERE)
    assert answer["provisional"]
    assert len(scene.sent("click")) == 1
    await scene.context.clear_cookies()
    assert (await follow(scene, link))[1]["reason"] == "no_click"


async def test_a_link_with_a_partner_code_as_well_is_one_visit(scene: Scene):
    click_id, link = await crossing(scene)
    page = await scene.tab()

    again = await scene.clicked(page, page.goto(link.replace("?", "?aff=anna&")))

    assert again == click_id
    assert scene.sent("click")[1]["existing_click_id"] == click_id


async def test_the_later_click_wins_unless_the_program_credits_the_first(scene: Scene):
    _, link = await crossing(scene)
    _, bens = await scene.arrive("ben", host=THERE)
    await follow(scene, link)

    await scene.change(attribution_model=attribution.AttributionModel.FIRST_CLICK)
    _, later_link = await crossing(scene)
    await follow(scene, later_link)

    assert [lead["click_id"] for lead in scene.sent("lead")] == [bens, bens]


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


async def test_no_click_is_stored_without_its_token(scene: Scene):
    _, bens = await scene.arrive("ben", host=THERE)
    await scene.context.clear_cookies()
    page = await scene.visit("/")

    written: dict[str, str] = table("browser/forged.json")
    others = {"another program's": keys.click_id(2**40, datetime.now(UTC)), "a click without a token": bens}
    for forged, pattern in (written | others).items():
        id_ = pattern.format(program_id=scene.acme.program_id)
        await page.evaluate("id => history.pushState({}, '', `/?svc_click_id=${encodeURIComponent(id)}`)", id_)
        answer = await page.evaluate("svc.signup('user-1')")
        assert (forged, answer["reason"], page.url) == (forged, "no_click", scene.shop.url("/"))
        assert await scene.context.cookies() == [], forged
    assert len([call for call in scene.calls if "/redeem" in call.url]) == 1  # for the token
