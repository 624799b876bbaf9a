"""The page Import: what files would add, conflicts to decide, the import, and its undo; for owners and managers."""

import httpx

from storage.access.workspaces import Role
from storage.tables import commissions, partners
from tests.storage.management.importing import COMMISSIONS, CUSTOMERS, PARTNERS
from tests.tracking_api.dashboard.conftest import Dashboard
from tests.tracking_api.dashboard.reading import csrf, every_button, words
from tests.world import stored

FILES = [("file", (f"{n}.csv", text.encode())) for n, text in enumerate((PARTNERS, CUSTOMERS, COMMISSIONS))]


async def check(olga: httpx.AsyncClient, path: str, files: object = None, **fields: str) -> httpx.Response:
    sent = {"csrf": await csrf(olga), "tool": "generic", "amounts": "", **fields}
    return await olga.post(path, data=sent, files=FILES if files is None else files)  # type: ignore[arg-type]


async def press(olga: httpx.AsyncClient, path: str, markup: str, said: str, **chosen: str) -> httpx.Response:
    """Press a button of the form that a page has, as a browser does that sends its text areas."""
    action, fields = every_button(markup)[said]
    return await olga.post(action or path, data=fields | chosen, files={"file": ("", b"")})


async def test_a_manager_checks_files_then_imports_and_undoes_them(dashboard: Dashboard):
    path, acme = f"{dashboard.pages}/import", dashboard.acme
    await dashboard.join("mona@acme.example", Role.MANAGER)

    async with dashboard.browser("mona@acme.example") as mona:
        checked = await check(mona, path)
        before = await stored(acme, commissions.c.id)
        done = await press(mona, path, checked.text, "Import")
        imported = await stored(acme, commissions.c.amount_cents)
        undo = every_button((await mona.get(path)).text)
        action, fields = next(each for said, each in undo.items() if said.startswith("Undo"))
        undone = await mona.post(action or path, data=fields)

    assert (checked.status_code, done.status_code, undone.status_code) == (200, 303, 303)
    assert "nora Paid 1 $30.00 nora Pending 1 $30.00 nora Rejected 1 $15.00" in words(checked.text)
    assert (before, len(imported), await stored(acme, commissions.c.id)) == ([], 3, [])
    assert ("nora",) not in await stored(acme, partners.c.code)


async def test_whole_numbers_are_asked_about_and_files_that_are_none_named(dashboard: Dashboard):
    olga = dashboard.olga
    path, acme = f"{dashboard.pages}/import", dashboard.acme
    whole = COMMISSIONS.replace(".00", "")

    asked = await check(olga, path, [FILES[0], ("file", ("c.csv", whole.encode()))])
    done = await press(olga, path, asked.text, "Import", amounts="cents", on_conflict="skip")
    wrong = await check(olga, path, [("file", ("x.csv", b"colour,size\n"))])
    large = await check(olga, path, [("file", ("x.csv", b"code\n" * 300_000))])
    none = await check(olga, path, [("file", ("", b""))])

    assert "whole numbers" in words(asked.text)
    assert (done.status_code, await stored(acme, commissions.c.amount_cents)) == (303, [(30,), (30,), (15,)])
    assert "names no column" in words(wrong.text)
    assert "1 MiB" in words(large.text)
    assert "Choose one file" in words(none.text)
