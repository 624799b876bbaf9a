"""Hand-overs: a signed token takes a visitor's click to another domain of the program, once and within five minutes."""

import secrets
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection, select

from storage.engine.database import insert_for
from storage.engine.sealing import Sealer
from storage.rules import attribution, keys
from storage.rules.errors import InvalidHandover, ProgramNotFound, ValidationError, required
from storage.tables import clicks, programs, used_handovers

LIFETIME = timedelta(minutes=5)
_PURPOSE = "hand-over tokens"


class Arrival(NamedTuple):
    """A visitor arrives on another domain with the click of a token, where they may carry one already."""

    program_id: int
    click_id: str
    nonce: str
    expires_at: datetime
    at: datetime
    existing_click_id: str | None = None


class ArrivalResult(NamedTuple):
    """The click that the visitor carries from now on."""

    click_id: str
    cookie_window_days: int


def issue(sealer: Sealer, program_id: int, click_id: str, at: datetime) -> str:
    """Return a new token for a click. Raises ValidationError for one that does not name the program."""
    if keys.click_program(click_id) != program_id:
        raise ValidationError.of("click_id", "Must be a click_id of this program")
    expires = int((at + LIFETIME).timestamp())
    content = f"{click_id}.{expires:x}.{secrets.token_hex(16)}"
    return f"{content}.{sealer.sign(_PURPOSE, f'{program_id}.{content}')}"


def open_token(sealer: Sealer, program_id: int, token: str, at: datetime) -> Arrival:
    """Return what a token says. Raises InvalidHandover if it is not of this program, forged or expired."""
    content, _, signature = token.rpartition(".")
    if not sealer.has_signed(_PURPOSE, f"{program_id}.{content}", signature):
        raise InvalidHandover
    click_id, expires, nonce = content.rsplit(".", 2)
    expires_at = datetime.fromtimestamp(int(expires, 16), at.tzinfo)
    if at >= expires_at:
        raise InvalidHandover
    return Arrival(program_id, click_id, nonce, expires_at, at)


def is_own_origin(connection: Connection, program_id: int, origin: str) -> bool:
    """Return whether a page's origin is a program's domain, or a subdomain of one. Raises ProgramNotFound."""
    own = select(programs.c.domain, programs.c.further_domains).where(programs.c.id == program_id)
    row = required(connection.execute(own).one_or_none(), ProgramNotFound)
    return attribution.is_own_origin(origin, [row.domain, *(row.further_domains or "").split()])


def redeem(connection: Connection, arrival: Arrival) -> ArrivalResult:
    """Use a token up, and return the click that its visitor then carries: theirs, or the one that they carry already.

    Raises InvalidHandover for a token that was used, or a click that is unknown or too old.
    """
    program_id, click_id, nonce, expires_at, at, existing = arrival
    used = insert_for(connection)(used_handovers).values(program_id=program_id, nonce=nonce, expires_at=expires_at)
    first_use = used.on_conflict_do_nothing().returning(used_handovers.c.nonce)
    if connection.execute(first_use).scalar() is None:
        raise InvalidHandover
    settings = select(programs.c.attribution_model, programs.c.cookie_window_days).where(programs.c.id == program_id)
    model, window_days = connection.execute(settings).one()
    named = (clicks.c.program_id == program_id, clicks.c.click_id.in_([click_id, existing or ""]))
    oldest = at - timedelta(days=window_days)
    live = {row.click_id: row.at for row in connection.execute(select(clicks).where(*named, clicks.c.at >= oldest))}
    if click_id not in live:
        raise InvalidHandover
    existing_at = live.get(existing or "")
    stays = attribution.stays_on_arrival(model, existing_at=existing_at, arriving_at=live[click_id])
    return ArrivalResult(existing if existing and stays else click_id, window_days)
