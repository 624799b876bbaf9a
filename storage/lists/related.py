"""Columns of the rows that a list's rows name: read for each row of a page, so that no list joins another table."""

from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Table, func, or_, select

from storage.tables import customers, partners, sales


def _of_row(reference: str, named: Table, table: FromClause, name: str) -> ColumnElement[Any]:
    """Return a column of the row of `named` whose id is in the table's `reference`."""
    theirs = (named.c.program_id == table.c.program_id, named.c.id == table.c[reference])
    return select(named.c[name]).where(*theirs).correlate(table).scalar_subquery()


of_partner = partial(_of_row, "partner_id", partners)
of_customer = partial(_of_row, "customer_id", customers)
of_sale = partial(_of_row, "sale_id", sales)


def with_key(table: FromClause, program_id: int, customer_key: str) -> ColumnElement[bool]:
    """Return the condition for rows of the customer with a key."""
    named = select(customers.c.id).where(customers.c.program_id == program_id, has_key(customer_key))
    return table.c.customer_id.in_(named)


def has_key(customer_key: str) -> ColumnElement[bool]:
    """Return the condition for the customer who carries a key or is known as it."""
    return or_(customers.c.customer_key == customer_key, customers.c.known_as == customer_key)


def contains(column: Any, text: str) -> ColumnElement[bool]:
    """Return the condition for a text that is in a column, in any case."""
    return func.lower(column).contains(text.lower(), autoescape=True)
