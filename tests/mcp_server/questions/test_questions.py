"""What people ask their assistants, answered over the demo's 90 days in at most three calls of at most 24 KB each.

Every figure is compared with SQL of this module's own.
"""

from datetime import UTC, datetime, timedelta

import pytest

from tests.mcp_server.questions.conftest import Interview
from tests.world import NOW

pytestmark = pytest.mark.anyio
MILLIS = 1000
MAY = int(datetime(2026, 5, 1, tzinfo=UTC).timestamp() * MILLIS)
APRIL = int(datetime(2026, 4, 1, tzinfo=UTC).timestamp() * MILLIS)


async def test_compare_my_programs_this_month_against_last(asked: Interview):
    programs = (await asked.ask("list_programs", period="this_month"))["data"]

    assert len(programs) == 2
    row = next(program for program in programs if program["id"] == asked.ledgerly)
    for name, first, end in (("totals", MAY, 2 * MAY), ("previous_totals", APRIL, MAY)):
        totals = row[name]
        within = "program_id = :p AND {0} >= ? AND {0} < ?"
        gross = asked.one(f"SELECT SUM(program_cents) FROM sales WHERE {within.format('occurred_at')}", first, end)
        refunded = asked.one(f"SELECT SUM(program_cents) FROM refunds WHERE {within.format('at')}", first, end)
        of_sales = asked.one(
            "SELECT SUM(r.program_cents) FROM refunds r JOIN sales s USING (program_id)"
            f" WHERE s.id = r.sale_id AND s.{within.format('occurred_at')}",
            *(first, end),
        )
        assert totals["revenue_cents"] == gross - of_sales
        assert totals["refunded_cents"] == refunded
        assert totals["refund_rate_percent"] == pytest.approx(100 * refunded / (refunded + gross - of_sales), abs=0.01)
        assert totals["earnings_per_click_cents"] == pytest.approx(
            totals["commission_cents"] / totals["clicks"], abs=0.01
        )


async def test_commission_rose_which_part_is_leads_which_partner_which_rate(asked: Interview):
    fernwood = asked.made.programs[1][0]
    report = await asked.ask("get_performance", program_id=fernwood, period="30d", top_partners=8)
    terms = (await asked.ask("list_changes", program_id=fernwood, action="program"))["terms"]

    split = report["commission_by_cause"]
    assert split["lead_cents"] > 0
    assert split["lead_cents"] + split["sale_cents"] == report["totals"]["commission_cents"]
    assert split["previous_lead_cents"] + split["previous_sale_cents"] == report["previous_totals"]["commission_cents"]
    assert sum(row["commission_cents"] for row in report["top_partners"]) == report["totals"]["commission_cents"]
    assert (terms[0]["terms"]["commission_rate"], terms[0]["terms"]["lead_commission_cents"]) == (10, 100)


async def test_what_happened_since_yesterday_noon(asked: Interview):
    noon = "2026-05-19T12:00:00Z"
    sold = (await asked.ask("list_events", kind="sale", date_from=noon, limit=100))["data"]
    changes = (await asked.ask("list_changes", date_from=noon))["data"]
    rejected = (await asked.ask("list_refused_calls", date_from=noon))["causes"]

    since = int((NOW - timedelta(hours=24)).timestamp() * MILLIS)
    assert len(sold) == asked.one("SELECT COUNT(*) FROM sales WHERE program_id = :p AND at >= ?", since)
    assert len(changes) == asked.one("SELECT COUNT(*) FROM audit_entries WHERE program_id = :p AND at >= ?", since)
    assert sum(cause["calls"] for cause in rejected) == asked.one(
        "SELECT COUNT(*) FROM refused_calls WHERE program_id = :p AND at >= ?", since
    )


async def test_somebody_changed_the_cookie_window(asked: Interview):
    [change] = (await asked.ask("list_changes", field="cookie_window_days"))["data"]

    assert (change["actor"], change["before"], change["after"]) == ("olivia@sample.example", 60, 90)
    assert change["at"].startswith("2026-03-")


async def test_which_partners_customers_refund_most_this_quarter(asked: Interview):
    report = await asked.ask("get_performance", period="this_quarter", top_partners=20)

    true = dict(
        asked.sql(
            "SELECT s.partner_id, SUM(r.program_cents) FROM refunds r JOIN sales s ON s.program_id = r.program_id"
            " AND s.id = r.sale_id WHERE r.program_id = :p AND r.at >= ? GROUP BY 1",
            APRIL,
        )
    )
    assert {row["id"]: row["refunded_cents"] for row in report["top_partners"] if "refunds" in row} == true
    by_month = dict(
        asked.sql(
            "SELECT strftime('%Y-%m', at / 1000, 'unixepoch'), SUM(reversed_cents) FROM refunds"
            " WHERE program_id = :p AND at >= ? GROUP BY 1",
            APRIL,
        )
    )
    assert {row["month"]: row["reversed_cents"] for row in report["refunds_by_month"]} == by_month
    assert all("refund_rate_percent" in row for row in report["top_partners"] if "refunds" in row)


async def test_everything_about_a_partner(asked: Interview):
    page = await asked.ask("get_partner", partner="Nora Lindqvist", period="90d")

    owed = asked.one("SELECT SUM(amount_cents) FROM ledger_entries WHERE program_id = :p AND partner_id = ?"
                     " AND kind NOT LIKE 'platform_fee%'", page["partner"]["id"])  # fmt: skip
    balance = page["balance"]
    waiting = balance["pending_cents"] + balance["on_hold_cents"] + balance["approved_cents"]
    assert waiting - balance["owed_back_cents"] == owed
    assert sum(week["clicks"] for week in page["weeks"]) == page["totals"]["clicks"] > 0
    assert sum(page["customers"].values()) == asked.one(
        "SELECT COUNT(*) FROM customers WHERE program_id = :p AND partner_id = ?", page["partner"]["id"]
    )


async def test_is_anything_suspicious(asked: Interview):
    flags = await asked.ask("list_flags", state="open")

    assert len(flags["data"]) == asked.one("SELECT COUNT(*) FROM flags WHERE program_id = :p AND state = 'open'")


async def test_what_do_we_owe_each_partner_now(asked: Interview):
    partners = (await asked.ask("list_partners", limit=100))["data"]

    true = dict(
        asked.sql(
            "SELECT partner_id, SUM(amount_cents) FROM ledger_entries WHERE program_id = :p"
            " AND kind NOT LIKE 'platform_fee%' GROUP BY 1"
        )
    )
    for partner in partners:
        owed = partner["balance"]
        waiting = owed["pending_cents"] + owed["on_hold_cents"] + owed["approved_cents"]
        assert waiting - owed["owed_back_cents"] == true.get(partner["id"], 0)
        assert ("last_hold_ends_at" in owed) == (owed["on_hold_cents"] > 0)


async def test_what_was_paid_on_a_day_and_has_any_been_refunded_since(asked: Interview):
    day = asked.one("SELECT date(MAX(paid_at) / 1000, 'unixepoch') FROM commissions WHERE program_id = :p")
    paid = (await asked.ask("list_commissions", paid_from=day, paid_to=day, limit=100))["data"]

    true = asked.sql(
        "SELECT c.id, (SELECT SUM(-amount_cents) FROM ledger_entries e WHERE e.program_id = c.program_id"
        " AND e.commission_id = c.id AND e.kind = 'payout') FROM commissions c"
        " WHERE c.program_id = :p AND date(c.paid_at / 1000, 'unixepoch') = ?",
        day,
    )
    assert {row["id"]: row["paid_out_cents"] for row in paid} == dict(true)
    for row in paid:
        assert row.get("taken_back_since_cents", 0) == row["paid_out_cents"] - row["net_cents"]


async def test_which_processor_payments_were_disputed_and_what_waits(asked: Interview):
    events = await asked.ask("list_payment_events")

    assert events["disputes_by_state"] == {"open": 0, "won": 0, "lost": 1}
    assert events["disputes"][0]["amount_cents"] == 7_700
    waiting = next(each for each in events["outcomes"] if each["outcome"] == "waiting")
    assert waiting["events"] == 1
    assert "waits_for" in waiting["meaning"]


async def test_how_much_money_is_in_rejected_sales_by_cause(asked: Interview):
    causes = (await asked.ask("list_refused_calls", date_from="2026-04-01", date_to="2026-04-30"))["causes"]

    true = asked.sql(
        "SELECT code, COUNT(*) FROM refused_calls WHERE program_id = :p AND at >= ? AND at < ? GROUP BY 1", APRIL, MAY
    )
    assert {cause["code"]: cause["calls"] for cause in causes} == dict(true)
    assert not any(cause["still_happening"] for cause in causes if cause["last_at"] < "2026-05-19")


async def test_why_was_a_transaction_not_credited(asked: Interview):
    lost = asked.one(
        "SELECT transaction_id FROM refused_calls WHERE program_id = :p AND code = 'customer_not_found' LIMIT 1"
    )
    explained = await asked.ask("explain_attribution", transaction_id=lost)

    assert (explained["verdict"], explained["transaction_id"]) == ("customer_not_found", lost)
    assert explained["smallest_change"]


async def test_which_customers_stopped_renewing(asked: Interview):
    stopped = await asked.ask("list_customers", last_sale_before="2026-04-15", limit=100)

    true = asked.one(
        "SELECT COUNT(*) FROM (SELECT customer_id FROM sales WHERE program_id = :p GROUP BY 1"
        " HAVING MAX(occurred_at) < unixepoch('2026-04-15') * 1000)"
    )
    assert len(stopped["data"]) == true
    assert all(row["last_sale_at"] < "2026-04-15" for row in stopped["data"])


async def test_the_whole_story_of_a_customer(asked: Interview):
    key, customer_id = asked.sql(
        "SELECT c.customer_key, c.id FROM customers c JOIN sales s ON s.program_id = c.program_id"
        " AND s.customer_id = c.id WHERE c.program_id = :p GROUP BY 1, 2 ORDER BY COUNT(*) DESC LIMIT 1"
    )[0]
    story = await asked.ask("get_customer", customer_key=key)

    sold, cents = asked.sql(
        "SELECT COUNT(*), SUM(program_cents) FROM sales WHERE program_id = :p AND customer_id = ?", customer_id
    )[0]
    assert (story["totals"]["sales"], story["totals"]["sales_cents"]) == (sold, cents)
    assert story["timeline"][-1]["kind"] == "click"
    assert story["why"]["message"]


async def test_how_many_leads_are_provisional_since_when_and_of_whom(asked: Interview):
    waiting = await asked.ask("list_customers", status="provisional", limit=1)

    true = asked.sql(
        "SELECT partner_id, COUNT(*) FROM customers WHERE program_id = :p AND status = 'provisional' GROUP BY 1"
    )
    assert {row["partner_id"]: row["customers"] for row in waiting["by_partner"]} == dict(true)
    assert waiting["customers"] == sum(count for _, count in true) > 0
    assert all(row["first_clicked_at"] < "2026-05-20" for row in waiting["by_partner"])
