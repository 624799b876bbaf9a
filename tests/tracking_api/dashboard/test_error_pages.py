"""Errors as pages for people, and form messages in their words."""

import html
import re
from pathlib import Path

import httpx
import pytest

from storage.rules import errors
from tests.tracking_api.dashboard.conftest import MAX, Dashboard
from tests.tracking_api.dashboard.reading import follow, form_of
from tracking_api.dashboard.pages.error_pages import in_words

HTML = {"Accept": "text/html"}
MENU = 'aria-label="Program"'
LISTS = {"status", "currency"}
MISTAKES = [
    ("commission_rate", "twenty", "Enter a number such as 20"),
    ("cookie_window_days", "1.5", "Enter a whole number such as 20"),
    ("cookie_window_days", "0", "Enter 1 or more"),
    ("cookie_window_days", "99999", "Enter 3650 or less"),
    ("minimum_order", "much", "Enter an amount such as 2.50"),
    ("name", "", "Fill in this field"),
    ("domain", "not a host", "Enter a host name such as shop.example"),
    ("currency", "dollars", "Enter three letters such as USD"),
    ("status", "gone", "Choose one of the list"),
]


async def test_a_missing_page_has_the_menu_the_way_back_and_the_request_id(
    olga: httpx.AsyncClient, dashboard: Dashboard
):
    place = dashboard.pages
    came_from = HTML | {"Referer": f"http://svc.test{place}/customers?status=lead"}

    missing = await olga.get(f"{place}/nowhere", headers=came_from)
    elsewhere = await olga.get("/nowhere", headers=HTML)
    stranger = await olga.get("/nowhere", headers=HTML | {"Cookie": ""})

    assert [answer.status_code for answer in (missing, elsewhere, stranger)] == [404] * 3
    assert "This page does not exist" in missing.text
    assert (MENU in missing.text, MENU in elsewhere.text, MENU in stranger.text) == (True, False, False)
    assert f'href="{place}/customers?status=lead">Go back</a>' in missing.text
    assert f'<code>{missing.headers["x-request-id"]}</code></pre><button type="button" class="copy"' in missing.text
    assert "default-src 'none'" in stranger.headers["content-security-policy"]


async def test_an_error_keeps_the_menu_of_a_program_that_the_visitor_may_see(
    olga: httpx.AsyncClient, dashboard: Dashboard
):
    async with dashboard.browser(MAX) as other:
        rejected = await other.post(f"{dashboard.pages}/partners", headers=HTML)
    answers = {
        path: await olga.get(path, headers=HTML)
        for path in (f"{dashboard.pages}/customers/17", f"{dashboard.pages}/commissions?status=nonsense")
    }
    foreign = await olga.get("/programs/404", headers=HTML)
    changed = await olga.get("/connect/changed", headers=HTML)

    assert (rejected.status_code, MENU in rejected.text) == (403, True)
    assert "Only an owner of the workspace may do this." in rejected.text
    assert [(each.status_code, MENU in each.text) for each in answers.values()] == [(404, True), (400, True)]
    codes = ("not_found", "validation_error", "forbidden")
    assert all(code in each.text for code, each in zip(codes, [*answers.values(), foreign], strict=True))
    assert (foreign.status_code, MENU in foreign.text) == (403, False)
    assert "You may not open this page" in foreign.text
    assert "Go back to your assistant and connect it again." in changed.text


async def test_no_error_page_speaks_of_headers_or_the_api():
    every = [kind(retry_after_seconds=90) for kind in errors.BY_CODE.values()]
    pages = ["forbidden", "not_found", "method_not_allowed", "rate_limited", "internal_error", "overloaded"]
    pages += ["storage_unavailable", "outcome_unknown", "payload_too_large", "owner_required"]

    words = {error.code: " ".join(in_words(error)) for error in every}

    assert words["rate_limited"] == "Too many tries Wait 2 minutes, then try again."
    assert [code for code in pages if re.search(r"Retry-After|openapi|request_id|URL|HTTP", words[code])] == []


async def test_a_failure_is_a_page_with_the_menu(dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object) -> None:
        raise RuntimeError("a bug")

    place = f"{dashboard.pages}/settings/audit-log"
    async with dashboard.browser(MAX) as other:
        monkeypatch.setattr("tracking_api.dashboard.pages.audit_log.lists.state", fail)
        failed = await other.get(place, headers=HTML)

    assert (failed.status_code, MENU in failed.text) == (500, True)
    assert "Something went wrong on this server" in failed.text
    assert "a bug" not in failed.text


async def test_without_the_database_a_page_has_the_menu_another_try_the_way_back_and_the_request_id(
    olga: httpx.AsyncClient, dashboard: Dashboard, tmp_path: Path
):
    place = dashboard.pages
    (tmp_path / "svc.db").rename(tmp_path / "aside.db")

    page = await olga.get(f"{place}/customers", headers=HTML | {"Referer": f"http://svc.test{place}"})
    programs = await olga.get("/programs", headers=HTML)
    (tmp_path / "aside.db").rename(tmp_path / "svc.db")

    assert (page.status_code, page.headers["retry-after"], programs.status_code) == (503, "2", 503)
    assert "The server cannot reach its database" in page.text
    assert (MENU in page.text, MENU in programs.text) == (True, False)
    assert f'<a href="{place}/customers" aria-current="page">' in page.text
    assert f'href="{place}/customers">Try again</a>' in page.text
    assert f'href="{place}">Go back</a>' in page.text
    assert f'<code>{page.headers["x-request-id"]}</code></pre><button type="button" class="copy"' in page.text
    assert '<a href="/programs">Programs</a>' in programs.text


async def test_a_form_says_in_peoples_words_what_to_enter_keeps_the_value_and_saves_nothing(
    olga: httpx.AsyncClient, dashboard: Dashboard
):
    place = f"{dashboard.pages}/settings"
    _, fields = form_of((await olga.get(place)).text, "Save settings")
    before = (await dashboard.get(".")).json()

    for field, typed, said in MISTAKES:
        answer = await olga.post(place, data=fields | {"name": "Renamed"} | {field: typed})
        text = html.unescape(answer.text)
        beside = text.partition(f'id="{field}-hint">')[2].partition("</p>")[0]
        assert (answer.status_code, "Nothing was saved" in text) == (400, True)
        assert beside.startswith(f'<strong class="problem">{said}'), (field, typed)
        assert field in LISTS or f'id="{field}" name="{field}" type="text" value="{typed}"' in text
        assert "Input should" not in text
    assert (await dashboard.get(".")).json() == before


async def test_the_later_of_two_concurrent_edits_is_rejected(olga: httpx.AsyncClient, dashboard: Dashboard):
    place = f"{dashboard.pages}/settings"
    _, fields = form_of((await olga.get(place)).text, "Save settings")

    first = await follow(olga, await olga.post(place, data=fields | {"name": "Renamed"}))
    second = await olga.post(place, data=fields | {"name": "Other"})

    assert "The settings are saved" in first
    assert "Another member saved these settings" in second.text
    assert (await dashboard.get(".")).json()["name"] == "Renamed"
