"""From a partner's link to a click and a sign-up: a real browser on a shop's own origin, also in a single-page app."""

from playwright.async_api import Route

from storage.rules.attribution import OldLinks
from tests.browser.scene import Scene

SIGN_UP = "svc.signup('user-1', 'jane@example.com')"


async def test_a_link_of_the_old_tool_goes_on_working_by_a_setting(scene: Scene):
    await scene.change(old_links=OldLinks.VIA)
    page = await scene.tab()

    await scene.clicked(page, page.goto(scene.shop.url("/?via=anna&utm_source=blog")))

    (sent,) = scene.sent("click")
    assert sent["affiliate_url"].endswith("/?via=anna&utm_source=blog")


async def test_the_click_contains_the_landing_page_without_what_is_too_long(scene: Scene):
    scene.show(f"<script>document.title = 'Café\u0007' + 'x'.repeat(506) + '😀'</script>{scene.tag()}")

    await scene.arrive("anna&utm=1#top")

    click = scene.sent("click")[0]
    assert click["affiliate_url"] == click["page_url"] == scene.shop.url("/?aff=anna&utm=1")
    assert (click["page_title"], click["referrer_url"]) == ("Café " + "x" * 506, "")
    assert (click["language"], click["viewport_size"]) == ("en-US", "1280x720")
    assert "existing_click_id" not in click
    await scene.arrive("anna&utm=" + "x" * 3000)
    assert scene.sent("click")[1]["affiliate_url"] == scene.shop.url("/?aff=anna")


async def test_the_same_partner_again_does_not_change_the_click_and_another_takes_over(scene: Scene):
    _, first = await scene.arrive("anna")
    _, again = await scene.arrive("anna")
    assert again == first == scene.sent("click")[1]["existing_click_id"]

    page, bens = await scene.arrive("ben")
    await page.evaluate(SIGN_UP)

    assert bens != first
    assert (await scene.cookie())["value"] == scene.sent("lead")[0]["click_id"] == bens


async def test_an_unknown_partner_leaves_the_click_that_the_visitor_carries(scene: Scene):
    stranger = await scene.visit("/")
    unreferred = await stranger.evaluate(SIGN_UP)
    assert (unreferred["success"], unreferred["reason"], scene.calls) == (False, "no_click", [])

    _, click_id = await scene.arrive("anna")
    page = await scene.visit("/?aff=nobody")

    await page.evaluate(SIGN_UP)

    assert scene.sent("lead")[0]["click_id"] == click_id


async def test_a_sign_up_waits_for_the_click_that_is_under_way_also_once_more_after_the_network_lost_it(scene: Scene):
    async def lose_the_first(route: Route) -> None:
        await (route.abort() if len(scene.calls) == 1 else route.continue_())

    await scene.context.route("**/api/v1/track/click", lose_the_first)
    page = await scene.visit("/?aff=anna")

    answer = await page.evaluate(SIGN_UP)

    assert len(scene.sent("click")) == 2
    assert answer["provisional"]
    assert scene.sent("lead")[0] == {
        "click_id": (await scene.cookie())["value"],
        "customer_key": "user-1",
        "email": "jane@example.com",
        "additional_data": {"program_id": scene.acme.program_id},
    }


async def test_a_route_with_a_partner_code_is_a_click_and_going_back_to_an_earlier_one_changes_nothing(scene: Scene):
    page = await scene.visit("/")
    elsewhere = "history.pushState({}, '', '/pricing'), "

    for change in ("history.pushState({}, '', '/?aff=anna')", f"{elsewhere}history.replaceState({{}}, '', '?aff=ben')"):
        click_id = await scene.clicked(page, page.evaluate(change))
        assert (await scene.cookie())["value"] == click_id, change
    await page.go_back()
    await page.evaluate("svc.signup('user-1')")

    assert page.url.endswith("?aff=anna")
    assert scene.sent("lead")[0]["click_id"] == click_id


async def test_going_back_to_a_partners_link_is_a_click(scene: Scene):
    scene.show("")
    page = await scene.visit("/?aff=anna")
    await page.evaluate("history.pushState({}, '', '/pricing')")
    await scene.include(page)

    await scene.clicked(page, page.evaluate("history.back()"))

    assert len(scene.sent("click")) == 1


async def test_routes_that_keep_the_code_are_one_click_and_errors_of_the_page_s_own_history_reach_it(scene: Scene):
    page, _ = await scene.arrive("anna")

    await page.evaluate("for (const at of ['/a?aff=anna', '/b?aff=anna', '/c']) history.pushState({at}, '', at)")
    thrown = await page.evaluate("try { history.pushState({}, '', 'https://elsewhere.example/') } catch (e) { e.name }")

    await page.evaluate("svc.signup('user-1')")
    assert len(scene.sent("click")) == 1
    assert await page.evaluate("[history.state.at, location.pathname]") == ["/c", "/c"]
    assert thrown == "SecurityError"
