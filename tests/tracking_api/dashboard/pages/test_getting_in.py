"""How people and programs get in, counted in clicks as in test_journeys.py; the first run is in test_set_up.py."""

from playwright.async_api import expect

from tests.tracking_api.authorization.consenting import ask
from tests.tracking_api.dashboard.pages.conftest import MAX, Site
from tests.tracking_api.dashboard.pages.test_assistants import Callback
from tests.tracking_api.dashboard.pages.test_journeys import Walk, begin, documented

EVA = "eva@acme.example"
WORDS = "several unrelated words"


async def choose_password(walk: Walk, button: str) -> None:
    await walk.page.get_by_label("New password", exact=True).fill(WORDS)
    await walk.page.get_by_label("New password again").fill(WORDS)
    await walk.click(walk.page.get_by_role("button", name=button))


async def invite_and_join(site: Site, owner: Walk) -> int:
    await owner.click(owner.menu("Settings"))
    await owner.click(owner.page.get_by_role("link", name="Members"))
    await owner.click(owner.page.get_by_text("Invite a member"))
    await owner.page.get_by_label("E-mail address").fill(EVA)
    await owner.click(owner.page.get_by_role("button", name="Invite"))
    guest = Walk(await site.visit())
    await guest.page.goto(await owner.page.locator("#invitation-link").inner_text())
    await choose_password(guest, "Create the account and join")
    await expect(guest.page.get_by_role("status")).to_contain_text("Welcome")
    return guest.clicks


async def lost_password(site: Site, owner: Walk) -> int:
    await owner.click(owner.menu("Settings"))
    await owner.click(owner.page.get_by_role("link", name="Members"))
    await owner.click(owner.page.get_by_role("button", name=f"Password link {MAX}"))
    member = Walk(await site.visit())
    await member.page.goto(await owner.page.locator("#reset-link").inner_text())
    await choose_password(member, "Set password")
    await member.page.get_by_label("E-mail address").fill(MAX)
    await member.page.get_by_label("Password").fill(WORDS)
    await member.click(member.page.get_by_role("button", name="Sign in"))
    await expect(member.page.get_by_role("heading", name="Programs")).to_be_visible()
    return member.clicks


async def rotate_a_key(site: Site, owner: Walk) -> int:
    await owner.click(owner.menu("Settings"))
    await owner.click(owner.page.get_by_role("link", name="API keys"))
    await owner.click(owner.page.get_by_label("I am ready to deploy the new key at once"))
    await owner.click(owner.page.get_by_role("button", name="Generate a new key"))
    new_key = await owner.page.locator("#secret").inner_text()
    assert (await site.call("/api/v1/track/refund", {}, new_key)).status_code == 400
    return 0


async def connect_an_assistant(site: Site, owner: Walk) -> int:
    callback = Callback()
    await callback.watch(owner.page)
    await owner.page.goto((await ask(site.server.base_url)).page)
    await owner.click(owner.page.get_by_role("button", name="Connect"))
    await expect(owner.page.get_by_role("heading", name="Back at your assistant")).to_be_visible()
    assert callback.received["code"].startswith("oac_")
    return 0


JOURNEYS = {
    "Invite and join": invite_and_join,
    "Lost password": lost_password,
    "Rotate a key": rotate_a_key,
    "Connect an assistant": connect_an_assistant,
}


async def test_getting_in_takes_as_many_clicks_as_the_docs_say(site: Site):
    page = await site.sign_in()
    counted: dict[str, tuple[int, int]] = {}

    for name, journey in JOURNEYS.items():
        walk = await begin(site, page)
        clicks_of_another = await journey(site, walk)
        counted[name] = (walk.clicks + clicks_of_another, walk.searches)

    assert counted.items() <= documented().items()
