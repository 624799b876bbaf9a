"""Finding things: the search page, what it shows to whom, and the explore page, whose rows filter its cards."""

import csv
import html
import io
import json
import logging
import re
from datetime import timedelta

import httpx
import pytest

from storage.access import sessions, workspaces
from storage.rules.click_details import ClickDetails
from tests import world
from tests.tracking_api.dashboard.conftest import Dashboard
from tests.tracking_api.dashboard.reading import csrf, link, words
from tests.world import NOW

HOSTILE = '"><script>touch(1)</script>'
CELL = "=cmd()<script>"


@pytest.fixture
async def page(dashboard: Dashboard, olga: httpx.AsyncClient) -> httpx.AsyncClient:
    """A browser with the owner's session: Acme has a buyer from a search on a phone, and older and other visits."""
    acme = dashboard.acme
    phone, desk = (json.dumps({"device": device, "utm_campaign": CELL}) for device in ("mobile", "desktop"))
    await acme.lead(await acme.visitor(details=ClickDetails("search.example", dimensions=phone)), "user-1")
    await acme.sale()
    for dimensions, at in ((desk, NOW), (desk, NOW), (phone, NOW - timedelta(days=40))):
        await acme.visitor("ben", details=ClickDetails("news.example", dimensions=dimensions), at=at)
    await acme.visitor()
    olga.base_url = httpx.URL(f"http://svc.test{dashboard.pages}")
    return olga


def card(text: str, name: str) -> dict[str, str]:
    """Return a card's rows without markup: the name of each group with its figures."""
    section = text.partition(f'id="card-{name}"')[2].partition("</section>")[0]
    rows = re.findall(r"<tr><th scope=\"row\"[^>]*>(.*?)</th>(.*?)</tr>", section, re.DOTALL)
    return {words(named): words(figures) for named, figures in rows}


async def test_a_row_filters_every_card_and_a_chip_removes_the_filter(page: httpx.AsyncClient):
    whole = await page.get("/explore?period=90d")
    narrow = await page.get(f"/explore{link(whole.text, 'search.example')}")
    crossed = await page.get(f"/explore{link(narrow.text, 'Mobile')}")
    direct = await page.get(f"/explore{link(whole.text, 'No referrer')}")
    (without,) = re.findall(r'class="chip" href="([^"]*)"[^>]*><span[^>]*>[^<]*</span>Referrer', crossed.text)

    assert [*card(direct.text, "referrer")] == ["No referrer"]  # what lacks a dimension
    assert [*card(narrow.text, "partner")] == ["anna"]
    assert [*card(narrow.text, "device")] == ["Mobile"]
    widened = await page.get(f"/explore{html.unescape(without)}")
    assert widened.url.query == b"period=90d&device=mobile"
    assert [*card(widened.text, "referrer")] == ["news.example", "search.example"]


async def test_a_card_is_a_csv_file_that_a_spreadsheet_runs_nothing_of_and_a_wrong_filter_is_named(
    page: httpx.AsyncClient,
):
    exported = await page.get("/explore.csv?by=utm_campaign&period=30d")
    no_hour, shown = await page.get("/explore?hour=25"), await page.get("/explore")

    assert exported.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(exported.text)))
    assert [(row["utm_campaign"], row["clicks"], row["previous_clicks"], row["revenue"]) for row in rows] == [
        (f"'{CELL}", "3", "1", "100.00"),
        ("(none)", "1", "0", "0.00"),
    ]
    assert (no_hour.status_code, "Hour: One of 00, 01" in no_hour.text) == (400, True)
    assert CELL not in shown.text


async def results(olga: httpx.AsyncClient, typed: str, **query: str) -> str:
    """Return the results page."""
    answer = await olga.get("/search", params={"q": typed, **query})
    assert answer.status_code == 200
    return answer.text


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
