"""The explore page: its cards say what breakdowns say, a row filters them all, and each card is a CSV file."""

import csv
import html
import io
import json
import re
from datetime import timedelta

import httpx
import pytest

from storage.reading import explore
from storage.rules.click_details import ClickDetails
from tests.tracking_api.dashboard.conftest import Dashboard
from tests.tracking_api.dashboard.reading import link, words
from tests.world import NOW

HOSTILE = "=cmd()<script>"


@pytest.fixture
async def page(dashboard: Dashboard, olga: httpx.AsyncClient) -> httpx.AsyncClient:
    """A browser with the owner's session: Acme has a buyer from a search on a phone, and older and other visits."""
    acme = dashboard.acme
    phone, desk = (json.dumps({"device": device, "utm_campaign": HOSTILE}) for device in ("mobile", "desktop"))
    click = await acme.visitor(details=ClickDetails("search.example", dimensions=phone))
    await acme.lead(click, "user-1")
    await acme.sale()
    await acme.visitor("ben", details=ClickDetails("news.example", dimensions=desk))
    await acme.visitor("ben", details=ClickDetails("news.example", dimensions=desk))
    await acme.visitor("ben", details=ClickDetails("news.example", dimensions=phone), at=NOW - timedelta(days=40))
    await acme.visitor()
    olga.base_url = httpx.URL(f"http://svc.test{dashboard.pages}")
    return olga


def card(text: str, name: str) -> dict[str, str]:
    """Return a card's rows without markup: the name of each group with its figures."""
    section = text.partition(f'id="card-{name}"')[2].partition("</section>")[0]
    rows = re.findall(r"<tr><th scope=\"row\"[^>]*>(.*?)</th>(.*?)</tr>", section, re.DOTALL)
    return {words(named): words(figures) for named, figures in rows}


async def test_each_card_shows_its_groups_beside_the_period_before(page: httpx.AsyncClient):
    shown = await page.get("/explore")

    assert shown.status_code == 200
    sources = card(shown.text, "referrer")
    assert list(sources) == ["news.example", "No referrer", "search.example"]
    assert sources["news.example"].startswith("2 ↑ up 100% , 1 in the period before 0")
    assert "$100.00" in sources["search.example"]
    assert set(card(shown.text, "device")) == {"Desktop", "Mobile", "Unknown"}
    assert set(card(shown.text, "partner")) == {"anna", "ben"}


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


async def test_a_card_is_a_csv_file_that_a_spreadsheet_runs_nothing_of(page: httpx.AsyncClient):
    exported = await page.get("/explore.csv?by=utm_campaign&period=30d")

    assert exported.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(exported.text)))
    assert [(row["utm_campaign"], row["clicks"], row["revenue"]) for row in rows] == [
        (f"'{HOSTILE}", "3", "100.00"),
        ("(none)", "1", "0.00"),
    ]
    assert [row["previous_clicks"] for row in rows] == ["1", "0"]


async def test_the_page_says_what_is_wrong_with_a_filter_and_shows_a_hostile_campaign_as_text(page: httpx.AsyncClient):
    no_hour = await page.get("/explore?hour=25")
    hostile = [(await page.get(f"/explore{query}")).text for query in ("?utm_campaign=%3Cscript%3Ex", "")]

    assert (no_hour.status_code, "Hour: One of 00, 01" in no_hour.text) == (400, True)
    assert "<script>x" not in hostile[0]
    assert HOSTILE not in hostile[1]


async def test_too_many_events_for_all_cards_are_said_and_nothing_is_shown(
    page: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(explore, "MOST_EVENTS", 2)

    shown = await page.get("/explore")

    assert shown.status_code == 400
    assert "Too many events: at most 2 of a kind are read." in shown.text
    assert "card-referrer" not in shown.text


async def test_places_and_devices_have_names_and_an_empty_period_says_so_once(page: httpx.AsyncClient):
    named = await page.get("/explore?country=DE")
    empty = await page.get("/explore?dateFrom=2020-01-01&dateTo=2020-01-02")

    assert "Country: <bdi>Germany</bdi>" in " ".join(re.sub(r"<(?!/?bdi)[^>]+>", "", named.text).split())
    assert (empty.text.count("Nothing in this period"), 'id="card-' in empty.text) == (1, False)
