"""Each page, from the route table: who may open it and send its forms; a session that ends takes no work."""

import asyncio
import html
import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from starlette.routing import Route

from storage.access import sessions
from storage.management import partners
from storage.rules import keys
from storage.rules.fraud.flag import Finding, FlagKind
from storage.tracking import flagging
from tests import stripe_events as stripe
from tests import world
from tests.security import rows
from tests.storage.payments import paying
from tests.tracking_api.dashboard.conftest import FOREIGN, MAX, OLGA, OURS, PASSWORD, Dashboard
from tests.tracking_api.dashboard.reading import csrf, hidden
from tests.world import LANDING_PAGE, NOW
from tracking_api.dashboard.pages.sign_in import SECRETS
from tracking_api.dashboard.routes import PAGES

OPEN = {"/set-up", "/sign-in", "/forgotten-password", "/reset-password", "/join"}
PROGRAM = "/programs/{program_id}"
HTML = {"Accept": "text/html"}
HOSTILE = "<img src=x onerror=alert(1)>\u202etxt.exe\u200b"
CREDENTIALS = {"email": OLGA, "password": PASSWORD}
TEMPLATES = Path(__file__).parents[3] / "tracking_api" / "dashboard" / "templates"


@pytest.fixture
async def ids(dashboard: Dashboard) -> dict[str, Any]:
    """One row of each kind, by the parameter that names it in a path; Gina is the owner of another workspace."""
    acme = dashboard.acme
    dashboard.tokens["gina"] = await (await world.globex(acme.store)).sign_in()
    await paying.connect(acme, key="a secret key")
    await paying.take(acme, stripe.charge_refunded(total=500, intent="pi_old"))
    event_id = (await dashboard.get("./payment-events")).json()["data"][0]["id"]
    return await rows.each(acme, acme.owner_id) | {"event_id": event_id, "assistant_id": 1}


def paths(method: str) -> list[str]:
    """Return the pages, or the forms, that are not open to everybody."""
    of_pages = [route for route in PAGES if isinstance(route, Route) and "static" not in route.path]
    return [route.path for route in of_pages if method in (route.methods or ()) and route.path not in OPEN]


async def test_a_program_s_pages_are_for_its_members_and_show_them_no_form(dashboard: Dashboard, ids: dict[str, Any]):
    of_program = [path for path in paths("GET") if path.startswith(PROGRAM)]
    assert len(of_program) > 25

    async with dashboard.browser(MAX) as max_, dashboard.browser("gina") as gina, dashboard.browser(None) as nobody:
        for path in (each.format(**ids) for each in of_program):
            page = await max_.get(f"{path}?by=device" if path.endswith("explore.csv") else path)
            assert page.status_code == 200, path
            forms = re.findall(r'<form[^>]* method="post".*?</form>', page.text, re.DOTALL)
            buttons = [each for each in forms if "<button" in each and 'action="/sign-out"' not in each]
            assert buttons == [], path
            assert (await gina.get(path)).status_code == 403, path
            assert (await nobody.get(path)).headers["location"].startswith("/sign-in?next="), path


def read_by_people() -> list[str]:
    return [each for each in paths("GET") if not re.search(r"user_code|sealed|\.(csv|svg)|/logo/", each)]


async def test_pages_show_what_others_wrote_as_text(dashboard: Dashboard, ids: dict[str, Any]):
    acme = dashboard.acme
    await acme.change(name=HOSTILE)
    await acme.do(partners.change, acme.anna, {"name": HOSTILE})
    click = {"program_id": acme.program_id, "affiliate_url": LANDING_PAGE, "page_title": HOSTILE}
    await dashboard.call("POST", "/api/v1/track/click", None, json=click, headers={"User-Agent": "Firefox"})
    found = Finding(FlagKind.BRAND_BIDDING, "partner:1", acme.anna, NOW, {"referrer_hosts": [HOSTILE]})
    await acme.store.write(flagging.raise_each, [(acme.program_id, found)], at=NOW)

    pages = {path: (await dashboard.olga.get(path.format(**ids), headers=HTML)).text for path in read_by_people()}

    assert [path for path, page in pages.items() if "<img src=x" in page] == []
    assert "&lt;img src=x onerror=alert(1)&gt;txt.exe" in pages[f"{PROGRAM}/events"]
    assert "The customer came from a search ad" in pages[f"{PROGRAM}/review"]
    assert sum("&lt;img src=x onerror=alert(1)&gt;" in page for page in pages.values()) > 20


UNREAD = re.compile(r"(?s)<(script|code|pre|option|title)\b.*?</\1>|<[^>]*>")
DAY = r"\b[A-Z][a-z]{2} \d{1,2}, \d{4}"  # May 5, 2026
DOTS, COMMAS = r"\d{2}\.\d{2}\.\d{4}|\d,\d{1,2}(?!\d)", r"\d,\d{3}(?!\d|\s?\$)|\d\.\d+\s?%|\$\s?\d"
WRITTEN_ELSEWHERE = {
    "de-DE": rf"{DAY}|{COMMAS}|\d{{4}}/\d\d",
    "fr-FR": rf"{DAY}|{COMMAS}|\d\.\d{{3}}(?!\d)",
    "ja-JP": rf"{DAY}|{DOTS}",
    "en-GB": rf"{DAY}|{DOTS}|(?<!US)\$\s?\d",
}


@pytest.mark.parametrize("language", WRITTEN_ELSEWHERE)
async def test_no_page_mixes_two_number_systems(dashboard: Dashboard, ids: dict[str, Any], language: str):
    await dashboard.acme.sale("inv-large", 123_456_789)
    read = {}
    async with dashboard.browser(OLGA, **OURS, **{"Accept-Language": language}) as olga:
        for path in (each.format(**ids) for each in [*read_by_people(), f"{PROGRAM}?period=all"]):
            page = await asyncio.create_task(olga.get(path))  # it knows nothing of the request before
            read[path] = html.unescape(UNREAD.sub(" ", page.text))

    foreign = {path: found for path, words in read.items() if (found := re.findall(WRITTEN_ELSEWHERE[language], words))}
    assert foreign == {}
    assert sum("2026" in words for words in read.values()) > 10


async def test_no_form_is_taken_without_the_token_of_its_session(dashboard: Dashboard, ids: dict[str, Any]):
    """Nor from a member, a stranger or another site; a form of no program has no roles."""
    others = {"/device/{user_code}": "BCDF-GHJK", "/connect/{sealed}": "sealed"}
    before = (await dashboard.get("./audit-log")).text
    assert len([path for path in paths("POST") if path.startswith(PROGRAM)]) > 15

    for path in paths("POST"):
        where = path.format(**ids, user_code=others.get(path), sealed=others.get(path))
        sent: dict[str, Any] = {"files": {"file": b"x"}} if path.endswith(("/logo", "/rates", "/import")) else {}
        for who, headers, token, status, said in (
            (MAX, {}, None, 403, "Only an owner of the workspace"),
            ("gina", {}, None, 403, "You may not open this page"),
            (OLGA, FOREIGN, None, 303, ""),
            (OLGA, {}, "", 403, ""),
            (OLGA, {}, "guessed", 403, ""),
        ):
            if token is None and not path.startswith(PROGRAM):
                continue
            async with dashboard.browser(who) as browser:
                form = {"csrf": await csrf(browser) if token is None else token, "confirmed": "yes"}
                answer = await browser.post(where, data=form, headers=HTML | headers, **sent)
            assert (answer.status_code, said in answer.text) == (status, True), (path, who)

    assert (await dashboard.get("./audit-log")).text == before


async def end(dashboard: Dashboard) -> None:
    await dashboard.acme.store.write(sessions.end, sessions.by_token(keys.digest(dashboard.tokens[OLGA])))


def held_by(page: httpx.Response) -> dict[str, str]:
    """Return the hidden fields of the page's own form."""
    return hidden(page.text.partition('<form method="post"')[2].partition("</form>")[0])


async def test_a_form_of_an_ended_session_is_sent_after_signing_in(dashboard: Dashboard, olga: httpx.AsyncClient):
    place = f"{dashboard.pages}/partners"
    partner = {"name": 'Eve <b>"&', "code": "eve", "csrf": await csrf(olga)}
    await end(dashboard)

    asked = await olga.post(place, data=partner, headers={"Referer": f"http://svc.test{place}?period=7d"})
    wrong = await olga.post("/sign-in", data={**held_by(asked), **CREDENTIALS, "password": "wrong"})
    offered = await olga.post("/sign-in", data={**held_by(wrong), **CREDENTIALS})
    sent = await olga.post(place, data=held_by(offered))
    listed = (await olga.get(place)).text

    assert (asked.status_code, "What you entered is kept" in asked.text) == (403, True)
    assert (wrong.status_code, offered.status_code, sent.status_code) == (401, 200, 303)
    assert f'<a class="button" href="{place}?period=7d">Do not send</a>' in offered.text
    assert "Eve &lt;b&gt;" in listed


async def test_a_form_of_our_pages_without_a_secret_is_held_for_an_hour_as_this_server_sealed_it(dashboard: Dashboard):
    olga, place = dashboard.olga, f"{dashboard.pages}/partners"
    await end(dashboard)
    held = held_by(await olga.post(place, data={"name": "Eve", "code": "eve"}))["held"]
    not_held = [
        await olga.post(place, data={"name": "Eve"}, headers=FOREIGN),
        await olga.post("/account", data={"current_password": PASSWORD, "action": "enrol"}),
        await olga.post(place, data={"name": "x" * 30_000}),
        await olga.post("/sign-out", data={"csrf": "of the ended session"}),
    ]

    forged = await olga.post("/sign-in", data={"held": held[:-4] + "AAAA", **CREDENTIALS})
    foreign = await olga.post("/sign-in", data={"held": held, **CREDENTIALS}, headers=FOREIGN)
    dashboard.at += timedelta(hours=1)
    late = await olga.post("/sign-in", data={"held": held, "next": place, **CREDENTIALS})

    for answer in not_held:
        assert (answer.status_code, answer.headers["location"].startswith("/sign-in?next=")) == (303, True)
        assert PASSWORD not in answer.text
    assert (forged.status_code, forged.headers["location"]) == (303, "/programs")
    assert "eve" not in foreign.text
    assert (late.status_code, late.headers["location"]) == (303, place)


async def test_every_field_that_hides_what_is_typed_counts_as_a_secret():
    fields = [
        re.search(r'(?:field\(|name=)"(\w+)"', line)
        for template in TEMPLATES.glob("*.html")
        for line in template.read_text(encoding="utf-8").splitlines()
        if 'type="password"' in line or ('autocomplete="one-time-code"' in line and "totp" in line)
    ]

    assert {found[1] for found in fields if found} == SECRETS


async def test_a_list_comes_back_as_it_was(dashboard: Dashboard, olga: httpx.AsyncClient):
    place = f"{dashboard.pages}/commissions?status=all&partner_id=1"
    await end(dashboard)

    asked = await olga.get(place)
    part = await olga.get(place, headers={"HX-Request": "true", "Referer": f"http://svc.test{place}"})

    assert asked.headers["location"] == "/sign-in?next=" + quote(place, safe="")
    assert part.headers["hx-redirect"] == asked.headers["location"]
