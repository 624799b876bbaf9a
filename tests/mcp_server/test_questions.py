"""What people ask their assistants: at most two calls and 24 KB of each, and the answer is what SQL says."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from tests.mcp_server import two_months
from tests.mcp_server.conftest import INERT, Assistant

WRITTEN = Path(__file__).with_name("questions.sql").read_text(encoding="utf-8")
ANSWERS: dict[str, str] = dict(re.findall(r"^-- (.*)\n([^-\n][^;]*);", WRITTEN, re.MULTILINE))


Asked = tuple[Callable[..., Any], list[tuple[str, dict[str, Any]]]]  # what reads the answer, and the calls


def ask(answer: Callable[..., Any], **calls: Any) -> Asked:
    """Ask by calls of tools with their arguments; several arguments are those of several calls of one tool."""
    return answer, [(name, each) for name, of in calls.items() for each in (of if isinstance(of, list) else [of])]


def rows(of: str, *names: str) -> Callable[..., list[list[Any]]]:
    """Read some fields of all rows of a list."""
    return lambda read, *_: [[each[name] for name in names] for each in read[of]]


QUESTIONS: dict[str, Asked] = {
    "Compare my programs this month against last.": ask(
        lambda read: [[each[of]["revenue_cents"] for of in ("totals", "previous_totals")] for each in read["data"]],
        list_programs={"period": "this_month"},
    ),
    "Which part of the commission is for leads, and which rate holds since when?": ask(
        lambda read, changes: [
            [
                read["commission_by_cause"]["lead_cents"],
                *[each["terms"]["commission_rate"] for each in changes["terms"]],
            ]
        ],
        get_performance={"period": "this_month"},
        list_changes={"action": "program"},
    ),
    "What happened since yesterday noon?": ask(
        rows("data", "action"), list_changes={"date_from": "2026-05-19T12:00:00Z"}
    ),
    "Who changed the cookie window, when, from what to what?": ask(
        rows("data", "actor", "before", "after"), list_changes={"field": "cookie_window_days"}
    ),
    "Which partners' customers refund most, and what was taken back?": ask(
        lambda read: [[row["refunded_cents"], row["reversed_cents"]] for row in read["top_partners"] if row["refunds"]],
        get_performance={"period": "this_quarter", "top_partners": 20},
    ),
    "Which campaigns bring buyers, not only clicks?": ask(
        lambda read: [row for row in read["rows"] if row[0] == "letter"],
        get_breakdown={"by": "utm_source", "period": "90d", "metrics": "conversions,clicks"},
    ),
    "Tell me everything about Anna.": ask(
        lambda read: [
            [read["totals"]["revenue_cents"], read["balance"]["paid_cents"], sum(read["customers"].values())]
        ],
        get_partner={"partner": "anna", "period": "all"},
    ),
    "Is anything suspicious?": ask(rows("data", "kind", "partner_name"), list_flags={"state": "open"}),
    "What do we owe each partner now?": ask(
        lambda read: sorted([each["name"], each["balance"]["paid_cents"]] for each in read["data"])[:2],
        list_partners={},
    ),
    "What was paid on the 5th, to whom, and has any of it been refunded since?": ask(
        rows("data", "partner_name", "paid_out_cents", "taken_back_since_cents"),
        list_commissions={"paid_from": "2026-05-05", "paid_to": "2026-05-05"},
    ),
    "Which payments were disputed, and how did each end?": ask(
        rows("disputes", "state"), list_payment_events={"type": "charge.dispute"}
    ),
    "How much money is in the sales that were rejected, by cause, and what is still lost?": ask(
        lambda read: [
            [each[sums]["USD"] for sums in ("first_sent", "credited", "lost")]
            for each in read["lost"]
            if each["cause"] == "letter_case"
        ],
        list_refused_calls={},
    ),
    "Why was transaction lost-1 not credited, whose was it, and what do I change?": ask(
        lambda read: [[read["verdict"], read["likely_customer_key"]]], explain_attribution={"transaction_id": "lost-1"}
    ),
    "Who still uses the old key, from which program, how often?": ask(
        lambda read: [
            [row["caller"], *row["weeks"].values()] for row in read["key_callers"] if row.get("caller") == "shop/1 ab12"
        ],
        get_program={"usage": True},
    ),
    "Are renewals arriving? Which customers stopped?": ask(
        lambda read, stopped: [
            [dict(read["rows"])["returning"], sum(row["partner_name"] == "Anna" for row in stopped["data"])]
        ],
        get_breakdown={"by": "buyer", "period": "90d", "metrics": "sales"},
        list_customers={"last_sale_before": "2026-05-02"},
    ),
    "The whole story of customer k-anna-2.": ask(
        lambda read: [[read["totals"][name] for name in ("sales_cents", "refunded_cents", "commission_net_cents")]],
        get_customer={"customer_key": "k-anna-2"},
    ),
    "How many leads are stuck as provisional, from whom, since when; which of them bought?": ask(
        lambda read: sorted([each["status"], each["lead_at"][:10]] for each in read["data"]),
        list_customers={"settlement": "provisional"},
    ),
    "Does any title contain instructions?": ask(
        lambda read: [[each["untrusted"]["page_title"] == INERT] for each in read["data"]],
        list_events={"text": "previous"},
    ),
    "Which approved commissions could not be paid, and what does each wait for?": ask(
        lambda read: [[each["transaction_id"], each["flags"][0]] for each in read["data"]],
        list_commissions={"status": "approved"},
    ),
    "How much of what is pending will be payable by the end of next month if nobody decides anything?": ask(
        lambda read: [[sum(each["net_cents"] for each in read["data"] if "flags" not in each)]],
        list_commissions={"ready_at": "2026-06-30", "totals": True, "limit": 100},
    ),
    "Reconcile the month's payouts: paid, taken back since, still owed back.": ask(
        lambda paid, owed: [
            [sum(each["paid_out_cents"] for each in paid["data"]), owed["data"][0]["balance"]["owed_back_cents"]]
        ],
        list_commissions={"paid_from": "2026-05-01"},
        list_partners={"q": "anna"},
    ),
    "What can each of our agent keys do, what are the caps, and what was rejected?": ask(
        lambda read: [
            [len(key["scopes"]), *(each["calls"] for each in key["rejected"])]
            for key in read["agents"]["keys"]
            if key["rejected"]
        ],
        get_program={"usage": True},
    ),
    "We lowered the rate. What did that do to commission and sales since?": ask(
        rows("terms", "sales", "commission_cents"), list_changes={"action": "program"}
    ),
    "Which partners went quiet: clicks in April, none for ten days?": ask(
        lambda then, now: [
            [a["name"]] for a, b in zip(then["data"], now["data"], strict=True) if a["clicks"] and not b["clicks"]
        ],
        list_partners=[
            {"date_from": "2026-04-01", "date_to": "2026-04-30"},
            {"date_from": "2026-05-11", "date_to": "2026-05-20"},
        ],
    ),
    "Nora says that her old customers are missing since the move. Are they there, and under whom?": ask(
        rows("data", "customer_key", "partner_name"), list_customers={"q": "nora"}
    ),
    "Was the key used by anybody new before we replaced it, and what did they book?": ask(
        lambda read, booked: [
            [each["caller"], booked["data"][0]["transaction_id"]]
            for each in read["key_callers"]
            if "thief" in each.get("caller", "")
        ],
        get_program={"usage": True},
        list_events={"caller": "thief/6 ff00"},
    ),
    "Which partner's commissions are held by a flag?": ask(
        rows("data", "partner_name", "held_cents"), list_flags={"state": "open"}
    ),
    "Our refunds fail. All of them, or one kind, and with which amounts against the sale?": ask(
        rows("data", "amount_cents", "sale_cents"),
        list_refused_calls={"view": "calls", "code": "refund_exceeds_sale"},
    ),
    "Did anything arrive from our new checkout yet, and is it live?": ask(
        lambda read: [[each["transaction_id"], int(each["is_test"])] for each in read["data"]],
        list_events={"caller": "shop/1 ab12"},
    ),
    "A customer was refunded twice on paper. Did we take back twice?": ask(
        rows("data", "refund_id", "reversed_cents"), list_events={"transaction_id": "inv-a2", "kind": "refund"}
    ),
}


def _run(connection: Connection, sql: str) -> list[list[Any]]:
    return [list(row) for row in connection.exec_driver_sql(sql)]


async def test_each_question_is_answered_by_at_most_two_calls_as_sql_answers_it(assistant: Assistant):
    await two_months.spend(assistant)
    answers: dict[str, Any] = {}
    truth: dict[str, Any] = {}
    for asked, (answer, calls) in QUESTIONS.items():
        answers[asked] = answer(*[(await assistant.tool(name, **arguments)).payload for name, arguments in calls])
        sql = ANSWERS[asked].replace(":acme", str(assistant.acme.program_id))
        truth[asked] = await assistant.acme.store.read(_run, sql)

    assert answers == truth
    assert all(truth.values())
    assert len(truth) == 30
    assert max(len(calls) for _, calls in QUESTIONS.values()) == 2
