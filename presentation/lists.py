"""Pages of programs, partners, customers and the like, as models for the OpenAPI document."""

from pydantic import BaseModel

from presentation.resources import AuditEntry, Commission, Customer, Event, Partner, Program, RefusedCall


class Listed(BaseModel):
    """A page; `next_cursor` asks for the next one, null on the last."""

    next_cursor: str | None


class Programs(Listed):
    """A page of programs, newest first."""

    data: list[Program]


class Partners(Listed):
    """A page of partners, newest first."""

    data: list[Partner]


class Customers(Listed):
    """A page of customers, newest first."""

    data: list[Customer]


class Commissions(Listed):
    """A page of commissions, newest first."""

    data: list[Commission]


class Events(Listed):
    """A page of events, newest first."""

    data: list[Event]


class RefusedCalls(Listed):
    """A page of refused calls, newest first."""

    data: list[RefusedCall]


class AuditLog(Listed):
    """A page of the audit log, newest first."""

    data: list[AuditEntry]
