"""Signing in and out: whom the pages are for, and where they lead everybody else."""

from playwright.async_api import expect

from tests import world
from tests.tracking_api.dashboard.pages.conftest import MAX, OLGA, Site


async def test_a_visitor_sees_the_home_page_with_a_link_to_sign_in(site: Site):
    page = await site.visit()
    await page.goto("/")

    await expect(page.get_by_role("heading", level=1)).to_have_text("Know which partner sent each customer")
    shown = await page.locator("figure img").evaluate("(picture) => picture.decode().then(() => picture.naturalWidth)")
    assert shown == 1280
    await page.get_by_role("link", name="Sign in to the dashboard").click()

    await expect(page).to_have_title("Sign in · Affiliate tracking")


async def test_signing_in_returns_to_the_requested_page(site: Site):
    page = await site.visit()
    await page.goto(f"{site.program}/partners")
    await page.get_by_label("E-mail address").fill(OLGA)
    await page.get_by_label("Password").fill("wrong")
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("alert")).to_be_visible()
    await expect(page.get_by_label("E-mail address")).to_have_value(OLGA)

    await page.get_by_label("Password").fill("correct horse battery")
    await page.get_by_role("button", name="Sign in").click()

    await expect(page).to_have_url(f"{site.server.base_url}{site.program}/partners")


async def test_the_session_is_in_a_cookie_that_no_script_can_read(site: Site):
    page = await site.sign_in()

    cookies = {cookie["name"]: cookie for cookie in await page.context.cookies()}

    assert cookies["svc_session"]["httpOnly"]
    assert cookies["svc_session"]["sameSite"] == "Lax"
    assert "svc_session" not in await page.evaluate("document.cookie")


async def test_signing_out_ends_the_session_and_not_only_the_cookie(site: Site):
    page = await site.sign_in()
    cookies = {cookie["name"]: cookie["value"] for cookie in await page.context.cookies()}

    await page.get_by_label("Account: ").click()
    await page.get_by_role("button", name="Sign out").click()

    await expect(page.get_by_role("status")).to_have_text("You are signed out.")
    await page.context.add_cookies(
        [{"name": "svc_session", "value": cookies["svc_session"], "url": site.server.base_url}]
    )
    await page.goto(site.program)
    await expect(page).to_have_url(f"{site.server.base_url}/sign-in?next=%2Fprograms%2F{site.acme.program_id}")


async def test_a_suspended_member_is_signed_out_at_the_next_page(site: Site):
    page = await site.sign_in(MAX)
    await page.goto(site.program)
    await expect(page.get_by_role("heading", level=1)).to_have_text("Overview")

    await world.suspend(site.acme.store, site.acme.workspace_id, MAX)
    await page.reload()

    assert await page.get_by_role("heading", level=1).text_content() != "Overview"


async def test_a_member_sees_no_form_and_cannot_submit_one(site: Site):
    page = await site.sign_in(MAX)
    await page.goto(f"{site.program}/settings/api-keys")
    await expect(page.get_by_text("Only an owner of the workspace may do this.")).to_be_visible()
    token = await page.locator("form[action='/sign-out'] input[name=csrf]").get_attribute("value")

    answer = await page.request.post(
        f"{site.program}/settings/api-keys",
        form={"csrf": token or "", "confirmed": "yes"},
        headers={"Origin": site.server.base_url},
    )

    assert answer.status == 403
    assert "owner_required" in await answer.text()
