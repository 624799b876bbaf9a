"""Applications to become a partner: from a program's public page, and approved or declined by a manager."""

import re
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select

from storage.engine import audit, ids
from storage.engine.database import insert_for
from storage.lists.applications import APPLICATIONS, Application
from storage.management import one_row, partners
from storage.rules.attribution import LONGEST_CODE, ApplicationState
from storage.rules.errors import NotFound, ValidationError, required
from storage.tables import partner_applications, programs

MOST_WAITING = 1_000  # in a program
_row = partner_applications.c


def program_name(connection: Connection, program_id: int) -> str:
    """Return the name of a program to which people may apply. Raises NotFound for any other."""
    may = (programs.c.id == program_id, programs.c.partners_may_apply)
    name: str | None = connection.execute(select(programs.c.name).where(*may)).scalar()
    return required(name, NotFound)


def apply(
    connection: Connection, program_id: int, *, name: str, email: str, site: str, reason: str | None, at: datetime
) -> None:
    """Apply; who waits already does not apply again. Raises NotFound, ValidationError while too many wait."""
    program_name(connection, program_id)
    waiting = (_row.program_id == program_id, _row.state == ApplicationState.WAITING)
    if connection.execute(select(func.count()).where(*waiting)).scalar_one() >= MOST_WAITING:
        raise ValidationError("The program takes no more applications for now.")
    [application_id] = ids.after(at, 1)
    about: dict[str, Any] = {"name": name, "email": email.lower(), "site": site, "reason": reason, "created_at": at}
    about |= {"program_id": program_id, "id": application_id, "state": ApplicationState.WAITING}
    connection.execute(insert_for(connection)(partner_applications).values(about).on_conflict_do_nothing())


def decide(
    connection: Connection,
    program_id: int,
    application_id: int,
    *,
    state: ApplicationState,
    code: str | None = None,  # of the partner; by default their name
    by: audit.By,
) -> Application:
    """Approve an application, which enrols a partner, or decline it. Raises NotFound; ValidationError once decided."""
    row = one_row.lock(connection, APPLICATIONS, program_id, application_id, at=by.at)
    if row.state != ApplicationState.WAITING:
        raise ValidationError(f"The application is {row.state} already.")
    decided: dict[str, Any] = {"state": state, "decided_by": by.actor.name, "decided_at": by.at}
    if state == ApplicationState.APPROVED:
        about: Any = {"name": row.name, "email": row.email, "code": code or code_of(row.name)}
        decided["partner_id"] = partners.enrol(connection, program_id, **about, by=by).id
    change = audit.Change("application.decide", application_id, "state", row.state, state)
    return one_row.change(connection, APPLICATIONS, program_id, application_id, change, by=by, **decided)


def code_of(name: str) -> str:
    """Return a partner's code that is made of their name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:LONGEST_CODE] or "partner"
