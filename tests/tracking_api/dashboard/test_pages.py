"""The pages over plain HTTP: what guards them, whom they believe, and the files beside them."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from storage.reading.performance import Totals
from storage.reading.results import Step
from tests.tracking_api.dashboard.conftest import OLGA, Dashboard
from tracking_api import assets
from tracking_api.dashboard.pages import csv_export, spans
from web.middleware import RequestMiddleware

OURS = {"Origin": "http://svc.test", "Sec-Fetch-Site": "same-origin"}


@pytest.fixture
async def browser(dashboard: Dashboard) -> AsyncIterator[httpx.AsyncClient]:
    """A browser that holds Olga's cookie."""
    transport = httpx.ASGITransport(RequestMiddleware(dashboard.app))
    cookies = {"svc_session": dashboard.tokens[OLGA]}
    async with httpx.AsyncClient(transport=transport, base_url="http://svc.test", cookies=cookies) as client:
        yield client


async def csrf(browser: httpx.AsyncClient) -> str:
    """Return the token that the forms of this session carry."""
    return (await browser.get("/programs")).text.partition('name="csrf" value="')[2].partition('"')[0]


@pytest.mark.parametrize("path", ["/", "/sign-in", "/programs", "/programs/404", "/docs/errors"])
async def test_every_page_has_security_headers(browser: httpx.AsyncClient, path: str):
    answer = await browser.get(path, headers={"Accept": "text/html"})

    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"


async def test_a_form_without_its_token_changes_nothing(browser: httpx.AsyncClient, dashboard: Dashboard):
    address = f"/programs/{dashboard.acme.program_id}/partners"
    partner = {"name": "Eve", "code": "eve"}

    without = await browser.post(address, data=partner, headers=OURS)
    foreign = await browser.post(
        address, data={**partner, "csrf": await csrf(browser)}, headers={"Sec-Fetch-Site": "cross-site"}
    )
    right = await browser.post(address, data={**partner, "csrf": await csrf(browser)}, headers=OURS)

    assert [without.status_code, foreign.status_code, right.status_code] == [403, 303, 303]
    assert foreign.headers["location"].startswith("/sign-in")
    assert (await browser.get(address)).text.count("aff=eve") == 1


async def test_signing_in_from_another_site_is_rejected(browser: httpx.AsyncClient):
    sent = {"email": OLGA, "password": "correct horse"}

    rejected = await browser.post("/sign-in", data=sent, headers={"Origin": "https://evil.example"})

    assert (rejected.status_code, rejected.headers["location"].startswith("/sign-in")) == (303, True)
    assert "svc_session" not in rejected.cookies


@pytest.mark.parametrize(
    "wanted", ["https://evil.example", "//evil.example", "/programs/../../evil", "/\\evil.example"]
)
async def test_signing_in_leads_to_no_other_site(browser: httpx.AsyncClient, wanted: str):
    sent = {"email": OLGA, "password": "correct horse", "next": wanted}

    entered = await browser.post("/sign-in", data=sent, headers=OURS)

    assert (entered.status_code, entered.headers["location"]) == (303, "/programs")


async def test_an_error_is_a_page_with_its_code(browser: httpx.AsyncClient, dashboard: Dashboard):
    place = f"/programs/{dashboard.acme.program_id}"

    unknown = await browser.get(f"{place}/customers/17")
    filtered = await browser.get(f"{place}/commissions?status=nonsense")
    foreign = await browser.get("/programs/404")

    assert (unknown.status_code, "not_found" in unknown.text) == (404, True)
    assert (filtered.status_code, "validation_error" in filtered.text) == (400, True)
    assert (foreign.status_code, "forbidden" in foreign.text) == (403, True)


async def test_the_figures_wait_for_one_stylesheet_and_never_for_the_library_of_the_chart(
    browser: httpx.AsyncClient, dashboard: Dashboard
):
    page = (await browser.get(f"/programs/{dashboard.acme.program_id}")).text

    head = page.partition("</head>")[0]
    assert page.count('rel="stylesheet"') == head.count('rel="stylesheet"') == 1
    assert ("<script src" in head, "uPlot" in head) == (True, False)
    assert 'data-library="/static/' in page


@pytest.mark.parametrize(("visit", "encoding"), [("same-origin", "gzip"), ("none", "gzip"), ("cross-site", None)])
async def test_a_page_is_compressed_unless_another_site_could_measure_it(
    browser: httpx.AsyncClient, dashboard: Dashboard, visit: str, encoding: str | None
):
    page = f"/programs/{dashboard.acme.program_id}"

    found = await browser.get(page, headers={"Sec-Fetch-Site": visit})
    unknown = await browser.get(page)

    assert (found.headers.get("content-encoding"), unknown.headers.get("content-encoding")) == (encoding, None)
    assert "</html>" in found.text


async def test_files_are_cached_permanently_under_a_url_with_their_hash(browser: httpx.AsyncClient):
    address = assets.page_asset_path("pages.css")

    found = await browser.get(address)
    plain = await browser.get(address, headers={"Accept-Encoding": "identity"})

    assert found.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert found.headers["content-encoding"] == "gzip"
    assert found.text == plain.text
    assert (await browser.get(address, headers={"If-None-Match": found.headers["etag"]})).status_code == 304
    assert (await browser.get("/static/0/../pages/forms.py")).status_code == 404


async def test_a_guide_is_a_page_for_browsers_and_markdown_for_other_clients(browser: httpx.AsyncClient):
    page = await browser.get("/docs/errors", headers={"Accept": "text/html,*/*"})
    markdown = await browser.get("/docs/errors")

    assert "<h1>Error codes</h1>" in page.text
    assert markdown.text.startswith("# Error codes")
    assert markdown.headers["vary"] == page.headers["vary"] == "Accept"


async def test_the_examples_of_a_guide_have_the_values_of_the_visitors_program(
    browser: httpx.AsyncClient, dashboard: Dashboard
):
    html = {"Accept": "text/html"}
    made = (await dashboard.post("/api/programs", name="Second shop", domain="second.example")).json()["id"]

    first = (await browser.get("/docs/verify", headers=html)).text
    second = (await browser.get(f"/docs/verify?program={made}", headers=html)).text
    foreign = (await browser.get("/docs/verify?program=404", headers=html)).text
    stranger = (await browser.get("/docs/verify", headers=html | {"Cookie": ""})).text

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


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@sum", "\t=1", " =1", "\uff1d1"])
def test_a_spreadsheet_runs_no_cell_of_the_export(cell: str):
    assert csv_export.guarded(cell) == f"'{cell}"


def test_an_ordinary_cell_is_exported_as_it_is():
    assert csv_export.guarded("user-1 = Anna") == "user-1 = Anna"


async def test_a_program_is_deleted_on_its_settings_page_once_the_owner_ticks_the_box(
    browser: httpx.AsyncClient, dashboard: Dashboard
):
    address, token = f"/programs/{dashboard.acme.program_id}/settings/delete", await csrf(browser)

    unticked = await browser.post(address, data={"csrf": token}, headers=OURS)
    await dashboard.acme.visitor()
    used = await browser.post(address, data={"csrf": token, "confirmed": "yes"}, headers=OURS)
    made = (await dashboard.post("/api/programs", name="New", domain="new.example")).json()["id"]
    made_address, yes = f"/programs/{made}/settings/delete", {"csrf": token, "confirmed": "yes"}
    deleted = await browser.post(made_address, data=yes, headers=OURS)

    assert (unticked.status_code, used.status_code) == (400, 400)
    assert "cannot be restored" in unticked.text
    assert "partners may have earned" in used.text
    assert (deleted.status_code, deleted.headers["Location"]) == (303, "/programs")
