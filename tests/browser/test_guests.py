"""The tracker in other people's pages, by the guides' tags: it breaks nothing, needs little, and logs in debug mode."""

import re
from collections import Counter
from pathlib import Path

from playwright.async_api import Route

from presentation import guides
from tests import failing
from tests.browser.scene import STUB, Scene
from tests.failing import CUTS, ERRORS

SIGN_UP = "svc.signup('user-1', 'jane@example.com')"
BROKEN = (CUTS, "null", "html")
TAGS = [("snippets", "tracker"), ("tracker", "tracker_tag"), ("verify", "tracker_installed")]


async def test_under_a_strict_policy_it_needs_only_the_services_origin(scene: Scene):
    base = scene.server.base_url
    policy = f"default-src 'none'; script-src {base} 'self'; connect-src {base}; base-uri 'none'; form-action 'none'"
    scene.shop.headers = {"Content-Security-Policy": f"{policy}; require-trusted-types-for 'script'"}
    scene.shop.files["/shop.js"] = f"{SIGN_UP}.then((answer) => {{ document.title = answer.message }})"
    scene.show(f"{scene.tag()}<script src='/shop.js'></script>")

    page, _ = await scene.arrive("anna")

    await page.wait_for_function("() => document.title.startsWith('Lead recorded')")
    assert [line for line in scene.said if "Content Security Policy" in line] == []


async def test_included_twice_it_does_everything_once(scene: Scene):
    scene.show(scene.tag() + scene.tag())

    page, _ = await scene.arrive("anna")
    await page.evaluate("history.pushState({}, '', '/?aff=ben')")
    await page.evaluate(SIGN_UP)

    assert [click["affiliate_url"][-8:] for click in scene.sent("click")] == ["aff=anna", "?aff=ben"]
    assert len(scene.sent("lead")) == 1
    assert "included twice" in "".join(scene.said)


async def test_calls_before_the_script_loads_are_handled_when_it_loads(scene: Scene):
    scene.show(STUB)
    page = await scene.visit("/?aff=anna")
    await page.evaluate(f"window.early = {SIGN_UP}; window.stubbed = svc.signup; undefined")

    await scene.include(page)

    assert (await page.evaluate("early"))["provisional"]
    assert (await page.evaluate("stubbed('user-1')"))["provisional"]
    assert scene.sent("lead")[0]["email"] == "jane@example.com"


async def test_consent_before_the_script_is_there_counts(scene: Scene):
    scene.show(STUB + "<script>svc.consent()</script>" + scene.tag('data-svc-consent="required"'))

    _, click_id = await scene.arrive("anna")

    assert (await scene.cookie())["value"] == click_id


async def test_a_prerendered_page_counts_once_the_visitor_sees_it(scene: Scene):
    ahead = "Object.defineProperty(document, 'prerendering', {value: true})"  # as in a page that Chromium prerenders
    scene.show(f"<script>{ahead}</script>{scene.tag()}")
    page = await scene.visit("/?aff=anna")
    await page.evaluate(f"window.early = {SIGN_UP}; undefined")
    before = list(scene.calls)

    await page.evaluate("document.dispatchEvent(new Event('prerenderingchange'))")

    assert (await page.evaluate("early"))["provisional"]
    assert (before, len(scene.sent("click"))) == ([], 1)


async def test_a_tag_without_a_program_logs_an_error_and_does_nothing(scene: Scene):
    scene.show(scene.tag().replace("data-svc-program-id", "data-program"))

    page = await scene.visit("/?aff=anna")

    assert "the script tag needs data-svc-program-id" in "".join(scene.said)
    assert await page.evaluate("typeof window.svc") == "undefined"
    assert scene.calls == []


async def test_no_call_throws(scene: Scene):
    page, _ = await scene.arrive("anna")

    lines = Path(__file__).with_name("nonsense.js").read_text(encoding="utf-8").splitlines()
    for nonsense in lines[1:]:
        await page.evaluate(f"(async () => {{ await {nonsense} }})()")
        assert scene.thrown == [], nonsense


async def test_the_service_may_be_elsewhere_than_the_script(scene: Scene):
    script = (await (await scene.context.request.get(f"{scene.server.base_url}/js/svc-tracker.js")).body()).decode()
    scene.shop.files["/js/mine.js"] = script
    tag = re.sub(r'src="[^"]*"', 'src="/js/mine.js"', scene.tag())
    scene.show(tag.replace("data-svc-debug", f'data-svc-api-base="{scene.server.base_url}/"'))

    await scene.arrive("anna")

    assert scene.calls[0].url == f"{scene.server.base_url}/api/v1/track/click"


async def test_the_guides_tags_record_a_click(scene: Scene):
    filling = guides.Filling(scene.server.base_url, scene.acme.program_id)
    for guide, name in TAGS:
        await scene.context.clear_cookies()
        scene.show(guides.blocks(guide, filling)[name])
        _, click_id = await scene.arrive("anna")
        assert (name, (await scene.cookie())["value"]) == (name, click_id)


async def test_no_error_of_the_service_reaches_a_page_and_a_lost_call_is_sent_once_more(scene: Scene):
    scene.show(scene.tag())
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
    times = dict.fromkeys(ERRORS, 1) | dict.fromkeys(BROKEN, 2)  # what is no response of the service is tried again
    assert Counter(click["affiliate_url"].rpartition("=")[2] for click in scene.sent("click")) == times
    assert len(scene.sent("lead")) == sum(times.values())


async def _fail(route: Route) -> None:
    fault = route.request.frame.url.rpartition("=")[2]
    if fault == CUTS:
        await route.abort()
    else:
        given = failing.answer(fault)
        headers = {"Access-Control-Allow-Origin": "*"}
        await route.fulfill(status=given.status, body=given.content, headers=headers)
