"""A member connects an assistant, sees it among the connected ones, and disconnects it."""

from urllib.parse import parse_qs, urlsplit

from playwright.async_api import Page, Route, expect

from tests.tracking_api.authorization.consenting import ask, consent, fetch_tokens
from tests.tracking_api.dashboard.pages.conftest import MAX, OLGA, Site

HOSTILE = "<script>document.title='taken'</script>\u202e gnp.exe"


class Callback:
    """The assistant's own address, to which the browser goes back; nothing leaves this machine."""

    def __init__(self) -> None:
        self.received: dict[str, str] = {}

    async def watch(self, page: Page) -> None:
        await page.route("https://assistant.example/**", self._take)

    async def _take(self, route: Route) -> None:
        self.received = {name: each[0] for name, each in parse_qs(urlsplit(route.request.url).query).items()}
        await route.fulfill(status=200, content_type="text/html", body="<h1>Back at your assistant</h1>")


async def test_a_member_signs_in_chooses_and_returns_with_a_code(site: Site):
    page, callback = await site.visit(), Callback()
    await callback.watch(page)

    shown = await consent(page, (await ask(site.server.base_url)).page)
    await expect(page.get_by_role("heading", name="Back at your assistant")).to_be_visible()

    assert "Connect Helper?" in shown
    assert "Access is granted to\nassistant.example" in shown
    assert f"Acts for\n{OLGA}" in shown
    assert "Anyone can register under any name" in shown
    assert "It cannot change anything" in shown
    assert callback.received["code"].startswith("oac_")
    assert (callback.received["state"], callback.received["iss"]) == ("s", site.server.base_url)


async def test_a_member_who_denies_returns_without_a_code(site: Site):
    page, callback = await site.sign_in(MAX), Callback()
    await callback.watch(page)
    await page.goto((await ask(site.server.base_url)).page)

    await page.get_by_role("button", name="Cancel").click()
    await expect(page.get_by_role("heading", name="Back at your assistant")).to_be_visible()

    assert callback.received["error"] == "access_denied"
    assert "code" not in callback.received


async def test_nothing_is_granted_while_no_program_is_chosen(site: Site):
    page = await site.sign_in()
    await page.goto((await ask(site.server.base_url)).page)
    await page.get_by_role("checkbox", name="Acme partners").uncheck()

    await page.get_by_role("button", name="Connect").click()

    await expect(page.get_by_role("alert")).to_contain_text("Choose at least one of your programs")
    await page.goto("/assistants")
    await expect(page.get_by_text("No assistant is connected")).to_be_visible()


async def test_the_name_of_a_client_is_only_text(site: Site):
    page = await site.sign_in()

    await page.goto((await ask(site.server.base_url, client_name=HOSTILE)).page)

    assert await page.title() == "Connect an assistant · Affiliate tracking"
    await expect(page.get_by_role("heading", level=1)).to_have_text(
        "Connect <script>document.title='taken'</script> gnp.exe?"
    )


async def test_a_request_that_waited_too_long_or_was_changed_says_what_to_do(site: Site):
    page = await site.sign_in()

    await page.goto("/connect/changed")

    await expect(page.get_by_text("Go back to your assistant and connect it again.")).to_be_visible()


async def test_an_owner_sees_all_assistants_and_disconnects_one(site: Site):
    page, callback = await site.sign_in(MAX), Callback()
    await callback.watch(page)
    asked = await ask(site.server.base_url)
    await consent(page, asked.page)
    await expect(page.get_by_role("heading", name="Back at your assistant")).to_be_visible()
    given = await fetch_tokens(site.server.base_url, asked.client_id, callback.received["code"])
    olga = await site.sign_in()
    await olga.get_by_label("Account: ").click()
    await olga.get_by_role("link", name="Assistants").click()
    card = olga.get_by_role("listitem").filter(has=olga.get_by_role("heading", name="Helper"))
    await expect(card).to_contain_text(f"connected by {MAX}")

    await card.get_by_role("button", name="Disconnect").click()
    await olga.get_by_role("button", name="Disconnect").click()

    await expect(olga.get_by_text("The assistant is disconnected")).to_be_visible()
    await expect(olga.get_by_text("No assistant is connected")).to_be_visible()
    await olga.goto(f"{site.program}/settings/audit-log")
    await expect(olga.get_by_role("main")).to_contain_text("Assistant disconnected")
    assert given["access_token"] not in await olga.content()
