"""The list of applications: who wants to become a partner, and what was decided."""

from datetime import datetime
from typing import Annotated, NamedTuple

from sqlalchemy import or_

from storage.lists.declaration import Column, Filter, List
from storage.lists.related import contains
from storage.rules.attribution import ApplicationState
from storage.rules.untrusted import Untrusted
from storage.tables import partner_applications

_row = partner_applications.c


class Application(NamedTuple):
    """Who applied on the program's public page; `reason` is how they want to promote it. `partner_id` was enrolled."""

    id: int
    created_at: Annotated[datetime, Column("Applied", is_day=True)]
    name: Annotated[Untrusted, Column("Name", sorts=True)]
    email: Annotated[Untrusted, Column("E-mail address")]
    site: Annotated[Untrusted, Column("Site")]
    reason: Untrusted | None
    state: Annotated[ApplicationState, Column("Status")]
    decided_by: str | None
    decided_at: datetime | None
    partner_id: int | None


APPLICATIONS = List(
    "applications",
    Application,
    partner_applications,
    about="Who applied to become a partner",
    at=_row.created_at,
    filters=(Filter("state", ApplicationState, f"{', '.join(ApplicationState)}.", _row.state.__eq__, "Status"),),
    finds="Name, e-mail address or site",
    search=lambda _, text: or_(*(contains(column, text) for column in (_row.name, _row.email, _row.site))),
)
