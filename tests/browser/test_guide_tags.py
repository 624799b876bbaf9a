"""The tracker's tags of the guides, as shops paste them: from the service, and from the shop's own domain renamed."""

import pytest
from playwright.async_api import Route

from presentation import guides
from presentation.guides import Filling
from tests.browser.scene import Scene


def tag(scene: Scene, guide: str, name: str) -> str:
    """Return a tag of a guide, filled for the program."""
    return guides.blocks(guide, Filling(scene.server.base_url, scene.acme.program_id))[name]


async def test_the_guide_s_tag_records_a_click(scene: Scene):
    scene.show(tag(scene, "snippets", "tracker"))

    _, click_id = await scene.arrive("anna")

    assert (await scene.cookie())["value"] == click_id


async def test_behind_names_of_the_shop_s_own_the_tracker_works(scene: Scene):
    asked: list[str] = []

    async def forward(route: Route) -> None:
        name = route.request.url.rpartition("/")[2]
        path = "/js/svc-tracker.js" if name == "app.js" else f"/api/v1/track/{name}"
        await route.fulfill(response=await route.fetch(url=scene.server.base_url + path))

    await scene.context.route("**/assets/visit/*", forward)
    scene.show(tag(scene, "cases", "cases_tracker"))
    page = await scene.tab()
    page.on("request", lambda request: asked.append(request.url))
    await page.goto(scene.shop.url("/?aff=anna"))
    await page.wait_for_function("() => document.cookie.includes('svc_click_id=')")

    answer = await page.evaluate("svc.signup('user-1', 'jane@example.com')")

    assert answer["provisional"] is True
    assert [url for url in asked if "track" in url or "svc" in url or not url.startswith(scene.shop.url())] == []


@pytest.mark.parametrize("calls", ["/x/y", "/x/y/"])
async def test_the_calls_path_may_end_with_a_slash_or_not(scene: Scene, calls: str):
    scene.show(scene.tag(f'data-svc-calls="{calls}"'))
    page = await scene.tab()

    async with page.expect_request("**/x/y/click"):
        await page.goto(scene.shop.url("/?aff=anna"))
