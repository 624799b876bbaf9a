"""Consent: nothing is sent and nothing is stored before the visitor agrees."""

from tests.browser.scene import Scene

ASKING = 'data-svc-consent="required" data-svc-debug'


async def test_nothing_is_sent_or_stored_before_consent(scene: Scene):
    scene.show(scene.tag(ASKING))
    page = await scene.visit("/?aff=anna")

    answer = await page.evaluate("svc.signup('user-1')")

    assert (answer["success"], answer["reason"]) == (False, "consent_required")
    assert scene.calls == []
    assert await scene.context.cookies() == []
    assert "held until window.svc.consent() is called" in "".join(scene.said)


async def test_the_partner_code_is_kept_across_routes_until_consent(scene: Scene):
    scene.show(scene.tag(ASKING))
    page = await scene.visit("/?aff=anna")
    await page.evaluate("history.pushState({}, '', '/pricing')")

    click_id = await scene.clicked(page, page.evaluate("svc.consent()"))

    assert (await scene.cookie())["value"] == click_id
    assert scene.sent("click")[0]["affiliate_url"] == scene.shop.url("/?aff=anna")
    assert scene.sent("click")[0]["page_url"] == scene.shop.url("/pricing")


async def test_a_sign_up_before_consent_is_sent_once_the_visitor_agrees(scene: Scene):
    scene.show(scene.tag(ASKING))
    page = await scene.visit("/?aff=anna")
    await page.evaluate("svc.signup('user-1')")

    async with page.expect_response("**/api/v1/track/lead") as lead:
        await page.evaluate("svc.consent(); svc.consent()")

    assert (await (await lead.value).json())["provisional"]
    assert (len(scene.sent("click")), len(scene.sent("lead"))) == (1, 1)


async def test_a_link_is_not_decorated_before_consent(scene: Scene):
    await scene.change(domain="127.0.0.1")
    await scene.arrive("anna")
    scene.show(scene.tag(ASKING))
    page = await scene.visit("/")
    decorate = "svc.decorate('https://b.example/')"

    before = await page.evaluate(decorate)
    asked = [call.url for call in scene.calls if "/handover" in call.url]
    await page.evaluate("svc.consent()")
    await scene.prepare(page)
    after = await page.evaluate(decorate)

    assert (before, asked) == ("https://b.example/", [])
    assert after.startswith(f"https://b.example/?svc_click_id={(await scene.cookie())['value']}.")
