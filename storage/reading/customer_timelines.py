"""Customers of a program: a list, and the timeline of one customer."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, select

from storage.engine import pagination
from storage.engine.pagination import FIRST_PAGE, Page, Paging
from storage.management import commissions
from storage.management.commissions import Commission
from storage.reading import events
from storage.reading.event_kinds import Event
from storage.rules.errors import FieldError, NotFound, ValidationError
from storage.rules.settlement import CustomerStatus, Settlement
from storage.tables import customers, partners, sales

NOT_RECORDED = "If the customer paid, explain shows which of their calls were rejected and why."


class CustomerRecord(NamedTuple):
    """A customer as a read may show them, with a masked e-mail address."""

    program_id: int
    id: int
    customer_key: str | None
    click_id: str
    email_mask: str | None
    status: CustomerStatus
    settlement: Settlement
    partner_id: int
    partner_name: str
    partner_code: str
    clicked_at: datetime
    signup_at: datetime | None
    first_purchase_at: datetime | None
    created_at: datetime


class CustomerTimeline(NamedTuple):
    """A customer with their events and commissions, oldest first."""

    customer: CustomerRecord
    steps: list[Event | Commission]


def list_customers(
    connection: Connection,
    program_id: int,
    paging: Paging = FIRST_PAGE,
    *,
    status: CustomerStatus | None = None,
    partner_id: int | None = None,
    customer_key: str | None = None,
) -> Page[CustomerRecord]:
    """Return a page of a program's customers who match the filters, newest first."""
    mine = _select().where(customers.c.program_id == program_id)
    if status is not None:
        mine = mine.where(customers.c.status == status)
    if partner_id is not None:
        mine = mine.where(customers.c.partner_id == partner_id)
    if customer_key is not None:
        mine = mine.where(customers.c.customer_key == customer_key)
    return pagination.by_id(connection, mine, customers.c.id, paging, _of_row)


def find(
    connection: Connection,
    program_id: int,
    *,
    customer_id: int | None = None,
    customer_key: str | None = None,
    click_id: str | None = None,
    transaction_id: str | None = None,
) -> int:
    """Return the id of the customer whom one identifier names. Raises NotFound; ValidationError unless it is one."""
    named = {
        "customer_id": (customers.c.id, customer_id),
        "customer_key": (customers.c.customer_key, customer_key),
        "click_id": (customers.c.click_id, click_id),
        "transaction_id": (sales.c.transaction_id, transaction_id),
    }
    sent = [(column, value) for column, value in named.values() if value is not None]
    if len(sent) != 1:
        raise ValidationError(fields=[FieldError(name, f"Send exactly one of {', '.join(named)}") for name in named])
    [(column, value)] = sent
    table = sales if transaction_id is not None else customers
    found = sales.c.customer_id if transaction_id is not None else customers.c.id
    row_id = connection.execute(select(found).where(table.c.program_id == program_id, column == value)).scalar()
    if row_id is None:
        raise NotFound("The program has no such customer.", hint=NOT_RECORDED)
    return int(row_id)


def get_timeline(connection: Connection, program_id: int, customer_id: int) -> CustomerTimeline:
    """Return one customer of a program with their timeline. Raises NotFound."""
    mine = (customers.c.program_id == program_id, customers.c.id == customer_id)
    row = connection.execute(_select().where(*mine)).one_or_none()
    if row is None:
        raise NotFound("The program has no such customer.")
    steps: list[Event | Commission] = [
        *events.of_customer(connection, program_id, customer_id),
        *commissions.of_customer(connection, program_id, customer_id),
    ]
    return CustomerTimeline(_of_row(row), sorted(steps, key=_occurred_at))


def _occurred_at(step: Event | Commission) -> datetime:
    """Return when a step happened; a commission follows its sale or lead."""
    return step.created_at if isinstance(step, Commission) else step.occurred_at or step.at


def _select() -> Select[Any]:
    sent_by = (partners.c.program_id == customers.c.program_id) & (partners.c.id == customers.c.partner_id)
    shown = (partners.c.name.label("partner_name"), partners.c.code.label("partner_code"))
    return select(customers, *shown).join(partners, sent_by)


def _of_row(row: Any) -> CustomerRecord:
    values = {name: getattr(row, name) for name in CustomerRecord._fields}
    return CustomerRecord(**values | {"status": CustomerStatus(row.status), "settlement": Settlement(row.settlement)})
