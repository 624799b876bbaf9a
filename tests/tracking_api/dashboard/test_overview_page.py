"""The overview over plain HTTP: what needs action, its table, its periods, and how trends are written."""

import html
import re
from datetime import timedelta

import httpx

from storage.access import program_keys
from storage.rules.errors import CustomerNotFound
from storage.rules.trend import Direction, Trend
from tests.tracking_api.dashboard.conftest import Dashboard
from tests.tracking_api.dashboard.reading import words
from tests.world import HELD_SINCE, NOW
from tracking_api.dashboard.pages import text

MONEY = ("revenue", "commission")
TODAY = f"?dateFrom={NOW.date()}&dateTo={NOW.date()}"


async def test_what_needs_action_is_listed_with_the_money_at_stake(dashboard: Dashboard, olga: httpx.AsyncClient):
    acme = dashboard.acme
    before = words((await olga.get(dashboard.pages)).text)
    await acme.customer(at=HELD_SINCE)
    await acme.sale(at=HELD_SINCE)
    await acme.reject(CustomerNotFound(), transaction_id="inv-9", amount_cents=4_200, currency="USD")
    await acme.lead(await acme.visitor(), "user-2", is_trusted=False)
    await acme.sale("inv-2")
    await acme.flag()
    await acme.store.write(program_keys.flag, acme.program_id, rotate_by=NOW + timedelta(days=9), at=NOW)

    page = words((await olga.get(dashboard.pages)).text)

    needed = page.partition("Needs action")[2].partition("Results of")[0]
    titles = [
        "Replace the program key",
        "1 rejected call",
        "1 sign of fraud",
        "1 commission to approve",
        "1 provisional lead",
    ]
    places = [needed.index(title) for title in titles]
    assert places == sorted(places)
    assert "Needs action" not in before
    assert "at stake $42.00" in needed
    assert "at stake $20.00" in needed


async def test_the_table_of_the_chart_says_what_the_performance_endpoint_says(
    dashboard: Dashboard, olga: httpx.AsyncClient
):
    await dashboard.acme.customer()
    await dashboard.acme.sale()

    page = (await olga.get(f"{dashboard.pages}?period=7d")).text
    table = page.partition('id="days"')[2].partition("<tbody>")[2].partition("</tbody>")[0]
    shown = [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in table.split("</tr>") if "<td" in row]
    rows = (await dashboard.performance()).json()["data"]

    assert [[*row[3:6], row[0], row[1]] for row in shown] == [
        [*(str(row[name]) for name in ("clicks", "leads", "conversions")), *(f"${row[name]:.2f}" for name in MONEY)]
        for row in rows
    ]
    assert shown[-1] == ["$100.00", "$20.00", "$80.00", "1", "1", "1", "100%", "$20.00", "$0.00"]


async def test_a_range_is_compared_unless_it_is_all_time(dashboard: Dashboard, olga: httpx.AsyncClient):
    await dashboard.acme.customer()
    await dashboard.acme.sale()

    day, everything = [words((await olga.get(dashboard.pages + query)).text) for query in (TODAY, "?period=all")]

    assert "from $0.00" in day
    assert "from $0.00" not in everything
    assert "Average order $100.00" in everything.replace(
        "Revenue divided by paid sales. Glossary about Average order ", ""
    )


async def test_every_period_and_comparison_is_a_link_that_keeps_the_other(
    dashboard: Dashboard, olga: httpx.AsyncClient
):
    await dashboard.acme.visitor()
    shown = (await olga.get(f"{dashboard.pages}?period=last_month&compare=last_year")).text
    panel = shown.partition('class="panel"')[2].partition("</details>")[0]
    links = {name: html.unescape(link) for link, name in re.findall(r'<a href="([^"]*)"[^>]*>([^<]*)</a>', panel)}

    assert len(links) == 13
    assert links["Year to date"] == "?period=year_to_date&compare=last_year"
    assert links["Nothing"] == "?period=last_month&compare=none"
    for link in links.values():
        assert (await olga.get(dashboard.pages + link)).status_code == 200, link
    nothing = (await olga.get(dashboard.pages + links["Nothing"])).text
    assert "Apr 1, 2025 to Apr 30, 2025" in html.unescape(shown)
    assert ("compared with" in nothing, 'class="trend' in nothing) == (False, False)


async def test_custom_days_are_shown_and_what_is_no_period_is_said_on_the_page(
    dashboard: Dashboard, olga: httpx.AsyncClient
):
    custom = words((await olga.get(f"{dashboard.pages}?dateFrom=2026-05-01&dateTo=2026-05-31")).text)
    assert "May 1, 2026 to May 31, 2026" in custom

    for page in ("", "/explore"):
        for wrong in ("period=fortnight", "compare=other", "dateFrom=2026-05-31&dateTo=2026-05-01"):
            answer = await olga.get(f"{dashboard.pages}{page}?{wrong}")
            assert (answer.status_code, 'role="alert"' in answer.text) == (400, True), (page, wrong)


def test_a_trend_over_999_percent_says_so():
    written = [text.percent(Trend(percent, Direction.UP)) for percent in (12.5, 999.0, 999.1, None)]

    assert written == ["12.5%", "999%", "over 999%", "new"]
