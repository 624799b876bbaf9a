"""The tracker's tags of the guides, as shops paste them: from the service, and from the shop's own domain renamed."""

import asyncio
import subprocess

import pytest
from playwright.async_api import Route

from presentation import guides
from presentation.guides import Filling
from tests.browser.scene import Scene
from tests.serving import Served
from tests.snippets import faults
from tests.snippets.faults import ERRORS

BROKEN = ("cut", "null")  # a page of a proxy: test_guests.py
TAGS = [("snippets", "tracker"), ("tracker", "tracker_tag"), ("verify", "tracker_installed")]


def tag(scene: Scene, guide: str, name: str) -> str:
    """Return a tag of a guide, filled for the program."""
    return guides.blocks(guide, Filling(scene.server.base_url, scene.acme.program_id))[name]


@pytest.mark.parametrize(("guide", "name"), TAGS)
async def test_the_guides_tags_record_a_click(scene: Scene, guide: str, name: str):
    scene.show(tag(scene, guide, name))

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


async def test_the_guide_s_command_names_the_pinned_copy(service: Served):
    code = guides.blocks("tracker", Filling(service.base_url, 1))["tracker_pinned"]

    done = await asyncio.to_thread(subprocess.run, ["bash", "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.lower().startswith("content-location: svc-tracker.")


@pytest.mark.parametrize("calls", ["/x/y", "/x/y/"])
async def test_the_calls_path_may_end_with_a_slash_or_not(scene: Scene, calls: str):
    scene.show(scene.tag(f'data-svc-calls="{calls}"'))
    page = await scene.tab()

    async with page.expect_request("**/x/y/click"):
        await page.goto(scene.shop.url("/?aff=anna"))


@pytest.mark.parametrize("click_id", ["", "c1"])
async def test_no_error_of_the_service_reaches_a_page(scene: Scene, click_id: str):
    scene.show(tag(scene, "snippets", "tracker"))
    if click_id:
        await scene.context.add_cookies([{"name": "svc_click_id", "value": click_id, "url": scene.shop.url()}])
    page = await scene.visit()
    await page.route("**/api/v1/track/*", _fail)
    answers = {}

    for fault in (*ERRORS, *BROKEN):  # a route of the page with the link's code is a click
        visit = f"history.pushState({{}}, '', '/{fault}?aff={fault}'), svc.signup('user-1', 'jane@example.com')"
        answer = await page.evaluate(visit)
        answers[fault] = answer.get("reason") or answer["error"]["code"]

    broken = dict.fromkeys(BROKEN, "unreachable")
    assert answers == ({code: code for code in ERRORS} | broken if click_id else dict.fromkeys(answers, "no_click"))
    assert {click["affiliate_url"].rpartition("=")[2] for click in scene.sent("click")} == answers.keys()


async def _fail(route: Route) -> None:
    fault = route.request.frame.url.rpartition("=")[2]
    if fault == "cut":
        await route.abort()
    else:
        status, content = faults.failure(fault)
        await route.fulfill(status=status, body=content, headers={"Access-Control-Allow-Origin": "*"})
