"""The lists of what was received and changed: each sorts by its own columns and adds up its amounts."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import update

from storage.engine.listing import ListQuery, Order
from storage.reading import audit_subjects, listed_calls, listed_flags
from storage.reading.audit_subjects import EntryMatch
from storage.rules.errors import DuplicateTransaction, IdentifierConflict
from storage.rules.fraud.flag import FlagState
from storage.tables import payment_events
from tests import stripe_events as stripe
from tests.storage.databases import both_databases
from tests.storage.payments.paying import take
from tests.storage.reading.walking import Read, listed, walked
from tests.world import World

EMPTY = ""


@pytest.fixture
async def watched(acme: World) -> World:
    """Acme with rejected calls, payments in two currencies, and signs of fraud, all of which left audit entries."""
    await acme.customer()
    for number, (error, cents) in enumerate(((DuplicateTransaction, 500), (IdentifierConflict, 900)) * 2):
        ids = {"transaction_id": f"inv-{number}", "customer_key": f"user-{9 - number}"}
        await acme.reject(error(), **ids, amount_cents=cents * (number + 1), currency="USD")
    await acme.reject(IdentifierConflict(), call="lead")
    for number, currency in enumerate(("usd", "eur", "usd")):
        paid = stripe.checkout(
            f"evt_{number}", amount=100 * (7 - number), currency=currency, payment_intent=f"pi_{number}"
        )
        await take(acme, paid)
    await take(acme, stripe.event("customer.created", {"id": "cus_9"}, event_id="evt_other"))
    for customer_id in (None, 3, 1):
        await acme.flag(customer_id)
    return acme


def lists(world: World) -> dict[Read, dict[str | None, Callable[[Any], Any]]]:
    """Return the lists, and by what each of their orders sorts."""
    return {
        listed(world, listed_calls.read_rejected): {
            None: lambda row: row.id,
            "call": lambda row: (row.call, row.id),
            "code": lambda row: (row.code, row.id),
            "customer": lambda row: (row.customer_key or EMPTY, row.id),
            "transaction": lambda row: (row.transaction_id or EMPTY, row.id),
            "amount": lambda row: (row.amount_cents or 0, row.id),
        },
        listed(world, listed_calls.read_payments): {
            None: lambda row: row.id,
            "type": lambda row: (row.type, row.id),
            "outcome": lambda row: (row.outcome, row.id),
            "transaction": lambda row: (row.transaction_id or EMPTY, row.id),
            "amount": lambda row: (row.amount_cents or 0, row.id),
        },
        listed(world, audit_subjects.list_named, EntryMatch()): {
            None: lambda row: row.entry.id,
            "who": lambda row: (row.entry.actor.name.lower(), row.entry.id),
            "what": lambda row: (row.entry.action, row.entry.id),
            "field": lambda row: (row.entry.field or EMPTY, row.entry.id),
        },
        listed(world, listed_flags.read, state=FlagState.OPEN): {
            None: lambda row: row.id,
            "kind": lambda row: (row.kind, row.id),
            "partner": lambda row: (row.partner_name.lower(), row.id),
            "customer": lambda row: (row.customer_key or EMPTY, row.id),
        },
    }


@both_databases
async def test_each_order_shows_every_row_once_forwards_and_backwards(watched: World):
    for read, columns in lists(watched).items():
        for order in (Order(column, is_ascending) for column in columns for is_ascending in (True, False)):
            rows = await walked(read, order)

            assert len(rows) > 2
            assert rows == sorted(rows, key=columns[order.column], reverse=not order.is_ascending), order
            assert (await read(ListQuery(order=order))).order == order


async def test_payments_are_added_up_in_each_currency_whichever_release_stored_them(watched: World):
    payments = listed(watched, listed_calls.read_payments)
    stored = {"Paid": {"amount_cents": 40_000, "currency": "JPY"}}

    def replace(connection: Any) -> None:
        row = payment_events.c
        connection.execute(update(payment_events).where(row.event_id == "evt_0").values(payment=json.dumps(stored)))

    assert (await payments(ListQuery(1))).amounts == {"EUR": 600, "USD": 700 + 500}
    await watched.store.write(replace)
    added = await listed(watched, listed_calls.read_payments, search="checkout.")(ListQuery(1))
    assert added.amounts == {"EUR": 600, "JPY": 40_000, "USD": 500}
