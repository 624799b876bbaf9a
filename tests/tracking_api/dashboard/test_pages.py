"""The pages over plain HTTP: files, languages, errors as pages, and edits at the same time."""

from contextvars import copy_context
from datetime import UTC, date, datetime, timedelta

import httpx
import pytest
from starlette.requests import Request

from storage.reports.chart import Step
from storage.rules.reports.metrics import Totals
from tests.tracking_api.dashboard.conftest import OLGA, Dashboard
from tests.tracking_api.dashboard.reading import csrf, follow, form_of, words
from tracking_api import assets
from tracking_api.dashboard.pages import charted, text

HTML = {"Accept": "text/html"}
MENU = 'aria-label="Program"'


async def test_a_page_is_compressed_unless_another_site_could_measure_it(dashboard: Dashboard):
    encodings = {}
    for visit in ("same-origin", "none", "cross-site", ""):
        headers = {"Sec-Fetch-Site": visit} if visit else {"Origin": "http://svc.test"}
        async with dashboard.browser(OLGA, **headers) as browser:
            page = await browser.get(dashboard.pages)
        encodings[visit] = page.headers.get("content-encoding")
        assert "</html>" in page.text

    assert encodings == {"same-origin": "gzip", "none": "gzip", "cross-site": None, "": None}


async def test_files_are_cached_permanently_under_a_url_with_their_hash(olga: httpx.AsyncClient):
    address = assets.page_asset_path("pages.css")

    found = await olga.get(address)
    plain = await olga.get(address, headers={"Accept-Encoding": "identity"})

    assert found.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert found.headers["content-encoding"] == "gzip"
    assert found.text == plain.text
    assert (await olga.get(address, headers={"If-None-Match": found.headers["etag"]})).status_code == 304
    assert (await olga.get("/static/0/../pages/forms.py")).status_code == 404


async def test_the_examples_of_a_guide_have_the_values_of_a_program_that_the_visitor_may_see(dashboard: Dashboard):
    olga = dashboard.olga
    made = (await dashboard.post("/api/programs", name="Second shop", domain="second.example")).json()["id"]

    second, foreign = [(await olga.get(f"/docs/verify?program={each}", headers=HTML)).text for each in (made, 404)]
    stranger = (await olga.get(f"/docs/verify?program={made}", headers=HTML | {"Cookie": ""})).text

    assert ("second.example" in second, f'href="/docs/errors?program={made}"' in second) == (True, True)
    assert ("second.example" in foreign, "acme.example" in foreign) == (False, True)
    assert ("acme.example" in stranger, "second.example" in stranger) == (False, False)


@pytest.mark.parametrize(
    ("days", "unit", "rows"), [(1, "day", 1), (92, "day", 92), (93, "week", 14), (1830, "month", 61)]
)
def test_a_long_range_is_added_up_without_losing_a_day(days: int, unit: str, rows: int):
    first = datetime(2026, 1, 1, tzinfo=UTC)
    days_at = [first + timedelta(days=n) for n in range(days)]
    steps = [Step(at, at, Totals(clicks=n, revenue_cents=1), 2) for n, at in enumerate(days_at)]

    shown, groups = charted.grouped(steps)
    added = [charted.added(group) for group in groups]

    assert (shown, len(added), added[0].first) == (unit, rows, first)
    assert list(charted.alike(groups, steps)) == added
    assert sum(row.refunded_cents for row in added) == 2 * days
    assert sum(row.totals.clicks for row in added) == sum(range(days))
    assert sum(row.totals.revenue_cents for row in added) == days


def write_for(request: Request) -> tuple[str, str]:
    text.show_to(request)
    return text.money(123_450, "USD"), text.day(date(2026, 5, 5))


@pytest.mark.parametrize(
    ("accepted", "amount", "day"),
    [
        ("en-GB,en;q=0.9", "US$1,234.50", "5 May 2026"),
        ("de-DE,de;q=0.9,en;q=0.8", "1.234,50\xa0$", "05.05.2026"),
        ("en;q=0.5, sv-SE", "1\xa0234,50\xa0US$", "5 maj 2026"),
        ("xx-YY,<script>,*;q=0.1", "$1,234.50", "May 5, 2026"),
    ],
)
def test_a_page_writes_by_the_first_language_that_it_can_write(accepted: str, amount: str, day: str):
    request = Request({"type": "http", "headers": [(b"accept-language", accepted.encode())]})
    written = copy_context().run(write_for, request)

    assert written == (amount, day)
    assert text.minor("1,234.50", "USD") == 123_450
    assert text.minor("12,50", "USD") == "12,50"  # a comma that may be a decimal point is not taken for thousands


async def test_a_missing_page_has_the_way_back_the_request_id_and_the_menu_of_a_program_that_the_visitor_may_see(
    olga: httpx.AsyncClient, dashboard: Dashboard
):
    place = dashboard.pages
    came_from = HTML | {"Referer": f"http://svc.test{place}/customers?status=lead"}

    missing = await olga.get(f"{place}/nowhere", headers=came_from)
    stranger = await olga.get("/nowhere", headers=HTML | {"Cookie": ""})
    foreign = await olga.get("/programs/404", headers=HTML)
    wrong = await olga.get(f"{place}/commissions?status=nonsense", headers=HTML)

    assert [each.status_code for each in (missing, stranger, foreign, wrong)] == [404, 404, 403, 400]
    assert [MENU in each.text for each in (missing, stranger, foreign, wrong)] == [True, False, False, True]
    assert f'href="{place}/customers?status=lead">Go back</a>' in missing.text
    assert f'<code>{missing.headers["x-request-id"]}</code></pre><button type="button" class="copy"' in missing.text
    assert "default-src 'none'" in stranger.headers["content-security-policy"]
    assert "You may not open this page" in foreign.text


async def test_the_settings_say_what_they_would_have_cost_and_keep_what_was_typed(
    olga: httpx.AsyncClient, dashboard: Dashboard
):
    place = f"{dashboard.pages}/settings"
    await dashboard.acme.customer("user-1")
    await dashboard.acme.sale(amount_cents=10_000)
    _, fields = form_of((await olga.get(place)).text, "Save settings")

    raised = await olga.post(place, data=fields | {"commission_rate": "30", "action": "price"})
    same = await olga.post(place, data=fields | {"action": "price"})
    wrong = await olga.post(place, data=fields | {"commission_rate": "300", "action": "price"})

    assert "These terms would have cost $10.00 more" in words(raised.text)
    assert "Anna anna $20.00 $30.00" in words(raised.text)
    assert 'value="30"' in raised.text
    assert "These terms would have cost the same" in words(same.text)
    assert wrong.status_code == 400
    assert (await dashboard.get(".")).json()["commission_rate"] == 20


async def test_the_terms_of_a_partner_and_of_their_group_say_what_they_would_have_cost(
    olga: httpx.AsyncClient, dashboard: Dashboard
):
    place = f"{dashboard.pages}/partners/{dashboard.acme.anna}"
    await dashboard.acme.customer("user-1")
    await dashboard.acme.sale(amount_cents=10_000)
    fields = {"csrf": await csrf(olga), "group": "gold"}
    await olga.post(place, data=fields | {"action": "group-terms", "commission_rate": "25"})

    joining = await olga.post(place, data=fields | {"action": "price-terms", "commission_rate": ""})
    await olga.post(place, data=fields | {"action": "terms"})
    raised = await olga.post(place, data=fields | {"action": "price-group-terms", "commission_rate": "30"})
    wrong = await olga.post(place, data=fields | {"action": "price-terms", "commission_rate": "300"})

    assert "These terms would have cost $5.00 more" in words(joining.text)
    assert "These terms would have cost $10.00 more" in words(raised.text)
    assert 'value="30"' in raised.text
    assert wrong.status_code == 400
    assert (await dashboard.get("./partners", q="anna")).json()["data"][0]["terms"]["commission_rate"] == 25


async def test_the_later_of_two_concurrent_edits_is_rejected(olga: httpx.AsyncClient, dashboard: Dashboard):
    place = f"{dashboard.pages}/settings"
    _, fields = form_of((await olga.get(place)).text, "Save settings")

    first = await follow(olga, await olga.post(place, data=fields | {"name": "Renamed"}))
    second = await olga.post(place, data=fields | {"name": "Other"})

    assert "The settings are saved" in first
    assert "Another member saved these settings" in second.text
    assert (await dashboard.get(".")).json()["name"] == "Renamed"
