"""What people ask their assistants: at most two calls and 24 KB of each, and the answer is what SQL says."""

import json
import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

import background
from storage.access import agent_keys, program_keys
from storage.engine.audit import Actor, By
from storage.lists.commissions import COMMISSIONS
from storage.management import program_settings
from storage.rules.errors import CustomerNotFound, InvalidKey, OverCap, RefundExceedsSale
from storage.rules.fraud.flag import Finding, FlagKind
from storage.tracking import flagging
from tests import stripe_events as stripe
from tests.mcp_server.conftest import HOSTILE, Assistant
from tests.storage.management.importing import GENERIC, imported
from tests.storage.payments import paying
from tests.world import NOW, World

WRITTEN = Path(__file__).with_name("questions.sql").read_text(encoding="utf-8")
QUESTIONS = re.findall(r"^-- (.*)\n((?:-- \w+ \{.*\}\n)+)(SELECT [^;]*);\n(SELECT [^;]*);", WRITTEN, re.MULTILINE)
CALL = re.compile(r"-- (\w+) (\{.*\})")
OWNER = Actor("user", "1", "olivia@acme.example")
SHOP = {"user_agent": "shop/1", "network_hash": "ab12"}


def day(month: int, number: int) -> datetime:
    return datetime(2026, month, number, 12, tzinfo=UTC)


async def spend_two_months(assistant: Assistant) -> None:
    """Let April and May happen: two rates, a payout, refunds, a stolen key, rejected sales, a flag and an import."""
    acme = assistant.acme
    await acme.beside(name="Second")
    letter = json.dumps({"utm_source": "letter", "country": "DE"})
    await imported(acme, GENERIC)
    for key, code, at in (("k-anna-1", "anna", day(4, 2)), ("k-ben-1", "ben", day(4, 5))):
        await acme.lead(await acme.visitor(code, at=at, dimensions=letter), key, at=at)
        await acme.sale(f"inv-{key[2]}1", 10_000, customer_key=key, at=at + timedelta(days=1))
    paid = (await acme.listed(COMMISSIONS)).data[1]
    for status in ("approved", "paid"):
        await acme.decide(status, paid.id, by=By(OWNER, day(5, 5)))
    changes = {"rate": 1_500, "lead_commission_cents": 100}
    await acme.do(program_settings.change, changes, by=By(OWNER, day(5, 1)))
    await acme.customer("k-anna-2", at=day(5, 2))
    await acme.sale("inv-a2", 8_000, customer_key="k-anna-2", at=day(5, 2))
    for _ in range(2):
        await acme.refund("inv-a2", 2_000, refund_id="re-1", at=day(5, 10))
    await acme.refund("inv-a1", 1_000, at=day(5, 11))
    await acme.sale("inv-b2", 5_000, customer_key="k-ben-1", at=day(5, 6))
    for number in (3, 4):
        unsettled = await acme.visitor("ben", at=day(5, number))
        await acme.lead(unsettled, "unsure", is_trusted=False, at=day(5, number))
    await acme.sale("inv-p", 3_000, click_id=unsettled, at=day(5, 8))
    await _lose(acme)
    await _review(assistant)


async def _lose(acme: World) -> None:
    """Have sales and a refund rejected, and sales booked with a stolen key."""
    for name in ("lost-1", "lost-2"):
        sent = {"transaction_id": name, "amount_cents": 4_000, "currency": "USD", "customer_key": "K-ANNA-1"}
        await acme.reject(CustomerNotFound(), at=day(5, 12), **sent)
    await acme.sale("lost-2", 4_000, customer_key="k-anna-1", at=day(5, 13), caller="shop/1 ab12")
    await acme.sale("inv-t", 900, customer_key="k-anna-1", at=day(5, 14), caller="thief/6 ff00")
    over: dict[str, Any] = {"call": "refund", "transaction_id": "inv-a2", "amount_cents": 88_000}
    await acme.reject(RefundExceedsSale(), at=day(5, 18), **over)
    await acme.reject(CustomerNotFound(), at=day(5, 18), user_agent="thief/6", network_hash="ff00")
    await acme.visitor(page_title=HOSTILE.replace("\x00", ""), at=day(5, 18))


async def _review(assistant: Assistant) -> None:
    """Flag a customer, dispute a payment, exceed a cap, change a setting and replace the key."""
    acme = assistant.acme
    earned = (await acme.listed(COMMISSIONS)).data
    approved = next(each for each in earned if each.transaction_id == "inv-a2")
    await acme.decide("approved", approved.id, by=By(OWNER, NOW))
    found = Finding(FlagKind.SHARED_CLICK, "shared", acme.anna, day(5, 1), {}, approved.customer_id)
    await acme.store.write(flagging.raise_each, [(acme.program_id, found)], at=NOW)
    metadata = {"svc_click_id": await acme.visitor(at=NOW - timedelta(hours=2)), "program_id": str(acme.program_id)}
    await paying.take(acme, stripe.checkout(metadata=metadata))
    await paying.take(acme, stripe.dispute())
    await acme.store.write(agent_keys.add_rejection, assistant.good, acme.program_id, OverCap(cap="rate_step"), at=NOW)
    await acme.store.write(program_settings.change, acme.program_id, {"cookie_window_days": 30}, by=By(OWNER, NOW))
    await acme.store.write(program_keys.regenerate, acme.program_id, by=By(OWNER, NOW))
    await acme.reject(InvalidKey(), customer_key="k-anna-2", transaction_id="old-key", **SHOP)
    await background.save_callers(acme.store)


def _run(connection: Connection, sql: str) -> list[list[Any]]:
    return [list(row) for row in connection.exec_driver_sql(sql)]


async def _ask(assistant: Assistant, calls: list[tuple[str, str]], reading: str) -> list[list[Any]]:
    """Make the calls, and return the rows that SQL reads of their results."""
    found = [(await assistant.tool(name, **json.loads(arguments))).payload for name, arguments in calls]
    results = dict(zip(("first", "second"), map(json.dumps, found), strict=False))
    with closing(sqlite3.connect(":memory:")) as memory:
        return [list(row) for row in memory.execute(reading, results)]


async def test_each_question_is_answered_by_at_most_two_calls_as_sql_answers_it(assistant: Assistant):
    await spend_two_months(assistant)
    answers: dict[str, Any] = {}
    truth: dict[str, Any] = {}
    for asked, calls, reading, sql in QUESTIONS:
        answers[asked] = await _ask(assistant, CALL.findall(calls), reading)
        truth[asked] = await assistant.acme.store.read(_run, sql.replace(":acme", str(assistant.acme.program_id)))

    assert answers == truth
    assert all(truth.values())
    assert len(truth) == 41
    assert max(len(CALL.findall(calls)) for _, calls, _, _ in QUESTIONS) == 2
