"""What was received and changed: rejected calls by cause, payments, events, timelines, and the lists of them."""

import json
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from storage.lists import rejected_calls
from storage.lists.audit_log import AUDIT_LOG
from storage.lists.declaration import ListQuery
from storage.lists.flags import FLAGS
from storage.lists.payment_events import PAYMENT_EVENTS
from storage.lists.rejected_calls import REJECTED_CALLS
from storage.rules import errors
from storage.rules.fraud.flag import FlagState
from storage.tables import payment_events
from tests import stripe_events as stripe
from tests.storage.lists.test_lists import Keys, Read, listed, of, require_each_order
from tests.storage.payments.paying import take
from tests.world import NOW, World


async def at_stake(acme: World) -> dict[str, dict[str, int]]:
    causes = await acme.store.read(rejected_calls.by_cause, acme.program_id)
    return {cause.code: {each.currency: each.amount_cents for each in cause.at_stake} for cause in causes}


async def lose(acme: World, error: errors.ServiceError, name: str = "inv-1", cents: int = 100, **sent: Any) -> None:
    """Have a sale rejected."""
    await acme.reject(error, **{"transaction_id": name, "amount_cents": cents, "currency": "USD", **sent})


async def test_rejected_calls_are_grouped_by_cause_and_the_amounts_of_sales_are_added_by_currency(acme: World):
    for n, (cents, currency) in enumerate([(100, "USD"), (200, "USD"), (400, "EUR"), (800, "USD")]):
        error = errors.InvalidKey() if n == 3 else errors.CustomerNotAttributed()
        await lose(acme, error, f"inv-{n}", cents, currency=currency, at=NOW + timedelta(minutes=n))
    await acme.reject(errors.CurrencyNotSupported())
    await acme.reject(errors.CurrencyNotSupported(), call="refund", transaction_id="inv-1", amount_cents=100)

    causes = await acme.store.read(rejected_calls.by_cause, acme.program_id)

    assert [cause[:4] for cause in causes] == [
        ("customer_not_attributed", 3, NOW, NOW + timedelta(minutes=2)),
        ("currency_not_supported", 2, NOW, NOW),
        ("invalid_key", 1, NOW + timedelta(minutes=3), NOW + timedelta(minutes=3)),
    ]
    of_causes = {"customer_not_attributed": {"EUR": 400, "USD": 300}, "invalid_key": {"USD": 800}}
    assert await at_stake(acme) == {**of_causes, "currency_not_supported": {}}


@pytest.mark.both_databases
async def test_a_flood_of_rejections_makes_no_read_longer(acme: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rejected_calls, "MOST_CALLS", 2)
    for n in range(4):
        await lose(acme, errors.CustomerNotAttributed(), f"inv-{n}", at=NOW + timedelta(minutes=n))

    (cause,) = await acme.store.read(rejected_calls.by_cause, acme.program_id)
    explained = [await acme.explain(transaction_id=f"inv-{n}") for n in range(4)]

    assert (cause.calls, cause.first_at, cause.at_stake[0].amount_cents) == (2, NOW + timedelta(minutes=2), 200)
    assert [len(each.rejected_calls) for each in explained] == [0, 0, 1, 1]


async def test_a_sale_that_was_sent_again_or_recorded_since_is_not_counted_twice(acme: World):
    for transaction_id in ("inv-1", "inv-1", "inv-2"):
        await lose(acme, errors.CustomerNotAttributed(), transaction_id)
    await acme.customer()
    await acme.sale("inv-2", amount_cents=100)
    for same in (True, False):
        await lose(acme, errors.DuplicateTransaction(same_payload=same), "inv-2", 700 if same else 50)

    assert await at_stake(acme) == {"customer_not_attributed": {"USD": 100}, "duplicate_transaction": {"USD": 50}}


@pytest.fixture
async def watched(acme: World) -> World:
    """Acme with rejected calls, payments in two currencies, and signs of fraud, all of which left audit entries."""
    await acme.customer()
    for number, (error, cents) in enumerate(((errors.DuplicateTransaction, 500), (errors.IdentifierConflict, 900)) * 2):
        await lose(acme, error(), f"inv-{number}", cents * (number + 1), customer_key=f"user-{9 - number}")
    await acme.reject(errors.IdentifierConflict(), call="lead")
    for number, currency in enumerate(("usd", "eur", "usd")):
        about: dict[str, Any] = {"amount": 100 * (7 - number), "currency": currency, "payment_intent": f"pi_{number}"}
        await take(acme, stripe.checkout(f"evt_{number}", **about))
    await take(acme, stripe.event("customer.created", {"id": "cus_9"}, event_id="evt_other"))
    for customer_id in (None, 3, 1):
        await acme.flag(customer_id)
    return acme


@pytest.mark.both_databases
async def test_each_order_shows_what_was_logged_once_forwards_and_backwards(watched: World):
    lists: dict[Read, Keys] = {
        listed(watched, REJECTED_CALLS): of("call", "code", "customer_key", "transaction_id", "amount_cents"),
        listed(watched, PAYMENT_EVENTS): of("type", "outcome", "transaction_id", "amount_cents"),
        listed(watched, AUDIT_LOG): of("actor_name", "action", "field"),
        listed(watched, FLAGS, state=FlagState.OPEN): of("kind", "partner_name", "customer_key"),
    }

    await require_each_order(lists)


async def test_payments_are_added_up_in_each_currency_whichever_release_stored_them(watched: World):
    payments = listed(watched, PAYMENT_EVENTS)
    earlier = {"Paid": {"amount_cents": 40_000, "currency": "JPY"}}
    replaced = update(payment_events).where(payment_events.c.event_id == "evt_0").values(payment=json.dumps(earlier))

    assert (await payments(ListQuery(1))).amounts == {"EUR": 600, "USD": 700 + 500}
    await watched.store.write(lambda connection: connection.execute(replaced).rowcount)
    added = await listed(watched, PAYMENT_EVENTS, search="checkout.")(ListQuery(1))
    assert added.amounts == {"EUR": 600, "JPY": 40_000, "USD": 500}
