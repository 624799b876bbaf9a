"""The list of customers that people read: what each paid and got back, searched, filtered, sorted and added up."""

from typing import Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, Connection, func, or_, select, type_coerce

from storage.engine import listing
from storage.engine.listing import Columns, Listed, ListQuery
from storage.management.partners import named
from storage.reading import customer_timelines
from storage.reading.customer_timelines import CustomerFilter, CustomerRecord
from storage.rules import contact
from storage.tables import customers, refunds, sales


class ListedCustomer(NamedTuple):
    """A customer with what they paid and what they got back, in cents of the program's currency."""

    customer: CustomerRecord
    revenue_cents: int
    refunded_cents: int


def read(
    connection: Connection, program_id: int, query: ListQuery, match: CustomerFilter, *, search: str | None = None
) -> Listed[ListedCustomer]:
    """Return a page of the customers that match. Raises ValidationError for an invalid cursor.

    `search` is the customer key, the click id or the e-mail address, or it is in the partner's name or code.
    """
    row = customers.c
    revenue, refunded, count = _revenue(), _refunded(), _sales(func.count())
    matching = select(row.id).where(*customer_timelines.conditions(program_id, match))
    if search is not None:
        matching = matching.where(_found(program_id, search))
    columns = Columns(
        row.id,
        {
            "customer_key": func.coalesce(row.customer_key, ""),
            "signup": func.coalesce(type_coerce(row.signup_at, BigInteger), 0),
            "first_purchase": func.coalesce(type_coerce(row.first_purchase_at, BigInteger), 0),
            "sales": count,
            "revenue": revenue,
            "refunded": refunded,
        },
        {"sales": count, "revenue": revenue, "refunded": refunded},
    )
    money = (revenue.label("revenue_cents"), refunded.label("refunded_cents"))
    rows = customer_timelines.select_rows().add_columns(*money).where(row.program_id == program_id)
    return listing.read(connection, matching, rows, columns, query, of_row=_of_row)


def _of_row(row: Any) -> ListedCustomer:
    return ListedCustomer(customer_timelines.of_row(row), int(row.revenue_cents), int(row.refunded_cents))


def _sales(figure: ColumnElement[Any]) -> ColumnElement[Any]:
    theirs = (sales.c.program_id == customers.c.program_id, sales.c.customer_id == customers.c.id)
    return select(figure).select_from(sales).where(*theirs).correlate(customers).scalar_subquery()


def _revenue() -> ColumnElement[Any]:
    return _sales(func.coalesce(func.sum(sales.c.program_cents), 0))


def _refunded() -> ColumnElement[Any]:
    back = (refunds.c.program_id == sales.c.program_id, refunds.c.sale_id == sales.c.id)
    of_sale = select(func.sum(refunds.c.program_cents)).where(*back).correlate(sales).scalar_subquery()
    return _sales(func.coalesce(func.sum(of_sale), 0))


def _found(program_id: int, search: str) -> ColumnElement[bool]:
    row = customers.c
    either = [row.customer_key == search, row.click_id == search, row.partner_id.in_(named(program_id, search))]
    if contact.is_email(search):
        either.append(row.email_hash == contact.protect(search).hash)
    return or_(*either)
