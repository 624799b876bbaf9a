"""Customers of a program: a list, and the timeline of one customer."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, func, select

from storage.engine import pagination
from storage.engine.pagination import FIRST_PAGE, Page, Paging
from storage.management import commissions
from storage.management.commissions import Commission
from storage.reading import events
from storage.reading.event_kinds import Event
from storage.rules.errors import FieldError, NotFound, ValidationError
from storage.rules.periods.period import ALWAYS, Span
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
    sales: int
    last_sale_at: datetime | None


class CustomerFilter(NamedTuple):
    """What customers have to match; None matches all. `last_sale_before`: they bought, and not since then."""

    status: CustomerStatus | None = None
    partner_id: int | None = None
    customer_key: str | None = None
    last_sale_before: datetime | None = None
    created: Span = ALWAYS


class CustomerCount(NamedTuple):
    """How many customers of one partner match, and when the first of them clicked."""

    partner_id: int
    partner_name: str
    customers: int
    first_clicked_at: datetime


EVERY_CUSTOMER = CustomerFilter()


class CustomerTimeline(NamedTuple):
    """A customer with their events and commissions, oldest first."""

    customer: CustomerRecord
    steps: list[Event | Commission]


def list_customers(
    connection: Connection,
    program_id: int,
    paging: Paging = FIRST_PAGE,
    match: CustomerFilter = EVERY_CUSTOMER,
) -> Page[CustomerRecord]:
    """Return a page of a program's customers who match the filters, newest first."""
    mine = select_rows().where(*conditions(program_id, match))
    return pagination.by_id(connection, mine, customers.c.id, paging, of_row)


def count_by_partner(connection: Connection, program_id: int, match: CustomerFilter) -> list[CustomerCount]:
    """Return how many customers match, for each partner who has some, most first."""
    count = func.count().label("customers")
    columns = (customers.c.partner_id, partners.c.name, count, func.min(customers.c.clicked_at))
    mine = select(*columns).join_from(customers, partners, _sent_by()).where(*conditions(program_id, match))
    rows = connection.execute(mine.group_by(*columns[:2]).order_by(count.desc(), customers.c.partner_id))
    return [CustomerCount(*row) for row in rows]


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
    row = connection.execute(select_rows().where(*mine)).one_or_none()
    if row is None:
        raise NotFound("The program has no such customer.")
    steps: list[Event | Commission] = [
        *events.of_customer(connection, program_id, customer_id),
        *commissions.of_customer(connection, program_id, customer_id),
    ]
    return CustomerTimeline(of_row(row), sorted(steps, key=occurred_at))


def kind_of(step: Event | Commission) -> str:
    """Return the kind of a step: that of its event, or commission."""
    return "commission" if isinstance(step, Commission) else step.kind


def occurred_at(step: Event | Commission) -> datetime:
    """Return when a step happened; a commission follows its sale or lead."""
    return step.created_at if isinstance(step, Commission) else step.occurred_at or step.at


def conditions(program_id: int, match: CustomerFilter) -> list[ColumnElement[bool]]:
    """Return the conditions for a program's customers who match."""
    row = customers.c
    conditions = [row.program_id == program_id, *pagination.within(row.id, row.created_at, match.created)]
    equal = {row.status: match.status, row.partner_id: match.partner_id, row.customer_key: match.customer_key}
    conditions += [column == value for column, value in equal.items() if value is not None]
    if match.last_sale_before is not None:
        later = select(sales.c.id).where(*_bought(), sales.c.occurred_at >= match.last_sale_before)
        conditions += [row.first_purchase_at.is_not(None), ~later.exists()]
    return conditions


def _sent_by() -> ColumnElement[bool]:
    return (partners.c.program_id == customers.c.program_id) & (partners.c.id == customers.c.partner_id)


def _bought() -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return sales.c.program_id == customers.c.program_id, sales.c.customer_id == customers.c.id


def select_rows() -> Select[Any]:
    """Return the statement that reads customers with their partner and their sales."""
    shown = (partners.c.name.label("partner_name"), partners.c.code.label("partner_code"))
    count, last = (select(each).where(*_bought()) for each in (func.count(), func.max(sales.c.occurred_at)))
    bought = (count.scalar_subquery().label("sales"), last.scalar_subquery().label("last_sale_at"))
    return select(customers, *shown, *bought).join(partners, _sent_by())


def of_row(row: Any) -> CustomerRecord:
    """Read a customer."""
    values = {name: getattr(row, name) for name in CustomerRecord._fields}
    return CustomerRecord(**values | {"status": CustomerStatus(row.status), "settlement": Settlement(row.settlement)})
