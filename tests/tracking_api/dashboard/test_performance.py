"""GET /api/tracking/performance/:programId, to the letter of the specification."""

from datetime import timedelta

from tests.tracking_api.dashboard.conftest import MAX, Dashboard
from tests.world import NOW

ROW = {"date", "period", "clicks", "leads", "conversions", "revenue", "partners", "sales", "commission"}
TRENDS = ("clicks", "leads", "conversions", "revenue", "partners", "sales", "commission")


async def test_a_report_has_a_row_for_each_day_with_today_the_last(dashboard: Dashboard):
    report = (await dashboard.performance(MAX)).json()

    assert [row["date"] for row in report["data"]] == [f"2026-05-{day}" for day in range(14, 21)]
    assert all(set(row) == ROW and row["period"] == row["date"] for row in report["data"])
    assert report["meta"] == {
        "period": "7d",
        "dateFrom": "2026-05-14T00:00:00.000Z",
        "dateTo": "2026-05-20T23:59:59.999Z",
        "previousPeriod": {"dateFrom": "2026-05-07T00:00:00.000Z", "dateTo": "2026-05-13T23:59:59.999Z"},
    }


async def test_a_program_without_activity_shows_zeros(dashboard: Dashboard):
    metrics = (await dashboard.performance(dateFrom="2020-01-01", dateTo="2020-01-03")).json()["metrics"]

    still = {"trend": 0, "trendDirection": "stable", "previous": 0}
    assert metrics == {
        **dict.fromkeys(("totalClicks", "totalLeads", "totalConversions", "totalRevenue", "conversionRate"), 0),
        **dict.fromkeys(("averageOrderValue", "totalPartners", "totalSales", "totalPartnersCommission"), 0),
        **{f"{name}Trend": still for name in TRENDS},
    }


async def test_metrics_are_the_sums_of_the_rows_in_dollars(dashboard: Dashboard):
    acme = dashboard.acme
    for n in range(2):
        await acme.customer(f"user-{n}")
    await acme.lead(await acme.visitor(at=NOW - timedelta(days=2)), "user-2")
    await acme.sale("inv-1", 10_001, customer_key="user-1")
    await acme.sale("inv-2", 5_000, customer_key="user-2", occurred_at=NOW - timedelta(days=2))
    await acme.sale("inv-3", 5_000, customer_key="user-2")

    report = (await dashboard.performance()).json()

    metrics, rows = report["metrics"], report["data"]
    assert (rows[-1]["clicks"], rows[-1]["leads"], rows[-1]["conversions"], rows[-1]["partners"]) == (2, 3, 1, 2)
    assert (rows[-1]["revenue"], rows[-1]["commission"], rows[-1]["sales"]) == (150.01, 40.0, 0)
    assert (rows[-3]["revenue"], rows[-3]["conversions"]) == (50, 1)
    assert (metrics["totalClicks"], metrics["totalLeads"], metrics["totalConversions"]) == (3, 3, 2)
    assert (metrics["totalRevenue"], metrics["totalSales"], metrics["totalPartners"]) == (200.01, 3, 2)
    assert (metrics["conversionRate"], metrics["averageOrderValue"]) == (66.67, 100.01)
    assert metrics["totalPartnersCommission"] == 40.0
    assert metrics["revenueTrend"] == {"trend": None, "trendDirection": "up", "previous": 0}
    dashboard.at += timedelta(days=7)
    await acme.sale("inv-4", 30_001, customer_key="user-1", at=dashboard.at)
    later = (await dashboard.performance()).json()["metrics"]
    assert later["revenueTrend"] == {"trend": 50, "trendDirection": "up", "previous": 200.01}
    assert later["clicksTrend"] == {"trend": 100, "trendDirection": "down", "previous": 3}
    assert later["salesTrend"] == {"trend": 66.7, "trendDirection": "down", "previous": 3}


async def test_a_refund_lowers_revenue_and_a_fully_refunded_sale_does_not_count(dashboard: Dashboard):
    acme = dashboard.acme
    await acme.customer()
    await acme.sale()
    await acme.refund("inv-1", 2_500)
    partly = (await dashboard.performance()).json()["metrics"]
    await acme.refund("inv-1")
    wholly = (await dashboard.performance()).json()["metrics"]

    assert (partly["totalRevenue"], partly["totalSales"], partly["totalPartnersCommission"]) == (75, 1, 15)
    assert (wholly["totalRevenue"], wholly["totalSales"], wholly["totalPartnersCommission"]) == (0, 0, 0)
    assert wholly["totalConversions"] == 1


async def test_a_lead_that_converts_later_stays_counted_on_its_day(dashboard: Dashboard):
    await dashboard.acme.customer()
    await dashboard.acme.sale(at=NOW + timedelta(days=3))
    dashboard.at = NOW + timedelta(days=3)

    rows = {row["date"]: row for row in (await dashboard.performance()).json()["data"]}

    assert (rows["2026-05-20"]["leads"], rows["2026-05-20"]["conversions"]) == (1, 0)
    assert (rows["2026-05-23"]["leads"], rows["2026-05-23"]["conversions"]) == (0, 1)


async def test_an_invalid_range_is_rejected_after_the_403(dashboard: Dashboard):
    reversed_range = {"dateFrom": "2026-05-02", "dateTo": "2026-05-01"}
    for code, query in (("invalid_period", {"period": "1d"}), ("invalid_range", reversed_range)):
        rejected, stranger = await dashboard.performance(**query), await dashboard.performance(None, **query)

        assert (rejected.status_code, rejected.json()["error"]["code"]) == (400, code), query
        assert (stranger.status_code, stranger.json()["error"]["code"]) == (403, "forbidden"), query


async def test_no_such_program_and_a_program_key_are_403_like_no_session(dashboard: Dashboard):
    paths = [f"/api/tracking/performance/{odd}" for odd in ("99", "banana", "9" * 30)]
    answers = [*[await dashboard.get(path) for path in paths], await dashboard.performance(dashboard.acme.key)]

    assert [(each.status_code, each.json()["error"]["code"]) for each in answers] == [(403, "forbidden")] * 4
