"""Crossing to another domain of the shop: a decorated link carries the click, the tracker there picks it up."""

import time
from datetime import UTC, datetime

import pytest

from storage.rules import keys
from tests.browser.scene import Scene

HERE, THERE = "127.0.0.1", "localhost"


async def crossing(scene: Scene) -> tuple[str, str]:
    """Follow Anna's link; return the click id and a link to the shop's other domain."""
    page, click_id = await scene.arrive("anna", host=HERE)
    link = await page.evaluate("link => svc.decorate(link)", scene.shop.url("/checkout?plan=a%20b&x#pay", host=THERE))
    return click_id, link


async def test_a_decorated_link_carries_the_click_id(scene: Scene):
    click_id, link = await crossing(scene)

    assert link == scene.shop.url(f"/checkout?plan=a%20b&x&svc_click_id={click_id}#pay", host=THERE)


async def test_a_link_is_decorated_once_however_often(scene: Scene):
    page, click_id = await scene.arrive("anna")

    link = await page.evaluate("svc.decorate(svc.decorate(new URL('https://b.example/')))")

    assert link == f"https://b.example/?svc_click_id={click_id}"


async def test_a_visitor_without_a_click_gets_the_link_as_it_was(scene: Scene):
    page = await scene.visit("/")

    assert await page.evaluate("svc.decorate('/b?x')") == "/b?x"


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
}


@pytest.mark.parametrize("forged", FORGED)
async def test_only_a_live_click_of_the_program_is_stored(scene: Scene, forged: str):
    page = await scene.visit("/")
    id_ = FORGED[forged].format(program_id=scene.acme.program_id)

    await page.evaluate("id => history.pushState({}, '', `/?svc_click_id=${encodeURIComponent(id)}`)", id_)
    answer = await page.evaluate("svc.signup('user-1')")

    assert answer["reason"] == "no_click"
    assert page.url == scene.shop.url("/")
    assert await scene.context.cookies() == []
