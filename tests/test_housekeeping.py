"""Housekeeping deletes what has expired, however much it is."""

from datetime import timedelta

import pytest

import asgi
from storage.engine import pruning
from storage.rules.errors import CustomerNotFound
from storage.tables import refused_calls
from storage.tracking import rejection_log
from tests.storage.payments.paying import stored
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
