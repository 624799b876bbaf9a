"""The overview over plain HTTP: what needs action, and how trends are written."""

from datetime import timedelta

import pytest

from storage.access import program_keys
from storage.rules.errors import CustomerNotFound
from storage.rules.trend import Direction, Trend
from tests.tracking_api.dashboard.conftest import Dashboard
from tests.tracking_api.dashboard.test_customer_and_commission_pages import shown
from tests.world import HELD_SINCE, NOW
from tracking_api.dashboard.pages import text

pytestmark = pytest.mark.anyio
TODAY = f"?dateFrom={NOW.date()}&dateTo={NOW.date()}"


async def test_what_needs_action_is_listed_with_the_money_at_stake(dashboard: Dashboard):
    acme = dashboard.acme
    before = await shown(dashboard, "")
    await acme.customer(at=HELD_SINCE)
    await acme.sale(at=HELD_SINCE)
    await acme.reject(CustomerNotFound(), transaction_id="inv-9", amount_cents=4_200, currency="USD")
    await acme.lead(await acme.visitor(), "user-2", is_trusted=False)
    await acme.sale("inv-2")
    await acme.flag()
    await acme.store.write(program_keys.flag, acme.program_id, rotate_by=NOW + timedelta(days=9), at=NOW)

    page = await shown(dashboard, "")

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


async def test_a_range_is_compared_unless_it_is_all_time(dashboard: Dashboard):
    await dashboard.acme.customer()
    await dashboard.acme.sale()

    day, everything = [await shown(dashboard, query) for query in (TODAY, "?period=all")]

    assert "from $0.00" in day
    assert "from $0.00" not in everything
    assert "Average order $100.00" in everything.replace(
        "Revenue divided by paid sales. Glossary about Average order ", ""
    )


def test_a_trend_over_999_percent_says_so():
    written = [text.percent(Trend(percent, Direction.UP)) for percent in (12.5, 999.0, 999.1, None)]

    assert written == ["12.5%", "999%", "over 999%", "new"]
