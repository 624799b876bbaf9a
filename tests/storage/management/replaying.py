"""What the tests of replays share: calls that are rejected, replayed, and read again."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from storage.management import replays
from storage.management.replays import Replay
from storage.rules import errors
from storage.tables import refused_calls
from tests.world import NOW, SEALER, World

LATER = NOW + timedelta(days=3)


async def replay(acme: World, *ids: int, at: datetime = LATER, **about: Any) -> Replay:
    chosen = about | ({"ids": ids} if ids else {})
    result: Replay = await acme.do(replays.replay, sealer=SEALER, at=at, **chosen)
    return result


async def lose_sale(acme: World, transaction_id: str = "inv-1", **fields: Any) -> int:
    """Report a sale of a customer whose lead has not arrived, and return the id of its rejection."""
    with pytest.raises(errors.CustomerNotFound):
        await acme.sale(transaction_id, **fields)
    return max(row.id for row in await acme.rows(refused_calls))
