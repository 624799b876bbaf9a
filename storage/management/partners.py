"""Partners: their enrolment in a program, and changes of it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import IntegrityError

from storage.engine import audit, ids
from storage.engine.audit import Actor
from storage.lists.declaration import ListScope
from storage.lists.find import get
from storage.lists.partners import PARTNERS, Partner
from storage.rules.attribution import PartnerStatus, code_key
from storage.rules.errors import FieldError, ValidationError
from storage.tables import partners
from storage.tracking import rollups

TAKEN = FieldError(
    "code", "Another partner of this program has this code, or one that differs only in case or final punctuation"
)


def enrol(
    connection: Connection,
    program_id: int,
    *,
    name: str,
    code: str,
    at: datetime,
    email: str | None = None,
    status: PartnerStatus = PartnerStatus.ACTIVE,
    actor: Actor | None = None,
    joined_at: datetime | None = None,
) -> Partner:
    """Enrol a partner, who may have joined before. Raises ValidationError when the code, in any spelling, is taken."""
    enrolled = {"name": name, "email": email, "code": code, "status": status}
    [partner_id] = ids.after(at, 1)
    joined_at = joined_at or at
    row = {"program_id": program_id, "id": partner_id, "created_at": joined_at, "code_key": code_key(code)}
    try:
        connection.execute(insert(partners).values(row | enrolled))
    except IntegrityError:
        raise ValidationError(fields=[TAKEN]) from None
    rollups.add(connection, [rollups.Increment(program_id, partner_id, joined_at.date(), partners=1)])
    entry = audit.Change("partner.enrol", partner_id, after=enrolled)
    audit.write(connection, program_id, [entry], actor=actor, at=at)
    return get(connection, PARTNERS, ListScope(program_id, at), partner_id)


def change(
    connection: Connection, program_id: int, partner_id: int, changes: Mapping[str, Any], *, actor: Actor, at: datetime
) -> Partner:
    """Change a partner and return them. Raises NotFound; ValidationError when another partner has the code."""
    mine = (partners.c.program_id == program_id, partners.c.id == partner_id)
    connection.execute(select(partners.c.id).where(*mine).with_for_update())
    before = get(connection, PARTNERS, ListScope(program_id, at), partner_id)
    values = dict(changes)
    if changes.get("code", before.code) != before.code:
        values["code_key"] = code_key(changes["code"])
    entries = audit.changed("partner.change", partner_id, before._asdict(), dict(changes))
    if entries:
        try:
            connection.execute(update(partners).where(*mine).values(values))
        except IntegrityError:
            raise ValidationError(fields=[TAKEN]) from None
        audit.write(connection, program_id, entries, actor=actor, at=at)
    return get(connection, PARTNERS, ListScope(program_id, at), partner_id)
