"""The checklist: a step is done by what it says, and by nothing that was imported, came late or is our own page."""

from datetime import timedelta
from typing import Any

import pytest

from storage.reports import checklist
from storage.tracking import test_mode
from tests.storage.databases import both_databases
from tests.storage.management.importing import COMMISSIONS, imported
from tests.world import NOW, World

LATE = timedelta(days=2)
BOT = {"filtered": "bot"}
PAGES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "https://acme.example/pricing?aff=anna": ({}, ["tracker_installed", "live_click"]),
    "http://www.acme.example:8080/": ({}, ["tracker_installed", "live_click"]),
    "https://pay.example/": ({}, ["tracker_installed", "live_click"]),
    "https://acme.example/": (BOT, ["tracker_installed"]),
    "https://evil.example/?u=https://acme.example/": ({}, ["live_click"]),
    "https://notacme.example/": ({}, ["live_click"]),
    "https://svc.example/programs/{id}/sample-page?aff=anna": ({}, ["sample_page"]),
    "http://127.0.0.1:8000/programs/{id}/sample-page?aff=anna": (BOT, ["sample_page"]),
    "": ({}, ["live_click"]),
}


async def done(acme: World) -> list[str]:
    steps = await acme.store.read(checklist.list_all_steps, acme.program_id, base_url="https://svc.example")
    return [each.step for each in steps if each.done][2:]  # every program here has a key and partners


@pytest.mark.parametrize("page", PAGES)
async def test_a_click_proves_the_tracker_on_a_page_of_the_program_s_domains_alone(acme: World, page: str):
    fields, proved = PAGES[page]
    await acme.change(further_domains="pay.example")

    await acme.click(page_url=page.format(id=acme.program_id) or None, **fields)

    assert await done(acme) == proved


@both_databases
async def test_imported_late_and_browser_s_test_events_prove_nothing_and_live_ones_do(acme: World):
    earned = COMMISSIONS.replace("nora", "anna").replace("user-7", "old-1").replace("2025-02-04", NOW.isoformat())
    await imported(acme, (earned,))
    test = test_mode.TestModeCall("click", NOW, program_id=acme.program_id)
    await acme.store.write(test_mode.record_without_key, test)
    at_first = await done(acme)
    await acme.sale("late-inv", customer_key="old-1", at=NOW + LATE, occurred_at=NOW)
    late = await done(acme)
    await acme.customer("new-1")
    await acme.sale("new-inv", customer_key="new-1")

    assert (at_first, late) == ([], [])
    assert await done(acme) == ["live_click", "live_lead", "live_sale"]
