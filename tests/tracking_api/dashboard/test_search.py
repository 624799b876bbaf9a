"""The search page over HTTP: what it shows, to whom, and that nothing typed is logged."""

import logging

import httpx
import pytest

from storage.access import sessions, workspaces
from tests import world
from tests.tracking_api.dashboard.conftest import Dashboard
from tests.tracking_api.dashboard.reading import csrf
from tests.world import NOW
from tracking_api.dashboard.pages.destinations import OF_ACCOUNT, OF_PROGRAM, matching
from tracking_api.dashboard.pages.routes import ROUTES

HOSTILE = '"><script>touch(1)</script>'


async def results(olga: httpx.AsyncClient, typed: str, **query: str) -> str:
    """Return the results page."""
    answer = await olga.get("/search", params={"q": typed, **query})
    assert answer.status_code == 200
    return answer.text


async def test_an_invoice_tells_its_story(olga: httpx.AsyncClient, dashboard: Dashboard):
    await dashboard.acme.customer()
    await dashboard.acme.sale("inv-1")

    page = await results(olga, "inv-1")

    for part in ("Credited", "Anna", "user-1", "$100.00", "$20.00", "The first sale came within 60 days"):
        assert part in page
    assert "never arrived" not in page


async def test_nothing_of_another_workspace_is_found(olga: httpx.AsyncClient, dashboard: Dashboard):
    store = dashboard.acme.store
    made = await store.write(workspaces.create, "Globex", owner_email="g@globex.example", password_hash="x", at=NOW)
    globex = await world.program_of(store, made.workspace_id, made.user_id, name="Globex partners")
    await globex.customer("user-7")
    await globex.sale("inv-7", customer_key="user-7")
    own = (await store.write(sessions.start, made.user_id, at=NOW)).token

    pages = [await results(olga, typed, program_id=str(globex.program_id)) for typed in ("inv-7", "user-7", "Globex")]
    theirs = await olga.get("/search?q=inv-7", headers={"Cookie": f"svc_session={own}"})

    assert all("This never arrived" in page for page in pages)
    assert "Globex partners" in theirs.text
    assert not any("Globex partners" in page for page in pages)


async def test_hostile_text_is_only_text(olga: httpx.AsyncClient, dashboard: Dashboard):
    await dashboard.acme.customer(HOSTILE)
    token = await csrf(olga)

    for typed in (HOSTILE, "x" * 3_000, "%", "_", "9" * 400, "\u202einv-1\x00", "https://[", " "):
        page = await results(olga, typed)
        list_ = await olga.post("/search", data={"q": typed, "csrf": token, "program_id": "9" * 30})

        assert list_.status_code == 200, typed
        assert "<script>touch" not in page + list_.text, typed
        assert "\u202e" not in page, typed


async def test_nothing_typed_is_logged_and_a_visitor_without_a_session_is_led_to_sign_in(
    dashboard: Dashboard, olga: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
):
    for name in ("svc", "web", "tracking_api"):
        caplog.set_level(logging.DEBUG, logger=name)

    await results(olga, "jane@example.com")
    async with dashboard.browser(None) as stranger:
        led = await stranger.get("/search?q=jane@example.com")

    assert "jane" not in "".join(record.getMessage() for record in caplog.records if not record.name.startswith("http"))
    assert (led.status_code, led.headers["location"]) == (303, "/sign-in?next=%2Fsearch%3Fq%3Djane%40example.com")


def test_every_page_of_the_menu_is_found_by_its_title():
    base = "/programs/{program_id}"
    pages = {route.path for route in ROUTES if "GET" in (route.methods or ()) and "." not in route.path}
    plain = {path for path in pages if path.startswith(base) and "{" not in path.removeprefix(base)}
    listed = {base + each.path.partition("?")[0] for each in OF_PROGRAM}

    assert plain - listed == {f"{base}/sample-page"}
    assert listed <= plain
    assert {each.path for each in OF_ACCOUNT} - {"/docs"} <= pages
    assert all(matching(OF_PROGRAM, each.title)[0] == each for each in OF_PROGRAM)
    assert [each.title for each in matching(OF_PROGRAM, "rotate key")] == ["Program key"]
