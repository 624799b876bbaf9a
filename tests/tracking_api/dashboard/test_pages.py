"""The pages over plain HTTP: what guards them, what they weigh, and the files beside them."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest

from storage.reading.performance import Totals
from storage.reading.results import Step
from tests.tracking_api.dashboard.conftest import OLGA, Dashboard
from tracking_api import assets
from tracking_api.dashboard.pages import csv_export, spans

HTML = {"Accept": "text/html"}


async def test_every_page_has_security_headers(olga: httpx.AsyncClient):
    for path in ("/", "/sign-in", "/programs", "/programs/404", "/docs/errors"):
        headers = (await olga.get(path, headers=HTML)).headers

        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy, path
        assert "unsafe" not in policy, path
        assert "frame-ancestors 'none'" in policy, path
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "same-origin"), path


async def test_the_figures_wait_for_one_stylesheet_and_never_for_the_library_of_the_chart(
    olga: httpx.AsyncClient, dashboard: Dashboard
):
    page = (await olga.get(dashboard.pages)).text

    head = page.partition("</head>")[0]
    assert page.count('rel="stylesheet"') == head.count('rel="stylesheet"') == 1
    assert ("<script src" in head, "uPlot" in head) == (True, False)
    assert 'data-library="/static/' in page


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


async def test_a_guide_is_a_page_for_browsers_and_markdown_for_other_clients(olga: httpx.AsyncClient):
    page = await olga.get("/docs/errors", headers={"Accept": "text/html,*/*"})
    markdown = await olga.get("/docs/errors")

    assert "<h1>Error codes</h1>" in page.text
    assert markdown.text.startswith("# Error codes")
    assert markdown.headers["vary"] == page.headers["vary"] == "Accept"


async def test_the_examples_of_a_guide_have_the_values_of_the_visitors_program(
    olga: httpx.AsyncClient, dashboard: Dashboard
):
    made = (await dashboard.post("/api/programs", name="Second shop", domain="second.example")).json()["id"]

    first = (await olga.get("/docs/verify", headers=HTML)).text
    second = (await olga.get(f"/docs/verify?program={made}", headers=HTML)).text
    foreign = (await olga.get("/docs/verify?program=404", headers=HTML)).text
    stranger = (await olga.get("/docs/verify", headers=HTML | {"Cookie": ""})).text

    assert f"&quot;program_id&quot;: {dashboard.acme.program_id}" in first or "acme.example" in first
    assert ("second.example" in second, f'href="/docs/errors?program={made}"' in second) == (True, True)
    assert ("second.example" in foreign, "acme.example" in foreign) == (False, True)
    assert ("acme.example" in stranger, "Second shop" in stranger) == (False, False)


@pytest.mark.parametrize(
    ("days", "unit", "rows"), [(1, "day", 1), (92, "day", 92), (93, "week", 14), (1830, "month", 61)]
)
def test_a_long_range_is_added_up_without_losing_a_day(days: int, unit: str, rows: int):
    first = datetime(2026, 1, 1, tzinfo=UTC)
    steps = [Step(first + timedelta(days=n), Totals(clicks=n, revenue_cents=1), 2) for n in range(days)]

    shown = spans.of(steps, steps)

    assert (shown.unit, len(shown.rows), shown.rows[0].first) == (unit, rows, first)
    assert shown.previous == shown.rows
    assert sum(row.refunded_cents for row in shown.rows) == 2 * days
    assert sum(row.totals.clicks for row in shown.rows) == sum(range(days))
    assert sum(row.totals.revenue_cents for row in shown.rows) == days


def test_a_spreadsheet_runs_no_cell_of_the_export():
    for cell in ("=1+1", "+1", "-1", "@sum", "\t=1", " =1", "\uff1d1"):
        assert csv_export.guarded(cell) == f"'{cell}"

    assert csv_export.guarded("user-1 = Anna") == "user-1 = Anna"
