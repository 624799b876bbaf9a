"""What the tests of payments share: an event taken, what is stored, and a checkout's metadata."""

from typing import Any

from sqlalchemy import select

from storage import payments
from storage.payments import Outcome
from storage.rules import payment
from tests.world import NOW, World


async def take(acme: World, event: dict[str, Any]) -> Outcome:
    done: Outcome = await acme.store.write(
        payments.take, acme.program_id, payment.read(event), at=NOW, lane=acme.program_id
    )
    return done


async def stored(acme: World, *columns: Any) -> list[Any]:
    def read(connection: Any) -> list[Any]:
        return [tuple(row) for row in connection.execute(select(*columns))]

    return await acme.store.read(read)


async def named(acme: World, **more: str) -> dict[str, str]:
    """Return a checkout's metadata for a visitor of Anna's."""
    return {"svc_click_id": await acme.visitor(), "program_id": str(acme.program_id), **more}
