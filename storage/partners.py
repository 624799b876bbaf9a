"""Partners: their enrolment in a program, and the code that their links carry."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, insert
from sqlalchemy.exc import IntegrityError

from storage import ids, rollups
from storage.rules.attribution import PartnerStatus
from storage.rules.errors import FieldError, ValidationError
from storage.tables import partners


class Enrolled(NamedTuple):
    """A partner as the program sees them."""

    id: int
    code: str


def enrol(
    connection: Connection, program_id: int, *, name: str, code: str, at: datetime, email: str | None = None
) -> Enrolled:
    """Enrol a partner in a program. Raises ValidationError when the code is taken in it."""
    partner_id = ids.after(at, 1)[0]
    row = {"program_id": program_id, "id": partner_id, "name": name, "email": email, "code": code, "created_at": at}
    try:
        connection.execute(insert(partners).values(**row, status=PartnerStatus.ACTIVE))
    except IntegrityError:
        taken = FieldError("code", "Another partner of this program has this code")
        raise ValidationError(fields=[taken]) from None
    rollups.step(connection, [rollups.Step(program_id, partner_id, rollups.day_of(at), partners=1)])
    return Enrolled(partner_id, code)
