"""The timeline of one customer, and customers by partner."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from storage.lists import commissions, events
from storage.lists.commissions import COMMISSIONS, Commission
from storage.lists.customers import CUSTOMERS, ListedCustomer
from storage.lists.declaration import ListQuery, ListScope
from storage.lists.event_kinds import Event
from storage.lists.find import get, matching, rows
from storage.lists.related import of_partner
from storage.rules.errors import FieldError, NotFound, ValidationError
from storage.rules.untrusted import Untrusted
from storage.tables import customers, sales

NOT_RECORDED = "If the customer paid, explain shows which of their calls were rejected and why."


class CustomerCount(NamedTuple):
    """How many customers of one partner match, and when the first of them clicked."""

    partner_id: int
    partner_name: Untrusted
    customers: int
    first_clicked_at: datetime


class CustomerTimeline(NamedTuple):
    """A customer with their events and commissions, oldest first."""

    customer: ListedCustomer
    steps: list[Event | Commission]


def count_by_partner(connection: Connection, scope: ListScope, query: ListQuery) -> list[CustomerCount]:
    """Return how many customers match, for each partner who has some, most first."""
    count = func.count().label("customers")
    row = customers.c
    grouped = matching(CUSTOMERS, scope, query).with_only_columns(
        row.partner_id, of_partner(customers, "name"), count, func.min(row.clicked_at)
    )
    ordered = grouped.group_by(row.program_id, row.partner_id).order_by(count.desc(), row.partner_id)
    return [CustomerCount(*each) for each in connection.execute(ordered)]


def find_customer(
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


def get_timeline(connection: Connection, scope: ListScope, customer_id: int) -> CustomerTimeline:
    """Return one customer of a program with their timeline. Raises NotFound."""
    customer = get(connection, CUSTOMERS, scope, customer_id)
    earned = commissions.ids_of_customer(connection, scope.program_id, customer_id)
    steps: list[Event | Commission] = [
        *events.list_events_of_customer(connection, scope.program_id, customer_id),
        *rows(connection, COMMISSIONS, scope, earned),
    ]
    return CustomerTimeline(customer, sorted(steps, key=occurred_at))


def kind_of(step: Event | Commission) -> str:
    """Return the kind of a step: that of its event, or commission."""
    return "commission" if isinstance(step, Commission) else step.kind


def occurred_at(step: Event | Commission) -> datetime:
    """Return when a step happened; a commission follows its sale or lead."""
    return step.created_at if isinstance(step, Commission) else step.occurred_at or step.at
