"""The page Import: what files would add, conflicts to decide, the import, and its undo; for owners and managers."""

import httpx

from storage.access.workspaces import Role
from storage.tables import commissions
from tests.storage.management.importing import COMMISSIONS, PARTNERS
from tests.tracking_api.dashboard.conftest import Dashboard
from tests.tracking_api.dashboard.reading import csrf, every_button, words
from tests.world import stored


async def check(browser: httpx.AsyncClient, path: str, *files: tuple[str, bytes]) -> httpx.Response:
    sent = {"csrf": await csrf(browser), "tool": "generic", "amounts": ""}
    return await browser.post(path, data=sent, files=[("file", each) for each in files])


async def test_a_manager_is_asked_about_whole_numbers_and_files_that_are_none_are_named(dashboard: Dashboard):
    path, acme = f"{dashboard.pages}/import", dashboard.acme
    whole = COMMISSIONS.replace(".00", "")
    await dashboard.join("mona@acme.example", Role.MANAGER)

    async with dashboard.browser("mona@acme.example") as mona:
        asked = await check(mona, path, ("p.csv", PARTNERS.encode()), ("c.csv", whole.encode()))
        before = await stored(acme, commissions.c.id)
        action, fields = every_button(asked.text)["Import"]
        chosen = fields | {"amounts": "cents", "on_conflict": "skip"}
        done = await mona.post(action or path, data=chosen, files={"file": ("", b"")})
        wrong = await check(mona, path, ("x.csv", b"colour,size\n"))
        large = await check(mona, path, ("x.csv", b"code\n" * 300_000))
        none = await check(mona, path, ("", b""))

    assert "whole numbers" in words(asked.text)
    assert (before, done.status_code) == ([], 303)
    assert await stored(acme, commissions.c.amount_cents) == [(30,), (30,), (15,)]
    assert "names no column" in words(wrong.text)
    assert "1 MiB" in words(large.text)
    assert "Choose one file" in words(none.text)
