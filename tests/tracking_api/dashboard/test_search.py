"""Finding things: the search page, what it shows to whom, and the explore page's files and filters."""

import csv
import html
import io
import json
import logging
import re
from datetime import timedelta
from typing import Any

import httpx
import pytest

from storage.management import partners
from tests import world
from tests.tracking_api.dashboard.conftest import MAX, Dashboard
from tests.tracking_api.dashboard.reading import csrf, send, words

HOSTILE = '"><script>touch(1)</script>'
PLAIN = {"Sec-Fetch-Site": "cross-site"}  # such a page is not compressed
CELL = "=cmd()<script>"


async def test_a_card_is_a_csv_file_that_a_spreadsheet_runs_nothing_of_and_a_wrong_filter_is_named(
    dashboard: Dashboard, olga: httpx.AsyncClient
):
    acme, explore = dashboard.acme, f"{dashboard.pages}/explore"
    dimensions = json.dumps({"device": "mobile", "utm_campaign": CELL})
    found: dict[str, Any] = {"referrer_host": "search.example", "dimensions": dimensions}
    await acme.lead(await acme.visitor(**found), "user-1")
    await acme.sale()
    await acme.visitor(referrer_host="news.example", dimensions=json.dumps({"device": "desktop"}))
    await acme.visitor("ben", **found)
    await acme.visitor("ben", **found, at=world.NOW - timedelta(days=40))

    exported = await olga.get(f"{explore}.csv?by=utm_campaign&period=30d")
    no_hour, shown = [await olga.get(f"{explore}?{query}") for query in ("hour=25", "device=mobile")]
    all_rows = await olga.get(f"{explore}/rows?by=utm_campaign&q=CMD")
    added = await olga.get(f"{explore}?period=90d&add=country&how=not&value=germany")
    unknown = await olga.get(f"{explore}?cohort.contains=2026")

    assert exported.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(exported.text)))
    assert [(row["utm_campaign"], row["clicks"], row["previous_clicks"], row["revenue"]) for row in rows] == [
        (f"'{CELL}", "2", "1", "100.00"),
        ("(none)", "1", "0", "0.00"),
    ]
    assert (no_hour.status_code, "Hour: One of 00, 01" in no_hour.text) == (400, True)
    assert ("search.example" in shown.text, "news.example" in shown.text) == (True, False)
    assert CELL not in shown.text
    assert "1 of 1 rows" in words(all_rows.text)
    assert added.headers["location"] == f"{explore}?period=90d&country.not=DE"
    assert (unknown.status_code, "Choose is or is not" in unknown.text) == (400, True)


async def test_a_page_with_filters_sends_its_frame_before_it_reads_the_events(dashboard: Dashboard):
    olga = dashboard.olga
    sent: list[str] = []
    await dashboard.acme.visitor(referrer_host="search.example", dimensions="{}")

    async def app(scope: Any, receive: Any, send: Any) -> None:
        async def note(message: Any) -> None:
            sent.append(message.get("body", b"").decode())
            await send(message)

        await dashboard.app(scope, receive, note)

    olga._transport = httpx.ASGITransport(app)  # noqa: SLF001 - what is sent when, not only all of it
    await olga.get(f"{dashboard.pages}/explore?partner.not=ben&referrer.contains=search", headers=PLAIN)

    frame, cards = [next(n for n, part in enumerate(sent) if text in part) for text in ("The whole", "card-sources")]
    assert (frame < cards, "Partner is not" in sent[frame], "</html>" in sent[frame]) == (True, True, False)
    assert "search.example</a>" in sent[cards]


async def test_a_saved_view_opens_by_its_link_without_signing_in_until_it_is_revoked_or_thirty_days_old(
    dashboard: Dashboard, olga: httpx.AsyncClient
):
    acme, explore, query = dashboard.acme, f"{dashboard.pages}/explore", "period=30d&partner=anna&figure=clicks"
    await acme.lead(await acme.visitor(referrer_host="search.example", dimensions="{}"), "user-1")
    await acme.visitor("ben", referrer_host="news.example", dimensions="{}")

    saved = await send(olga, f"{explore}?{query}", "Save", name="Anna's month")
    shared = await send(olga, explore, "Make a read-only link: Anna's month")
    page = (await olga.get(explore)).text
    path = re.findall(r"(/reports/[^<]+)</span>", page)[0]
    async with dashboard.browser(None) as stranger, dashboard.browser(MAX) as max_:
        opened, forged = [(await stranger.get(each)) for each in (f"{path}?partner=ben", f"{path[:-9]}AAAAAAAA=")]
        of_member = (await max_.get(explore)).text
        dashboard.at += timedelta(days=30)
        late = await stranger.get(path)
        dashboard.at -= timedelta(days=30)
        await send(olga, explore, "End the link: Anna's month")
        revoked = await stranger.get(path)
    view = {"csrf": await csrf(olga), "view_id": "1", "name": "Long", "query": "q" * 2049}
    wrong = [await olga.post(explore, data=view | {"action": action}) for action in ("nonsense", "save")]

    assert saved.headers["location"] == shared.headers["location"].removesuffix("?") + f"?{query}"
    assert f'href="?{html.escape(query)}"' in of_member
    assert ("/reports/" in of_member, "Save this page" in of_member) == (False, False)
    assert [each.status_code for each in (opened, forged, late, revoked, *wrong)] == [200, 404, 404, 404, 400, 400]
    assert "Anna's month" in words(opened.text)
    assert [name in opened.text for name in ("search.example", "news.example", "user-1", "/programs/", "<form")] == [
        *(True, False, False, False, False)
    ]
    changes = [each["action"] for each in (await dashboard.get("./audit-log", noun="saved_view")).json()["data"]]
    assert changes == ["saved_view.revoke", "saved_view.share", "saved_view.save"]


async def results(olga: httpx.AsyncClient, typed: str, **query: str) -> str:
    answer = await olga.get("/search", params={"q": typed, **query})
    assert answer.status_code == 200
    return answer.text


async def test_commands_name_a_partner_and_what_is_cut_off_is_counted(olga: httpx.AsyncClient, dashboard: Dashboard):
    acme, here = dashboard.acme, f"{dashboard.pages}/partners"
    for n in range(12):
        await acme.do(partners.enrol, name=f"Nora {n}", code=f"nora-{n}")
    token = await csrf(olga)
    offered = {
        "pause anna": f'formaction="{here}/{acme.anna}/status" name="status"\nvalue="paused">Pause ',
        "Last quarter anna": f'href="{here}/{acme.anna}?period=last_quarter"',
        "nora": f'<a href="{here}?q=nora">10 of 12, see all in Partners</a>',
        "export comm": f'href="{dashboard.pages}/commissions.csv?status=all"',
    }

    async with dashboard.browser(MAX) as max_:
        typed = {"q": "pause anna", "program_id": acme.program_id, "csrf": await csrf(max_)}
        unable = (await max_.post("/search", data=typed)).text

    for command, expected in offered.items():
        found = await olga.post("/search", data={"q": command, "program_id": acme.program_id, "csrf": token})
        assert expected in found.text, command
    assert ("formaction" in unable, f"{here}/{acme.anna}" in unable) == (False, True)


async def test_nothing_of_another_workspace_is_found(olga: httpx.AsyncClient, dashboard: Dashboard):
    globex = await world.globex(dashboard.acme.store, name="Globex partners")
    await globex.customer("user-7")
    await globex.sale("inv-7", customer_key="user-7")
    own = await globex.sign_in()

    pages = [await results(olga, typed, program_id=str(globex.program_id)) for typed in ("inv-7", "user-7", "Globex")]
    theirs = await olga.get("/search?q=inv-7", headers={"Cookie": f"svc_session={own}"})

    assert all("This never arrived" in page for page in pages)
    assert "Globex partners" in theirs.text
    assert not any("Globex partners" in page for page in pages)


async def test_hostile_text_is_only_text_and_nothing_typed_is_logged(
    olga: httpx.AsyncClient, dashboard: Dashboard, caplog: pytest.LogCaptureFixture
):
    await dashboard.acme.customer(HOSTILE)
    token = await csrf(olga)
    for name in ("svc", "web", "tracking_api"):
        caplog.set_level(logging.DEBUG, logger=name)

    for typed in (HOSTILE, "x" * 3_000, "%", "_", "9" * 400, "\u202einv-1", "https://[", " "):
        page = await results(olga, typed)
        list_ = await olga.post("/search", data={"q": typed, "csrf": token, "program_id": "9" * 30})

        assert list_.status_code == 200, typed
        assert "<script>touch" not in page + list_.text, typed
        assert "\u202e" not in page, typed
    await results(olga, "jane@example.com")
    logged = "".join(each.getMessage() for each in caplog.records if not each.name.startswith("http"))
    assert ("jane" in logged, "touch(1)" in logged) == (False, False)
