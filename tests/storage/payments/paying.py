"""What the tests of payments share: an event taken, what is stored, and a checkout's metadata."""

from typing import Any

from sqlalchemy import select

from storage.payments import processing
from storage.payments.processing import EventOutcome
from storage.payments.stripe import parse_event
from tests.world import NOW, World


async def take(acme: World, event: dict[str, Any]) -> EventOutcome:
    done: EventOutcome = await acme.store.write(
        processing.process, acme.program_id, parse_event(event), at=NOW, lane=acme.program_id
    )
    return done


async def stored(acme: World, *columns: Any) -> list[Any]:
    def read(connection: Any) -> list[Any]:
        return [tuple(row) for row in connection.execute(select(*columns))]

    return await acme.store.read(read)


async def named(acme: World, **more: str) -> dict[str, str]:
    """Return a checkout's metadata for a visitor of Anna's."""
    return {"svc_click_id": await acme.visitor(), "program_id": str(acme.program_id), **more}
