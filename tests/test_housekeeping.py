"""Housekeeping deletes what has expired and records payments with a late lead, however much it is."""

from datetime import timedelta

import pytest

import asgi
from storage.engine import pruning
from storage.payments import late_leads
from storage.rules.errors import CustomerNotFound
from storage.tables import refused_calls, sales
from storage.tracking import rejection_log
from tests import stripe_events as stripe
from tests.storage.payments.paying import connect, stored, take
from tests.world import NOW, World

LATER = NOW + timedelta(days=31)


async def test_a_large_backlog_is_deleted_in_chunks(acme: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pruning, "ROWS_AT_ONCE", 2)
    for _ in range(7):
        await acme.reject(CustomerNotFound())
    await acme.reject(CustomerNotFound(), at=LATER)

    assert await acme.store.write(rejection_log.prune, at=LATER) == 2
    await asgi.prune_all(acme.store, at=LATER)

    assert await stored(acme, refused_calls.c.at) == [(LATER,)]


async def test_payments_whose_lead_came_late_are_recorded_in_chunks(acme: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(late_leads, "AT_ONCE", 2)
    await connect(acme)
    for number in range(3):
        named = {"svc_customer_key": f"user-{number}"}
        await take(acme, stripe.invoice(f"evt_{number}", name=f"in_{number}", customer=f"cus_{number}", metadata=named))
        await acme.customer(f"user-{number}")

    await asgi.record_waiting_payments(acme.store, at=NOW)

    assert await stored(acme, sales.c.transaction_id) == [("in_0",), ("in_1",), ("in_2",)]
