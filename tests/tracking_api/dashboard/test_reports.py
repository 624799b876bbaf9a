"""What members read: performance to the letter of the specification, partners, customers, events, reconciliation."""

from datetime import timedelta
from typing import Any

from tests.tracking_api.dashboard.conftest import CONTRACT, MAX, OLGA, Dashboard
from tests.world import NOW

ROW = {"date", "period", "clicks", "leads", "conversions", "revenue", "partners", "sales", "commission"}
TRENDS = ("clicks", "leads", "conversions", "revenue", "partners", "sales", "commission")
PAID: dict[str, Any] = CONTRACT["payment"]


async def test_a_report_has_a_row_for_each_day_with_today_the_last_and_zeros_without_activity(dashboard: Dashboard):
    report = (await dashboard.performance(MAX)).json()

    assert [row["date"] for row in report["data"]] == [f"2026-05-{day}" for day in range(14, 21)]
    assert all(set(row) == ROW and row["period"] == row["date"] for row in report["data"])
    assert report["meta"] == {
        "period": "7d",
        "dateFrom": "2026-05-14T00:00:00.000Z",
        "dateTo": "2026-05-20T23:59:59.999Z",
        "previousPeriod": {"dateFrom": "2026-05-07T00:00:00.000Z", "dateTo": "2026-05-13T23:59:59.999Z"},
    }
    still = {"trend": 0, "trendDirection": "stable", "previous": 0}
    assert (await dashboard.performance(dateFrom="2020-01-01", dateTo="2020-01-03")).json()["metrics"] == {
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
    dashboard.tokens[OLGA] = (await dashboard.login()).json()["token"]
    await acme.sale("inv-4", 30_001, customer_key="user-1", at=dashboard.at)
    later = (await dashboard.performance()).json()["metrics"]
    assert later["revenueTrend"] == {"trend": 50, "trendDirection": "up", "previous": 200.01}
    assert later["clicksTrend"] == {"trend": 100, "trendDirection": "down", "previous": 3}
    assert later["salesTrend"] == {"trend": 66.7, "trendDirection": "down", "previous": 3}


async def test_an_invalid_range_is_rejected_after_the_403(dashboard: Dashboard):
    reversed_range = {"dateFrom": "2026-05-02", "dateTo": "2026-05-01"}
    for code, query in (("invalid_period", {"period": "1d"}), ("invalid_range", reversed_range)):
        rejected, stranger = await dashboard.performance(**query), await dashboard.performance(None, **query)

        assert (rejected.status_code, rejected.json()["error"]["code"]) == (400, code), query
        assert (stranger.status_code, stranger.json()["error"]["code"]) == (403, "forbidden"), query


async def test_every_list_names_a_limit_outside_1_to_200_and_an_invalid_cursor(dashboard: Dashboard):
    wrong = {"limit": ["0", "201", "ten", "9" * 400], "cursor": ["bnVsbA", "%00", "é", "W1s" * 900]}
    for name in ("partners", "customers", "commissions", "events", "refused-calls", "audit-log", "payment-events"):
        for field, value in ((field, value) for field, values in wrong.items() for value in values):
            answer = await dashboard.get(f"./{name}", **{field: value})
            assert answer.json()["error"]["fields"][0]["field"] == field, (name, value)


async def reconcile(dashboard: Dashboard, *payments: dict[str, Any], who: str | None = MAX) -> Any:
    return await dashboard.post("./reconciliation", who, payments=list(payments))


async def test_an_invalid_payment_is_named_and_more_than_a_thousand_are_rejected(dashboard: Dashboard):
    for changed, field in CONTRACT["wrong_payments"]:
        answer = await reconcile(dashboard, PAID | changed)
        assert (answer.status_code, [each["field"] for each in answer.json()["error"]["fields"]]) == (400, [field])

    assert (await reconcile(dashboard, *[PAID] * 1001)).json()["error"]["code"] == "validation_error"
