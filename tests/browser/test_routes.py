"""Single-page apps: the address changes, the page does not load again."""

from tests.browser.scene import Scene


async def test_a_route_with_a_partner_code_is_a_click(scene: Scene):
    page = await scene.visit("/")

    for change in ("history.pushState({}, '', '/?aff=anna')", "history.replaceState({}, '', '?aff=ben')"):
        click_id = await scene.clicked(page, page.evaluate(change))
        assert (await scene.cookie())["value"] == click_id, change


async def test_going_back_to_a_partners_link_is_a_click(scene: Scene):
    scene.show("")
    page = await scene.visit("/?aff=anna")
    await page.evaluate("history.pushState({}, '', '/pricing')")
    await scene.include(page)

    await scene.clicked(page, page.evaluate("history.back()"))

    assert len(scene.sent("click")) == 1


async def test_routes_that_keep_the_code_are_one_click(scene: Scene):
    page, _ = await scene.arrive("anna")

    await page.evaluate("for (const at of ['/a?aff=anna', '/b?aff=anna', '/c']) history.pushState({at}, '', at)")

    await page.evaluate("svc.signup('user-1')")
    assert len(scene.sent("click")) == 1
    assert await page.evaluate("[history.state.at, location.pathname]") == ["/c", "/c"]


async def test_going_back_to_an_earlier_partners_url_changes_nothing(scene: Scene):
    page, _ = await scene.arrive("anna")
    bens = await scene.clicked(page, page.evaluate("history.pushState({}, '', '/?aff=ben')"))

    await page.go_back()
    await page.evaluate("svc.signup('user-1')")

    assert page.url.endswith("?aff=anna")
    assert scene.sent("lead")[0]["click_id"] == bens


async def test_errors_of_the_pages_own_history_reach_the_page(scene: Scene):
    page = await scene.visit("/")

    thrown = await page.evaluate("try { history.pushState({}, '', 'https://elsewhere.example/') } catch (e) { e.name }")

    assert thrown == "SecurityError"
