"""Hand-overs: a visitor's click goes with them to another domain of the program."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection, select

from storage.engine.database import insert_for
from storage.rules import attribution
from storage.rules.errors import InvalidHandover, ProgramNotFound
from storage.rules.handover import Handover
from storage.tables import clicks, programs, used_handovers


class Arrival(NamedTuple):
    """A visitor arrives on another domain with a click, where they may carry one already."""

    program_id: int
    handover: Handover
    existing_click_id: str | None
    at: datetime


class ArrivalResult(NamedTuple):
    """The click that the visitor carries from now on."""

    click_id: str
    cookie_window_days: int


def domains_of(connection: Connection, program_id: int) -> Sequence[str]:
    """Return the domains of a program. Raises ProgramNotFound."""
    own = select(programs.c.domain, programs.c.further_domains).where(programs.c.id == program_id)
    row = connection.execute(own).one_or_none()
    if row is None:
        raise ProgramNotFound
    return [row.domain, *(row.further_domains or "").split()]


def redeem(connection: Connection, arrival: Arrival) -> ArrivalResult:
    """Use a token up, and return the click that its visitor then carries: theirs, or the one that they carry already.

    Raises InvalidHandover for a token that was used, or a click that is unknown or too old.
    """
    program_id, handover, existing, at = arrival
    used = insert_for(connection)(used_handovers).values(
        program_id=program_id, nonce=handover.nonce, expires_at=handover.expires_at
    )
    first_use = used.on_conflict_do_nothing().returning(used_handovers.c.nonce)
    if connection.execute(first_use).scalar() is None:
        raise InvalidHandover
    settings = select(programs.c.attribution_model, programs.c.cookie_window_days).where(programs.c.id == program_id)
    model, window_days = connection.execute(settings).one()
    named = (clicks.c.program_id == program_id, clicks.c.click_id.in_([handover.click_id, existing or ""]))
    oldest = at - timedelta(days=window_days)
    live = {row.click_id: row.at for row in connection.execute(select(clicks).where(*named, clicks.c.at >= oldest))}
    if handover.click_id not in live:
        raise InvalidHandover
    stays = attribution.stays_on_arrival(
        model, existing_at=live.get(existing or ""), arriving_at=live[handover.click_id]
    )
    return ArrivalResult(existing if existing and stays else handover.click_id, window_days)
