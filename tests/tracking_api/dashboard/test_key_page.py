"""The page of the program key: created and replaced with a warning, shown once, and who uses which one."""

from datetime import timedelta

import httpx

import background
from storage.access import program_keys
from tests.tracking_api.dashboard.conftest import MAX, Dashboard
from tests.tracking_api.dashboard.reading import follow, form_of, send, words
from tests.world import NOW

AGENT = "acme-shop/1.2 <b>"
STATUS = "/api/v1/cli/status"


def secret_of(page: str) -> str:
    """Return the key that a page shows."""
    return page.partition('id="secret"')[2].partition("<code>")[2].partition("<")[0]


async def test_a_new_program_asks_for_its_key_first_and_creates_it_without_a_warning(
    dashboard: Dashboard, olga: httpx.AsyncClient
):
    about = {"name": "Oslo", "domain": "oslo.example", "currency": "NOK"}
    created = await send(olga, "/programs/new", "Create program", **about)
    checklist = created.headers["location"]
    place = checklist.removesuffix("/settings/checklist")
    new = await follow(olga, created)
    overview = words((await olga.get(place)).text)
    before = (await olga.get(f"{place}/settings/api-keys")).text

    shown = (await send(olga, f"{place}/settings/api-keys", "Create the key")).text

    assert ("The program is created" in new, "0 of 9 steps done" in new) == (True, True)
    assert "Finish the setup: 0 of 9 done Next: Create the program key" in overview
    assert "No partner sent a visitor in this period." in overview
    assert ("card danger" in before, "The old key no longer works" in shown) == (False, False)
    assert (await dashboard.get(STATUS, secret_of(shown))).json()["data"]["name"] == "Oslo"
    assert "There is no overlap" in (await olga.get(f"{place}/settings/api-keys")).text


async def test_a_key_is_replaced_once_confirmed_shown_once_and_not_replaced_again_by_a_reload(
    dashboard: Dashboard, olga: httpx.AsyncClient
):
    path, old = f"{dashboard.pages}/settings/api-keys", dashboard.acme.key
    _, fields = form_of((await olga.get(path)).text, "Generate a new key")

    unconfirmed = await olga.post(path, data=fields)
    replaced = await olga.post(path, data=fields | {"confirmed": "yes"})
    reloaded = await olga.post(path, data=fields | {"confirmed": "yes"})

    new, page = secret_of(replaced.text), (await olga.get(path)).text
    assert (unconfirmed.status_code, "Tick the box first" in unconfirmed.text) == (400, True)
    assert (replaced.status_code, replaced.headers["cache-control"]) == (200, "no-store")
    assert (reloaded.status_code, "This key was already replaced" in reloaded.text) == (400, True)
    assert (await dashboard.get(STATUS, old)).json()["error"]["code"] == "invalid_key"
    assert (await dashboard.get(STATUS, new)).status_code == 200
    assert (new in reloaded.text + page, f"aff_••••{new[-4:]}" in page) == (False, True)


async def test_a_flagged_key_is_announced_on_every_page(dashboard: Dashboard):
    about = {"rotate_by": NOW + timedelta(days=9), "at": NOW}
    await dashboard.acme.store.write(program_keys.flag, dashboard.acme.program_id, **about)

    async with dashboard.browser() as olga, dashboard.browser(MAX) as other:
        pages = [words((await each.get(f"{dashboard.pages}/partners")).text) for each in (olga, other)]

    assert all("Replace the program key." in page for page in pages)
    assert ["Generate a new key" in page for page in pages] == [True, False]


async def test_the_key_page_lists_callers_of_the_key_and_of_the_one_before(
    dashboard: Dashboard, olga: httpx.AsyncClient
):
    acme, headers = dashboard.acme, {"User-Agent": AGENT}
    await acme.customer()
    sale = {"transaction_id": "inv-1", "customer_key": "user-1", "amount_cents": 100}
    await dashboard.call("POST", "/api/v1/track/sale", acme.key, json=sale, headers=headers)
    await acme.store.write(program_keys.regenerate, acme.program_id, at=NOW)
    dashboard.transport.client = ("203.0.113.5", 50_000)
    refund = {"transaction_id": "inv-1"}
    await dashboard.call("POST", "/api/v1/track/refund", acme.key, json=refund, headers=headers)
    await background.save_callers(acme.store)

    page = (await olga.get(f"{dashboard.pages}/settings/api-keys")).text

    assert "acme-shop/1.2 &lt;b&gt;" in page
    assert AGENT not in page
    assert "refund 1" in page
    assert "203.0.113" not in page
    assert page.count("Replaced") == 3  # the caller that sold, the one from elsewhere, and the lead's
