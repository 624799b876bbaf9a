"""What people ask their assistants: at most two calls and 24 KB of each, and the answer is what SQL says."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from tests.mcp_server import two_months
from tests.mcp_server.conftest import INERT, Assistant

WRITTEN = Path(__file__).with_name("questions.sql").read_text(encoding="utf-8")
ANSWERS: dict[str, str] = dict(re.findall(r"^-- (.*)\n([^-\n][^;]*);", WRITTEN, re.MULTILINE))


QUESTIONS: dict[str, tuple[list[tuple[str, dict[str, Any]]], Callable[..., Any]]] = {  # calls, and what answers
    "Compare my programs this month against last.": (
        [("list_programs", {"period": "this_month"})],
        lambda read: [
            [each["totals"]["revenue_cents"], each["previous_totals"]["revenue_cents"]] for each in read["data"]
        ],
    ),
    "Which part of the commission is for leads, and which rate holds since when?": (
        [("get_performance", {"period": "this_month"}), ("list_changes", {"action": "program"})],
        lambda read, changes: [
            [
                read["commission_by_cause"]["lead_cents"],
                *[each["terms"]["commission_rate"] for each in changes["terms"]],
            ]
        ],
    ),
    "What happened since yesterday noon?": (
        [("list_changes", {"date_from": "2026-05-19T12:00:00Z"})],
        lambda read: [[each["action"]] for each in read["data"]],
    ),
    "Who changed the cookie window, when, from what to what?": (
        [("list_changes", {"field": "cookie_window_days"})],
        lambda read: [[each["actor"], each["before"], each["after"]] for each in read["data"]],
    ),
    "Which partners' customers refund most, and what was taken back?": (
        [("get_performance", {"period": "this_quarter", "top_partners": 20})],
        lambda read: [
            [each["refunded_cents"], each["reversed_cents"]] for each in read["top_partners"] if each["refunds"]
        ],
    ),
    "Which campaigns bring buyers, not only clicks?": (
        [("get_breakdown", {"by": "utm_source", "period": "90d", "metrics": "conversions,clicks"})],
        lambda read: [row for row in read["rows"] if row[0] == "letter"],
    ),
    "Tell me everything about Anna.": (
        [("get_partner", {"partner": "anna", "period": "all"})],
        lambda read: [
            [read["totals"]["revenue_cents"], read["balance"]["paid_cents"], sum(read["customers"].values())]
        ],
    ),
    "Is anything suspicious?": (
        [("list_flags", {"state": "open"})],
        lambda read: [[each["kind"], each["partner_name"]] for each in read["data"]],
    ),
    "What do we owe each partner now?": (
        [("list_partners", {})],
        lambda read: sorted([each["name"], each["balance"]["paid_cents"]] for each in read["data"])[:2],
    ),
    "What was paid on the 5th, to whom, and has any of it been refunded since?": (
        [("list_commissions", {"paid_from": "2026-05-05", "paid_to": "2026-05-05"})],
        lambda read: [
            [each["partner_name"], each["paid_out_cents"], each["taken_back_since_cents"]] for each in read["data"]
        ],
    ),
    "Which payments were disputed, and how did each end?": (
        [("list_payment_events", {"type": "charge.dispute"})],
        lambda read: [[each["state"]] for each in read["disputes"]],
    ),
    "How much money is in the sales that were rejected, by cause, and what is still lost?": (
        [("list_refused_calls", {})],
        lambda read: [
            [each["first_sent"]["USD"], each["credited"]["USD"], each["lost"]["USD"]]
            for each in read["lost"]
            if each["cause"] == "letter_case"
        ],
    ),
    "Why was transaction lost-1 not credited, whose was it, and what do I change?": (
        [("explain_attribution", {"transaction_id": "lost-1"})],
        lambda read: [[read["verdict"], read["likely_customer_key"]]],
    ),
    "Who still uses the old key, from which program, how often?": (
        [("get_program", {"usage": True})],
        lambda read: [
            [each["caller"], *each["weeks"].values()]
            for each in read["key_callers"]
            if each.get("caller") == "shop/1 ab12"
        ],
    ),
    "Are renewals arriving? Which customers stopped?": (
        [
            ("get_breakdown", {"by": "buyer", "period": "90d", "metrics": "sales"}),
            ("list_customers", {"last_sale_before": "2026-05-02"}),
        ],
        lambda read, stopped: [
            [dict(read["rows"])["returning"], sum(row["partner_name"] == "Anna" for row in stopped["data"])]
        ],
    ),
    "The whole story of customer k-anna-2.": (
        [("get_customer", {"customer_key": "k-anna-2"})],
        lambda read: [[read["totals"][name] for name in ("sales_cents", "refunded_cents", "commission_net_cents")]],
    ),
    "How many leads are stuck as provisional, from whom, since when; which of them bought?": (
        [("list_customers", {"settlement": "provisional"})],
        lambda read: sorted([each["status"], each["lead_at"][:10]] for each in read["data"]),
    ),
    "Does any title contain instructions?": (
        [("list_events", {"text": "previous"})],
        lambda read: [[each["untrusted"]["page_title"] == INERT] for each in read["data"]],
    ),
    "Which approved commissions could not be paid, and what does each wait for?": (
        [("list_commissions", {"status": "approved"})],
        lambda read: [[each["transaction_id"], each["flags"][0]] for each in read["data"]],
    ),
    "How much of what is pending will be payable by the end of next month if nobody decides anything?": (
        [("list_commissions", {"ready_at": "2026-06-30", "totals": True, "limit": 100})],
        lambda read: [[sum(each["net_cents"] for each in read["data"] if "flags" not in each)]],
    ),
    "Reconcile the month's payouts: paid, taken back since, still owed back.": (
        [("list_commissions", {"paid_from": "2026-05-01"}), ("list_partners", {"q": "anna"})],
        lambda paid, owed: [
            [sum(each["paid_out_cents"] for each in paid["data"]), owed["data"][0]["balance"]["owed_back_cents"]]
        ],
    ),
    "What can each of our agent keys do, what are the caps, and what was rejected?": (
        [("get_program", {"usage": True})],
        lambda read: [
            [len(key["scopes"]), *(each["calls"] for each in key["rejected"])]
            for key in read["agents"]["keys"]
            if key["rejected"]
        ],
    ),
    "We lowered the rate. What did that do to commission and sales since?": (
        [("list_changes", {"action": "program"})],
        lambda read: [[each["sales"], each["commission_cents"]] for each in read["terms"]],
    ),
    "Which partners went quiet: clicks in April, none for ten days?": (
        [
            ("list_partners", {"date_from": "2026-04-01", "date_to": "2026-04-30"}),
            ("list_partners", {"date_from": "2026-05-11", "date_to": "2026-05-20"}),
        ],
        lambda then, now: [
            [a["name"]] for a, b in zip(then["data"], now["data"], strict=True) if a["clicks"] and not b["clicks"]
        ],
    ),
    "Nora says that her old customers are missing since the move. Are they there, and under whom?": (
        [("list_customers", {"q": "nora"})],
        lambda read: [[each["customer_key"], each["partner_name"]] for each in read["data"]],
    ),
    "Was the key used by anybody new before we replaced it, and what did they book?": (
        [("get_program", {"usage": True}), ("list_events", {"caller": "thief/6 ff00"})],
        lambda read, booked: [
            [each["caller"], booked["data"][0]["transaction_id"]]
            for each in read["key_callers"]
            if "thief" in each.get("caller", "")
        ],
    ),
    "Which partner's commissions are held by a flag?": (
        [("list_flags", {"state": "open"})],
        lambda read: [[each["partner_name"], each["held_cents"]] for each in read["data"]],
    ),
    "Our refunds fail. All of them, or one kind, and with which amounts against the sale?": (
        [("list_refused_calls", {"view": "calls", "code": "refund_exceeds_sale"})],
        lambda read: [[each["amount_cents"], each["sale_cents"]] for each in read["data"]],
    ),
    "Did anything arrive from our new checkout yet, and is it live?": (
        [("list_events", {"caller": "shop/1 ab12"})],
        lambda read: [[each["transaction_id"], int(each["is_test"])] for each in read["data"]],
    ),
    "A customer was refunded twice on paper. Did we take back twice?": (
        [("list_events", {"transaction_id": "inv-a2", "kind": "refund"})],
        lambda read: [[each["refund_id"], each["reversed_cents"]] for each in read["data"]],
    ),
}


def _run(sql: str, connection: Connection) -> list[Any]:
    return list(connection.exec_driver_sql(sql).all())


async def test_each_question_is_answered_by_at_most_two_calls_as_sql_answers_it(assistant: Assistant):
    await two_months.spend(assistant)
    answers: dict[str, Any] = {}
    truth: dict[str, Any] = {}
    for asked, (calls, answer) in QUESTIONS.items():
        answers[asked] = answer(*[(await assistant.tool(name, **arguments)).payload for name, arguments in calls])
        sql = ANSWERS[asked].replace(":acme", str(assistant.acme.program_id))
        rows = await assistant.acme.store.read(partial(_run, sql))
        truth[asked] = [list(row) for row in rows]

    assert answers == truth
    assert all(truth.values())
    assert len(truth) == 30
    assert max(len(calls) for calls, _ in QUESTIONS.values()) == 2
