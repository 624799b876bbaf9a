"""The date picker: every name and comparison is a link that keeps the rest of the URL, and works without JavaScript."""

import html
import re

import httpx
import pytest

from storage.access import sessions
from tests.tracking_api.conftest import Api
from tests.world import NOW


@pytest.fixture
async def page(api: Api) -> httpx.AsyncClient:
    """A browser with the owner's session at Acme, which has one visitor."""
    await api.acme.visitor()
    token = (await api.acme.store.write(sessions.start, api.acme.owner_id, at=NOW)).token
    headers = {"Cookie": f"svc_session={token}"}
    return httpx.AsyncClient(transport=api.transport, base_url="http://svc.test", headers=headers)


OVERVIEW = "/programs/1"


def options(text: str) -> dict[str, str]:
    """Return the picker's links by name."""
    panel = text.partition('class="panel"')[2].partition("</details>")[0]
    return {name: html.unescape(link) for link, name in re.findall(r'<a href="([^"]*)"[^>]*>([^<]*)</a>', panel)}


async def test_every_period_and_comparison_is_a_link_that_keeps_the_other(page: httpx.AsyncClient):
    shown = await page.get(f"{OVERVIEW}?period=last_month&compare=last_year")

    links = options(shown.text)
    assert len(links) == 13
    assert links["Year to date"] == "?period=year_to_date&compare=last_year"
    assert links["Nothing"] == "?period=last_month&compare=none"
    for link in links.values():
        assert (await page.get(OVERVIEW + link)).status_code == 200


async def test_figures_are_compared_with_what_was_picked(page: httpx.AsyncClient):
    year, nothing = [await page.get(f"{OVERVIEW}?period=last_month&compare={name}") for name in ("last_year", "none")]

    assert "Apr 1, 2025 to Apr 30, 2025" in html.unescape(year.text)
    assert "compared with" not in nothing.text
    assert 'class="trend' not in nothing.text


@pytest.mark.parametrize("path", ["", "/explore"])
async def test_an_unknown_period_or_comparison_is_said_on_the_page(page: httpx.AsyncClient, path: str):
    period, comparison = [
        await page.get(f"{OVERVIEW}{path}?{query}") for query in ("period=fortnight", "compare=other")
    ]

    assert (period.status_code, comparison.status_code) == (400, 400)
    assert 'role="alert"' in period.text
    assert 'role="alert"' in comparison.text
