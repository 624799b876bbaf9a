"""Customers: their list with who sent them, and what each paid and got back; the timeline of one."""

from datetime import date, datetime
from typing import Annotated, Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, func, or_, select

from storage.engine.statements import read_statement
from storage.lists import events
from storage.lists.commissions import COMMISSIONS, Commission
from storage.lists.declaration import Column, Filter, List, ListQuery, ListScope, Theirs
from storage.lists.event_kinds import Event
from storage.lists.find import get, matching, rows
from storage.lists.partners import named
from storage.lists.related import has_key, of_partner
from storage.rules import contact
from storage.rules.errors import FieldError, NotFound, ValidationError, required
from storage.rules.settlement import CustomerStatus, Settlement
from storage.rules.untrusted import Untrusted
from storage.tables import customers, leads, refunds, sales

NOT_RECORDED = "If the customer paid, explain shows which of their calls were rejected and why."
_COMMISSIONS, _NAMED = read_statement("commissions_of_customer"), read_statement("customer_named")
_row = customers.c
_bought = (sales.c.program_id == _row.program_id, sales.c.customer_id == _row.id)


def _of_sales(figure: ColumnElement[Any]) -> ColumnElement[Any]:
    return select(figure).select_from(sales).where(*_bought).correlate(customers).scalar_subquery()


_back = (refunds.c.program_id == sales.c.program_id, refunds.c.sale_id == sales.c.id)
_refunded = select(func.sum(refunds.c.program_cents)).where(*_back).correlate(sales).scalar_subquery()
_leads = (leads.c.program_id == _row.program_id, leads.c.customer_id == _row.id)
_lead_at = select(func.min(leads.c.at)).where(*_leads).correlate(customers).scalar_subquery()
_revenue, _refunds = (_of_sales(func.coalesce(func.sum(each), 0)) for each in (sales.c.program_cents, _refunded))


class ListedCustomer(NamedTuple):
    """A customer, the partner who sent them, and what they paid and got back, in cents of the program's currency.

    `customer_key` is that of a settled lead. Without one, `known_as` is the key that sales named beside the click.
    `lead_at` is their first lead, settled or not. Their e-mail address is masked. Days are UTC days.
    """

    id: int
    created_at: datetime
    customer_key: Annotated[Untrusted | None, Column("Customer", sorts=True)]
    known_as: Untrusted | None
    email_masked: Annotated[str | None, Column(sql=_row.email_mask)]
    click_id: str
    status: Annotated[CustomerStatus, Column("Status")]
    settlement: Settlement
    partner_id: int
    partner_name: Annotated[Untrusted, Column("Partner", of_partner(customers, "name"))]
    partner_code: Annotated[Untrusted, Column(sql=of_partner(customers, "code"))]
    clicked_at: datetime
    lead_at: Annotated[datetime | None, Column(sql=_lead_at)]
    signup_at: Annotated[datetime | None, Column("Signed up", sorts=True, is_day=True)]
    first_purchase_at: Annotated[datetime | None, Column("First purchase", sorts=True, is_day=True)]
    last_sale_at: Annotated[datetime | None, Column(sql=_of_sales(func.max(sales.c.occurred_at)))]
    sales: Annotated[int, Column("Sales", _of_sales(func.count()), sorts=True, is_summed=True)]
    revenue_cents: Annotated[int, Column("Revenue", _revenue, sorts=True, is_summed=True)]
    refunded_cents: Annotated[int, Column("Refunded", _refunds, sorts=True, is_summed=True)]
    program_id: int
    signup_date: Annotated[date | None, Column(sql=_row.signup_at)]
    first_purchase_date: Annotated[date | None, Column(sql=_row.first_purchase_at)]


class CustomerCount(NamedTuple):
    """How many customers of one partner match, and when the first of them clicked."""

    partner_id: int
    partner_name: Untrusted
    customers: int
    first_clicked_at: datetime


def _not_since(moment: datetime) -> ColumnElement[bool]:
    later = select(sales.c.id).where(*_bought, sales.c.occurred_at >= moment)
    return _row.first_purchase_at.is_not(None) & ~later.exists()


def _search(scope: ListScope, text: str) -> ColumnElement[bool]:
    either = (has_key(text), _row.click_id == text, _row.partner_id.in_(named(scope.program_id, text)))
    return or_(*either, *([_row.email_hash == contact.protect(text).email_hash] if contact.is_email(text) else []))


CUSTOMERS = List(
    "customers",
    ListedCustomer,
    customers,
    at=_row.created_at,
    theirs=Theirs(_row.partner_id, "id created_at status signup_at first_purchase_at"),
    filters=(
        Filter("status", CustomerStatus, "provisional, lead or conversion.", _row.status.__eq__, "Status"),
        Filter("settlement", Settlement, "none, provisional, settled or outranked.", _row.settlement.__eq__),
        Filter("partner_id", int, "Only this partner's.", _row.partner_id.__eq__),
        Filter("customer_key", str, "Only the customer with this key.", has_key),
        Filter("last_sale_before", datetime, "Only those who bought, and not since then.", _not_since),
    ),
    finds="Customer key, e-mail address or partner",
    search=_search,
    may_lag=True,
)


def count_by_partner(connection: Connection, scope: ListScope, query: ListQuery) -> list[CustomerCount]:
    """Return how many customers match, for each partner who has some, most first."""
    count = func.count().label("customers")
    columns = (_row.partner_id, of_partner(customers, "name"), count, func.min(_row.clicked_at))
    grouped = matching(CUSTOMERS, scope, query).with_only_columns(*columns)
    ordered = grouped.group_by(_row.program_id, _row.partner_id).order_by(count.desc(), _row.partner_id)
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
    named = {"customer_id": customer_id, "customer_key": customer_key}
    named |= {"click_id": click_id, "transaction_id": transaction_id}
    if sum(value is not None for value in named.values()) != 1:
        raise ValidationError(fields=[FieldError(name, f"Send exactly one of {', '.join(named)}") for name in named])
    row_id = connection.execute(_NAMED, {"program_id": program_id, **named}).scalar()
    return int(required(row_id, NotFound("The program has no such customer.", hint=NOT_RECORDED)))


def get_timeline(
    connection: Connection, scope: ListScope, customer_id: int
) -> tuple[ListedCustomer, list[Event | Commission]]:
    """Return one customer of a program with their events and commissions, oldest first. Raises NotFound."""
    customer = get(connection, CUSTOMERS, scope, customer_id)
    theirs = connection.execute(_COMMISSIONS, {"program_id": scope.program_id, "customer_id": customer_id}).scalars()
    credited = rows(connection, COMMISSIONS, scope, list(theirs))
    did = events.list_events_of_customer(connection, scope.program_id, customer_id)
    return customer, sorted([*did, *credited], key=occurred_at)


def occurred_at(step: Event | Commission) -> datetime:
    """Return when a step happened; a commission follows its sale or lead."""
    return step.created_at if isinstance(step, Commission) else step.occurred_at or step.at
