"""Partners: their enrolment in a program, and the code that their links carry."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from storage.engine import audit, ids, pagination
from storage.engine.audit import Actor
from storage.engine.pagination import FIRST_PAGE, Page, Paging
from storage.rules.attribution import PartnerStatus
from storage.rules.errors import FieldError, NotFound, ValidationError
from storage.rules.fraud.flag import FlagState
from storage.tables import flags, partners
from storage.tracking import rollups

ENROLLED = tuple(column.name for column in partners.c)
MOST_OF_A_NAME = 5


class Partner(NamedTuple):
    """A partner as the program sees them; `open_flags` counts the signs of fraud that wait for a decision.

    `notes` are the workspace's own, which the partner never sees.
    """

    program_id: int
    id: int
    name: str
    email: str | None
    code: str
    status: PartnerStatus
    created_at: datetime
    open_flags: int = 0
    notes: str | None = None


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
) -> Partner:
    """Enrol a partner in a program. Raises ValidationError when the code is taken in it."""
    partner = Partner(program_id, ids.after(at, 1)[0], name, email, code, status, at)
    try:
        connection.execute(insert(partners).values({name: getattr(partner, name) for name in ENROLLED}))
    except IntegrityError:
        raise _taken() from None
    rollups.add(connection, [rollups.Increment(program_id, partner.id, rollups.day_of(at), partners=1)])
    enrolled = {"name": name, "email": email, "code": code, "status": status}
    entry = audit.Change("partner.enrol", partner.id, after=enrolled)
    audit.write(connection, program_id, [entry], actor=actor, at=at)
    return partner


def list_partners(
    connection: Connection, program_id: int, paging: Paging = FIRST_PAGE, *, status: PartnerStatus | None = None
) -> Page[Partner]:
    """Return a page of a program's partners, newest first; only of `status` if it is given."""
    mine = select_rows().where(partners.c.program_id == program_id)
    if status is not None:
        mine = mine.where(partners.c.status == status)
    return pagination.by_id(connection, mine, partners.c.id, paging, of_row)


def newest_code(connection: Connection, program_id: int) -> str | None:
    """Return the code of the newest active partner, for examples; None without one."""
    newest = list_partners(connection, program_id, Paging(1), status=PartnerStatus.ACTIVE).data
    return newest[0].code if newest else None


def find(connection: Connection, program_id: int, name: str) -> list[Partner]:
    """Return the partners with this code, else those with this name, in any case; a few at most."""
    for column in (partners.c.code, partners.c.name):
        mine = (partners.c.program_id == program_id, func.lower(column) == name.lower())
        rows = connection.execute(select_rows().where(*mine).order_by(partners.c.id).limit(MOST_OF_A_NAME)).all()
        if rows:
            break
    return [of_row(row) for row in rows]


def named(program_id: int, text: str) -> Select[Any]:
    """Return the statement that reads the ids of the partners with a text in their name, code or e-mail address."""
    texts = (partners.c.name, partners.c.code, partners.c.email)
    found = (func.lower(column).contains(text.lower(), autoescape=True) for column in texts)
    return select(partners.c.id).where(partners.c.program_id == program_id, or_(*found))


def get_partner(connection: Connection, program_id: int, partner_id: int) -> Partner:
    """Return one partner of a program. Raises NotFound."""
    mine = (partners.c.program_id == program_id, partners.c.id == partner_id)
    row = connection.execute(select_rows().where(*mine)).one_or_none()
    if row is None:
        raise NotFound("The program has no such partner.")
    return of_row(row)


def change(
    connection: Connection,
    program_id: int,
    partner_id: int,
    changes: Mapping[str, Any],
    *,
    actor: Actor,
    at: datetime,
) -> Partner:
    """Change a partner's `name`, `email`, `code`, `status` or `notes` and return them.

    Raises NotFound; ValidationError when another partner of the program has the code.
    """
    mine = (partners.c.program_id == program_id, partners.c.id == partner_id)
    connection.execute(select(partners.c.id).where(*mine).with_for_update())
    before = get_partner(connection, program_id, partner_id)
    after = before._replace(**changes)
    entries = audit.changed("partner.change", partner_id, before._asdict(), dict(changes))
    if entries:
        try:
            connection.execute(update(partners).where(*mine).values(**changes))
        except IntegrityError:
            raise _taken() from None
        audit.write(connection, program_id, entries, actor=actor, at=at)
    return after


def _taken() -> ValidationError:
    return ValidationError(fields=[FieldError("code", "Another partner of this program has this code")])


def select_rows() -> Select[Any]:
    """Return the statement that reads partners."""
    flag = flags.c
    mine = (flag.program_id == partners.c.program_id, flag.partner_id == partners.c.id, flag.state == FlagState.OPEN)
    return select(partners, select(func.count()).where(*mine).scalar_subquery().label("open_flags"))


def of_row(row: Any) -> Partner:
    """Read a partner."""
    values = (row.program_id, row.id, row.name, row.email, row.code, PartnerStatus(row.status), row.created_at)
    return Partner(*values, row.open_flags, row.notes)
