"""Every list has one grammar (search, order, filters, totals, pages, a file of what is filtered)."""

import csv
import io
import re
from datetime import timedelta

import httpx
import pytest

from storage.management import partners, program_settings
from storage.rules.settings import ProgramSettings
from tests.tracking_api.dashboard.conftest import Dashboard
from tests.tracking_api.dashboard.reading import csrf, follow, link, words
from tests.world import BY, HELD_SINCE, NOW

PROGRAM = "/programs/1"


@pytest.fixture
async def page(dashboard: Dashboard, olga: httpx.AsyncClient) -> httpx.AsyncClient:
    """A browser with the owner's session: Acme has two buyers and 60 more partners."""
    acme = dashboard.acme
    for n, (code, cents) in enumerate((("anna", 5_000), ("ben", 9_000))):
        await acme.customer(f"user-{n}", code)
        await acme.sale(f"inv-{n}", cents, customer_key=f"user-{n}")
    for n in range(60):
        await acme.do(partners.enrol, name=f"Partner {n:02}", code=f"p-{n:02}")
    return olga


def rows(text: str) -> list[str]:
    """Return the text of each row of a list, and of its totals."""
    table = text.partition('<table class="list ')[2].partition("</table>")[0].partition("</thead>")[2]
    return [words(row) for row in re.findall(r"<tr.*?</tr>", table, re.DOTALL)]


async def test_a_list_is_paged_both_ways_and_adds_up_everything(page: httpx.AsyncClient):
    path = f"{PROGRAM}/partners"
    first = await page.get(path)
    second = await page.get(path + link(first.text, "Next"))
    back = await page.get(path + link(second.text, "Previous"))

    assert (len(rows(first.text)), len(rows(second.text))) == (51, 13)
    assert rows(back.text) == rows(first.text)
    assert rows(first.text)[-1] == rows(second.text)[-1] == "Total of 62 2 2 2 $140.00 $28.00 $0.00"
    assert ">Previous<" not in back.text


async def test_selected_partners_are_paused_together_and_found_by_what_matters(
    page: httpx.AsyncClient, dashboard: Dashboard
):
    acme, path = dashboard.acme, f"{PROGRAM}/partners"
    await acme.customer("user-9", at=HELD_SINCE)
    sold = await acme.sale("inv-9", customer_key="user-9", at=HELD_SINCE)
    await dashboard.patch(f"./commissions/{sold.commission_id}", status="approved")
    selected = {"csrf": await csrf(page), "status": "paused", "id": [acme.anna, acme.ben, acme.anna, 404]}

    none = await follow(page, await page.post(f"{path}/selected", data=selected | {"id": []}))
    done = await page.post(f"{path}/selected?idle=false", data=selected)

    assert "Select at least one row first" in none
    assert done.headers["location"] == f"{path}?idle=false"
    assert "Not changed: 1" in (await follow(page, done)).partition("Paused: 2.")[2]
    names = {"to_pay=true": ["Anna"], "status=paused": ["Anna", "Ben"], "idle=false": ["Anna", "Ben"]}
    shown = {query: rows((await page.get(f"{path}?{query}")).text)[:-1] for query in names}
    assert {query: [row.split()[0] for row in each] for query, each in shown.items()} == names
    assert (await page.post(f"{path}/selected", data=selected | {"status": "nonsense"})).status_code == 400


async def test_partners_of_a_group_share_terms_that_a_page_sets_and_are_listed_from_a_row(
    page: httpx.AsyncClient, dashboard: Dashboard
):
    path, sent = f"{PROGRAM}/partners", {"csrf": await csrf(page), "group": "v&p"}
    for partner_id in (dashboard.acme.anna, dashboard.acme.ben):
        await page.post(f"{path}/{partner_id}", data=sent | {"action": "terms"})
    await page.post(f"{path}/{partner_id}", data=sent | {"action": "group-terms", "commission_rate": "30"})

    listed = await page.get(path + link((await page.get(path)).text, "Group <bdi>v&amp;p</bdi>"))

    assert [row.split()[0] for row in rows(listed.text)[:-1]] == ["Ben", "Anna"]
    assert "Those of the group" in words((await page.get(f"{path}/{dashboard.acme.anna}")).text)


async def test_commissions_are_found_by_the_day_on_which_they_were_earned_approved_or_paid(
    page: httpx.AsyncClient, dashboard: Dashboard
):
    acme = dashboard.acme
    await acme.customer("user-9", at=HELD_SINCE)
    for n in range(3):
        sold = await acme.sale(f"old-{n}", customer_key="user-9", at=HELD_SINCE)
        for status in ("approved", "paid")[:n]:
            dashboard.at += timedelta(days=1)
            await dashboard.patch(f"./commissions/{sold.commission_id}", status=status)
    days = {"": HELD_SINCE, "approved": NOW + timedelta(days=1), "paid": NOW + timedelta(days=3), "wrong": HELD_SINCE}

    shown = {}
    for by, at in days.items():
        query = f"status=all&by={by}&dateFrom={at.date()}&dateTo={at.date()}"
        shown[by] = rows((await page.get(f"{PROGRAM}/commissions?{query}")).text)[:-1]

    found = {by: sorted(re.findall(r"old-\d", " ".join(each))) for by, each in shown.items()}
    assert found == {"": ["old-0", "old-1", "old-2"], "approved": ["old-1"], "paid": ["old-2"], "wrong": found[""]}


async def test_the_programs_are_a_list_too(page: httpx.AsyncClient, dashboard: Dashboard):
    for name in ("Beta", "alpha", "Gamma"):
        settings = ProgramSettings(name, f"{name.lower()}.example")
        await dashboard.acme.store.write(program_settings.create, dashboard.acme.workspace_id, settings, by=BY)

    async def names(query: str) -> list[str]:
        shown = await page.get(f"/programs?{query}")
        return re.findall(r'<h2><a href="/programs/\d+">([^<]*)<', shown.text)

    assert await names("") == ["Gamma", "alpha", "Beta", "Acme partners"]
    assert await names("sort=name.up") == ["Acme partners", "alpha", "Beta", "Gamma"]
    assert await names("q=BETA.ex") == ["Beta"]
    assert await names("status=paused") == []
    exported = list(csv.DictReader(io.StringIO((await page.get("/programs.csv?q=partners&period=90d")).text)))
    assert [(row["name"], row["clicks"], row["revenue"]) for row in exported] == [("Acme partners", "2", "140.00")]
