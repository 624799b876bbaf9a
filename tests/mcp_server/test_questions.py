"""What people ask their assistants, answered over the demo's 90 days in one short call, compared with SQL."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection

import storage
from cli.demo import sample
from cli.demo.sample import Sample
from tests import world
from tests.mcp_server.conftest import Assistant
from tests.world import NOW

MOST_TEXT = 24 * 1024


def millis(day: datetime) -> int:
    return int(day.timestamp() * 1000)


MAY, APRIL = (millis(datetime(2026, month, 1, tzinfo=UTC)) for month in (5, 4))
NOON = "2026-05-19T12:00:00Z"
DAY = timedelta(days=1)
SINCE_NOON = f"program_id = :p AND at >= {millis(NOW - DAY)}"
FIRST = millis(datetime(2026, 4, 21, tzinfo=UTC))  # the first of the 30 days
BUYERS = f"""SELECT {{}}, COUNT(*) FROM customers c JOIN clicks k USING (program_id, click_id)
    WHERE c.program_id = :p AND c.status = 'conversion' AND c.first_purchase_at >= {FIRST} GROUP BY 1"""
Rows = Iterable[tuple[Any, ...]]


class Question(NamedTuple):
    """The call that answers a question, what to read of its result, and the SQL of what is true."""

    tool: str
    arguments: dict[str, Any]
    read: Callable[[Any], Rows]
    true: str


def number(name: str) -> Callable[[Any], Rows]:
    """Read how many rows a list has."""
    return lambda result: [(len(result[name]),)]


def columns(name: str, *wanted: str) -> Callable[[Any], Rows]:
    """Read some columns of the rows that have them."""
    return lambda result: [tuple(row[each] for each in wanted) for row in result[name] if row.keys() >= set(wanted)]


def by_value(metric: str) -> Callable[[Any], Rows]:
    """Read a metric by the value of the first dimension, without zeros."""
    return lambda table: [(row[0], row[place]) for row in table["rows"] if row[place := table["columns"].index(metric)]]


def owed(result: Any) -> Rows:
    """Read what each partner is owed, whatever its state."""
    for partner in result["data"]:
        balance = partner["balance"]
        waiting = balance["pending_cents"] + balance["on_hold_cents"] + balance["approved_cents"]
        yield partner["id"], waiting - balance["owed_back_cents"]


def bringing_buyers(dimension: str, column: str) -> Question:
    asked = {"by": dimension, "period": "30d", "metrics": "conversions,revenue_cents,clicks"}
    return Question("get_breakdown", asked, by_value("conversions"), BUYERS.format(column))


QUESTIONS = {
    "What was sold since yesterday noon?": Question(
        "list_events",
        {"kind": "sale", "date_from": NOON, "limit": 100},
        number("data"),
        f"SELECT COUNT(*) FROM sales WHERE {SINCE_NOON}",
    ),
    "What was changed since then?": Question(
        "list_changes", {"date_from": NOON}, number("data"), f"SELECT COUNT(*) FROM audit_entries WHERE {SINCE_NOON}"
    ),
    "Which sales were rejected in April, and why?": Question(
        "list_refused_calls",
        {"date_from": "2026-04-01", "date_to": "2026-04-30"},
        columns("causes", "code", "calls"),
        f"SELECT code, COUNT(*) FROM refused_calls WHERE program_id = :p AND at >= {APRIL} AND at < {MAY} GROUP BY 1",
    ),
    "Which partners' customers refund most this quarter?": Question(
        "get_performance",
        {"period": "this_quarter", "top_partners": 20},
        lambda report: [(row["id"], row["refunded_cents"]) for row in report["top_partners"] if "refunds" in row],
        "SELECT s.partner_id, SUM(r.program_cents) FROM refunds r JOIN sales s ON s.program_id = r.program_id"
        f" AND s.id = r.sale_id WHERE r.program_id = :p AND r.at >= {APRIL} GROUP BY 1",
    ),
    "In which months?": Question(
        "get_performance",
        {"period": "this_quarter"},
        columns("refunds_by_month", "month", "reversed_cents"),
        "SELECT strftime('%Y-%m', at / 1000, 'unixepoch'), SUM(reversed_cents) FROM refunds"
        f" WHERE program_id = :p AND at >= {APRIL} GROUP BY 1",
    ),
    "What do we owe each partner now?": Question(
        "list_partners",
        {"limit": 100},
        owed,
        "SELECT p.id, COALESCE(SUM(e.amount_cents), 0) FROM partners p LEFT JOIN ledger_entries e"
        " ON e.program_id = p.program_id AND e.partner_id = p.id AND e.kind NOT LIKE 'platform_fee%'"
        " WHERE p.program_id = :p GROUP BY 1",
    ),
    "How many customers stopped renewing?": Question(
        "list_customers",
        {"last_sale_before": "2026-04-15", "limit": 100},
        number("data"),
        "SELECT COUNT(*) FROM (SELECT customer_id FROM sales WHERE program_id = :p GROUP BY 1"
        " HAVING MAX(occurred_at) < unixepoch('2026-04-15') * 1000)",
    ),
    "Whose leads are provisional?": Question(
        "list_customers",
        {"status": "provisional", "limit": 1},
        columns("by_partner", "partner_id", "customers"),
        "SELECT partner_id, COUNT(*) FROM customers WHERE program_id = :p AND status = 'provisional' GROUP BY 1",
    ),
    "Which referrers bring buyers?": bringing_buyers("referrer", "k.referrer_host"),
    "Which landing pages?": bringing_buyers("landing_path", "k.dimensions ->> 'landing_path'"),
    "Which campaigns?": bringing_buyers("utm_campaign", "k.dimensions ->> 'utm_campaign'"),
    "Are renewals arriving?": Question(
        "get_breakdown",
        {"by": "buyer", "period": "30d", "metrics": "sales"},
        lambda table: [row[1:] for row in by_value("sales")(table) if row[0] == "returning"],
        "SELECT COUNT(*) FROM sales s JOIN customers c ON c.program_id = s.program_id AND c.id = s.customer_id"
        " WHERE s.program_id = :p AND s.refunded_cents < s.amount_cents AND s.occurred_at > c.first_purchase_at"
        f" AND s.occurred_at >= {FIRST}",
    ),
    "Is there a burst of leads?": Question(
        "get_breakdown",
        {"by": "hour", "period": "7d", "metrics": "leads,clicks"},
        by_value("leads"),
        "SELECT strftime('%H', signup_at / 1000, 'unixepoch'), COUNT(*) FROM customers WHERE program_id = :p"
        f" AND status <> 'provisional' AND signup_at >= {FIRST + 23 * DAY // timedelta(milliseconds=1)} GROUP BY 1",
    ),
}


async def test_what_people_ask_is_answered_in_one_call_with_what_is_true(sqlite_url: str):
    async with storage.opened(sqlite_url) as store:
        made: Sample = await store.write(sample.create, password_hash="not a hash", at=NOW)
        (ledgerly, *_), (fernwood, *_) = made.programs[:2]
        acme = world.World(store, 1, 1, ledgerly, "", 1, 2)
        assistant = Assistant(acme, acme)
        assistant.good, assistant.at = made.agent_key, NOW
        async with assistant.serving():
            for question, (tool, arguments, read, true) in QUESTIONS.items():
                answer = await assistant.tool(tool, **arguments)

                rows = await store.read(_rows, true.replace(":p", str(ledgerly)))
                assert set(read(answer.payload)) == rows, question
                assert any(row[-1] for row in rows), question
                assert len(answer.text.encode()) <= MOST_TEXT, question

            assistant.acme = replace(acme, program_id=fernwood)
            report = (await assistant.tool("get_performance", period="30d", top_partners=8)).payload

    split, totals, previous = (report[each] for each in ("commission_by_cause", "totals", "previous_totals"))
    assert split["lead_cents"] > 0
    assert split["lead_cents"] + split["sale_cents"] == totals["commission_cents"]
    assert split["previous_lead_cents"] + split["previous_sale_cents"] == previous["commission_cents"]
    assert sum(row["commission_cents"] for row in report["top_partners"]) == totals["commission_cents"]


def _rows(connection: Connection, statement: str) -> set[tuple[Any, ...]]:
    return {tuple(row) for row in connection.exec_driver_sql(statement)}
