"""What the tests of payments share: an event taken, what is stored, and a checkout's metadata."""

from typing import Any

from storage.engine.sealing import Sealer
from storage.lists.payment_events import PAYMENT_EVENTS
from storage.payments import accounts, processing
from storage.payments.processing import EventOutcome
from storage.payments.stripe import parse_event
from tests.world import NOW, OLGA, World


async def take(acme: World, event: dict[str, Any]) -> EventOutcome:
    return await acme.store.write_in(acme.program_id, processing.process, acme.program_id, parse_event(event), at=NOW)


async def connect(acme: World, *, secret: str = "whsec_12345678", key: str = "a key") -> None:
    about: dict[str, Any] = {"provider": "stripe", "account_id": "acct_1", "secret": secret}
    await acme.do(accounts.connect, **about, sealer=Sealer(key), actor=OLGA)


async def named(acme: World, **more: str) -> dict[str, str]:
    """Return a checkout's metadata for a visitor of Anna's."""
    return {"svc_click_id": await acme.visitor(), "program_id": str(acme.program_id), **more}


async def listed(acme: World, outcome: str) -> list[str]:
    """Return the types of the events with an outcome."""
    return [event.type for event in (await acme.listed(PAYMENT_EVENTS, outcome=outcome)).data]
