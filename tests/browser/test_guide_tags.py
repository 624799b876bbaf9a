"""The tracker's tags of the guides, as shops paste them: from the service, and from the shop's own domain renamed."""

from playwright.async_api import Route

from presentation import guides
from presentation.guides import Filling
from tests import failing
from tests.browser.scene import Scene
from tests.failing import CUTS, ERRORS

BROKEN = (CUTS, "null")  # a page of a proxy: test_guests.py
TAGS = [("snippets", "tracker"), ("tracker", "tracker_tag"), ("verify", "tracker_installed")]


def tag(scene: Scene, guide: str, name: str) -> str:
    """Return a tag of a guide, filled for the program."""
    return guides.blocks(guide, Filling(scene.server.base_url, scene.acme.program_id))[name]


async def test_the_guides_tags_record_a_click(scene: Scene):
    for guide, name in TAGS:
        await scene.context.clear_cookies()
        scene.show(tag(scene, guide, name))
        _, click_id = await scene.arrive("anna")
        assert (name, (await scene.cookie())["value"]) == (name, click_id)


async def test_the_calls_path_may_end_with_a_slash_or_not(scene: Scene):
    for calls in ("/x/y", "/x/y/"):
        scene.show(scene.tag(f'data-svc-calls="{calls}"'))
        page = await scene.tab()
        async with page.expect_request("**/x/y/click"):
            await page.goto(scene.shop.url("/?aff=anna"))


async def test_no_error_of_the_service_reaches_a_page(scene: Scene):
    scene.show(tag(scene, "snippets", "tracker"))
    page = await scene.visit()
    await page.route("**/api/v1/track/*", _fail)
    faults = (*ERRORS, *BROKEN)

    async def sign_up_after_each() -> dict[str, str]:
        """Return the code that each sign-up ends in; a route of the page with the link's code is a click."""
        answers = {}
        for fault in faults:
            visit = f"history.pushState({{}}, '', '/{fault}?aff={fault}'), svc.signup('user-1', 'jane@example.com')"
            answer = await page.evaluate(visit)
            answers[fault] = answer.get("reason") or answer["error"]["code"]
        return answers

    without_a_click = await sign_up_after_each()
    await scene.context.add_cookies([{"name": "svc_click_id", "value": "c1", "url": scene.shop.url()}])
    with_a_click = await sign_up_after_each()

    assert without_a_click == dict.fromkeys(faults, "no_click")
    assert with_a_click == {code: code for code in ERRORS} | dict.fromkeys(BROKEN, "unreachable")
    assert {click["affiliate_url"].rpartition("=")[2] for click in scene.sent("click")} == set(faults)


async def _fail(route: Route) -> None:
    fault = route.request.frame.url.rpartition("=")[2]
    if fault == CUTS:
        await route.abort()
    else:
        given = failing.answer(fault)
        headers = {"Access-Control-Allow-Origin": "*"}
        await route.fulfill(status=given.status, body=given.content, headers=headers)
