"""One page, one number system: all of it is written by the first language of the browser that it can write."""

import asyncio
import html
import re
import shutil
from collections.abc import AsyncIterator
from contextvars import copy_context
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.requests import Request

import storage
import tracking_api.app
from cli.demo import sample
from configuration import Configuration
from storage.access import sessions
from storage.lists.commissions import COMMISSIONS
from storage.lists.customers import CUSTOMERS
from storage.lists.declaration import List, ListQuery, ListScope
from storage.lists.find import find
from storage.lists.partners import PARTNERS
from tests.tracking_api.dashboard.conftest import HASH
from tests.world import NOW
from tracking_api.dashboard.pages import text, viewing
from tracking_api.dashboard.pages.routes import ROUTES
from web.middleware import RequestMiddleware

UNREAD = re.compile(r"(?s)<(script|code|pre|option|title)\b.*?</\1>|<[^>]*>")
DAY = r"\b[A-Z][a-z]{2} \d{1,2}, \d{4}"  # May 5, 2026
DOTS, COMMAS = r"\d{2}\.\d{2}\.\d{4}|\d,\d{1,2}(?!\d)", r"\d,\d{3}(?!\d|\s?\$)|\d\.\d+\s?%|\$\s?\d"
FOREIGN = {
    "de-DE": rf"{DAY}|{COMMAS}|\d{{4}}/\d\d",
    "fr-FR": rf"{DAY}|{COMMAS}|\d\.\d{{3}}(?!\d)",
    "ja-JP": rf"{DAY}|{DOTS}",
    "en-GB": rf"{DAY}|{DOTS}|(?<!US)\$\s?\d",
}
Olivia = tuple[httpx.AsyncClient, list[str]]
LISTS: dict[str, List[Any]] = {"partner_id": PARTNERS, "customer_id": CUSTOMERS, "commission_id": COMMISSIONS}


@pytest.fixture(scope="module")
async def olivia(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Olivia]:
    """The browser of the owner of the sample workspace, and the path of each page."""
    url = f"sqlite+aiosqlite:///{shutil.copy(sqlite_template, tmp_path_factory.mktemp('demo') / 'svc.db')}"
    async with storage.opened(url, patient=True) as store:
        await store.write(sample.create, password_hash=HASH, at=NOW)
        account = await store.read(sessions.account, sample.OWNER)
        assert account
        started = await store.write(sessions.start, account.user_id, at=NOW)
        app = tracking_api.app.create(store, Configuration(secret_key="a secret key"), clock=lambda: NOW)
        transport, cookies = httpx.ASGITransport(RequestMiddleware(app)), {"svc_session": started.token}
        async with httpx.AsyncClient(transport=transport, base_url="http://svc.test", cookies=cookies) as browser:
            paths = [route.path.replace("{program_id}", "1") for route in ROUTES if "GET" in (route.methods or ())]
            for name, wanted in LISTS.items():
                row = (await store.read(find, wanted, ListScope(1, NOW), ListQuery(limit=1))).data[0]
                paths = [path.replace(f"{{{name}}}", str(row.id)) for path in paths]
            yield browser, [path for path in paths if not re.search(r"[.{]", path)]


@pytest.mark.parametrize("language", FOREIGN)
async def test_no_page_mixes_two_number_systems(olivia: Olivia, language: str):
    browser, paths = olivia
    headers = {"Accept-Language": f"{language},{language[:2]};q=0.9,en;q=0.8"}
    assert len(paths) > 30

    read = {}
    for path in [*paths, "/programs/1?period=all"]:
        page = await asyncio.create_task(browser.get(path, headers=headers))  # knows nothing of the request before
        read[path] = html.unescape(UNREAD.sub(" ", page.text))

    foreign = {path: found for path, words in read.items() if (found := re.findall(FOREIGN[language], words))}
    assert foreign == {}
    assert sum("2026" in words for words in read.values()) > 10


def write_for(request: Request) -> tuple[str, str]:
    viewing.show_to(request)
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
