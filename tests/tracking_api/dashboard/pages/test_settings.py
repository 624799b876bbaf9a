"""The assistants that a member connects and an owner disconnects, in a real browser."""

from urllib.parse import parse_qs, urlsplit

from playwright.async_api import Page, Route, expect

from tests.tracking_api.authorization.consenting import ask, consent, fetch_tokens
from tests.tracking_api.dashboard.pages.conftest import MAX, Site

HOSTILE = "<script>document.title='taken'</script>\u202e gnp.exe"
SHOWN = "<script>document.title='taken'</script> gnp.exe"


class Callback:
    """The assistant's own address, to which the browser goes back; nothing leaves this machine."""

    def __init__(self) -> None:
        self.received: dict[str, str] = {}

    async def watch(self, page: Page) -> None:
        await page.route("https://assistant.example/**", self._take)

    async def _take(self, route: Route) -> None:
        self.received = {name: each[0] for name, each in parse_qs(urlsplit(route.request.url).query).items()}
        await route.fulfill(status=200, content_type="text/html", body="<h1>Back at your assistant</h1>")


async def test_a_member_connects_an_assistant_to_the_programs_they_choose_and_an_owner_disconnects_it(site: Site):
    page, callback = await site.sign_in(MAX), Callback()
    await callback.watch(page)
    asked = await ask(site.server.base_url, client_name=HOSTILE)
    await page.goto(asked.page)
    await expect(page.get_by_role("heading", level=1)).to_have_text(f"Connect {SHOWN}?")
    await page.get_by_role("checkbox", name="Acme partners").uncheck()
    await page.get_by_role("button", name="Connect").click()
    await expect(page.get_by_role("alert")).to_contain_text("Choose at least one of your programs")
    await page.goto(asked.page)
    await page.get_by_role("button", name="Cancel").click()
    await expect(page.get_by_role("heading", name="Back at your assistant")).to_be_visible()
    assert (callback.received["error"], "code" in callback.received) == ("access_denied", False)

    shown = await consent(page, asked.page)
    await expect(page.get_by_role("heading", name="Back at your assistant")).to_be_visible()

    assert f"Acts for\n{MAX}" in shown
    assert (callback.received["state"], callback.received["iss"]) == ("s", site.server.base_url)
    await fetch_tokens(site.server.base_url, asked.client_id, callback.received["code"])
    olga = await site.sign_in()
    await olga.goto("/assistants")
    await expect(olga.get_by_role("listitem").filter(has_text=SHOWN)).to_contain_text(f"connected by {MAX}")
    await olga.get_by_role("button", name="Disconnect").click()
    await olga.get_by_role("button", name="Disconnect").click()
    await expect(olga.get_by_text("No assistant is connected")).to_be_visible()
