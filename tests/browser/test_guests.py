"""The tracker in other people's pages: it breaks nothing, needs little, and logs what it does in debug mode."""

import re

from playwright.async_api import Route

from tests.browser.scene import STUB, Scene

SIGN_UP = "svc.signup('user-1', 'jane@example.com')"
NONSENSE = [
    "svc.signup()",
    "svc.signup(null, null)",
    "svc.signup(42)",
    "svc.signup({toString: () => { throw new Error('mine') }})",
    "svc.decorate('http://[')",
    "svc.decorate({toString: () => { throw new Error('mine') }})",
    "svc.decorate('mailto:jane@example.com')",
    "svc.q.push(['nothing', []])",
]


async def test_signup_resolves_without_an_error_if_the_service_is_blocked(scene: Scene):
    await scene.context.route("**/api/v1/track/**", lambda route: route.abort())
    page = await scene.visit("/?aff=anna")

    answer = await page.evaluate(SIGN_UP)

    assert (answer["success"], answer["reason"]) == (False, "no_click")
    assert len(scene.calls) == 2  # the click, and the click once more
    assert (await scene.cookie())["value"] is None


async def test_a_call_that_the_network_lost_is_sent_once_more(scene: Scene):
    async def lose_the_first(route: Route) -> None:
        await (route.abort() if len(scene.calls) == 1 else route.continue_())

    await scene.context.route("**/api/v1/track/click", lose_the_first)
    page = await scene.visit("/?aff=anna")

    answer = await page.evaluate(SIGN_UP)

    assert answer["provisional"]
    assert len(scene.sent("click")) == 2


async def test_a_rejected_call_is_not_sent_again(scene: Scene):
    page, _ = await scene.arrive("anna")

    answer = await page.evaluate("svc.signup('user-1'.repeat(100))")

    assert answer["error"]["code"] == "validation_error"
    assert len(scene.sent("lead")) == 1


async def test_the_error_page_of_a_proxy_is_not_a_response(scene: Scene):
    page, _ = await scene.arrive("anna")
    await scene.context.route("**/api/v1/track/lead", lambda route: route.fulfill(status=502, body="<h1>Bad Gateway"))

    answer = await page.evaluate(SIGN_UP)

    assert (answer["success"], answer["reason"]) == (False, "unreachable")


async def test_under_a_strict_policy_it_needs_only_the_services_origin(scene: Scene):
    base = scene.server.base_url
    policy = f"default-src 'none'; script-src {base} 'self'; connect-src {base}; base-uri 'none'; form-action 'none'"
    scene.shop.headers = {"Content-Security-Policy": f"{policy}; require-trusted-types-for 'script'"}
    scene.shop.files["/shop.js"] = f"{SIGN_UP}.then((answer) => {{ document.title = answer.message }})"
    scene.show(f"{scene.tag()}<script src='/shop.js'></script>")

    page, _ = await scene.arrive("anna")

    await page.wait_for_function("() => document.title.startsWith('Lead recorded')")
    assert [line for line in scene.said if "Content Security Policy" in line] == []


async def test_debug_mode_reports_a_policy_without_the_service(scene: Scene):
    scene.shop.headers = {"Content-Security-Policy": "connect-src 'self'"}
    page = await scene.visit("/?aff=anna")

    await page.evaluate(SIGN_UP)

    assert "connect-src of the page's policy" in "".join(scene.said)


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

    for nonsense in NONSENSE:
        await page.evaluate(f"(async () => {{ await {nonsense} }})()")
        assert scene.thrown == [], nonsense


async def test_without_debug_mode_the_console_stays_silent(scene: Scene):
    scene.show(scene.tag(""))

    page, _ = await scene.arrive("anna")
    await page.evaluate(SIGN_UP)

    assert [line for line in scene.said if "[svc]" in line] == []


async def test_debug_mode_logs_each_step_and_its_reason(scene: Scene):
    page, _ = await scene.arrive("anna")
    await page.evaluate(SIGN_UP)

    log = "\n".join(scene.said)
    steps = (
        "code anna in the address",
        "sending",
        "click through the link of anna",
        "cookie svc_click_id set for 60 days",
    )
    assert [step for step in steps if step not in log] == []


async def test_the_service_may_be_elsewhere_than_the_script(scene: Scene):
    script = (await (await scene.context.request.get(f"{scene.server.base_url}/js/svc-tracker.js")).body()).decode()
    scene.shop.files["/js/mine.js"] = script
    tag = re.sub(r'src="[^"]*"', 'src="/js/mine.js"', scene.tag())
    scene.show(tag.replace("data-svc-debug", f'data-svc-api-base="{scene.server.base_url}/"'))

    await scene.arrive("anna")

    assert scene.calls[0].url == f"{scene.server.base_url}/api/v1/track/click"
