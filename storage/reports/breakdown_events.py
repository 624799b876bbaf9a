"""The events that a report counts, as tables that can be grouped; storage/checks/books.py counts the same ones."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, FromClause, and_, case, func, literal, literal_column, select

from storage.engine import ids
from storage.engine.expressions import JsonField, MonthNumber
from storage.lists.commissions import net_cents
from storage.rules import keys
from storage.rules.periods.period import Window
from storage.rules.reports.breakdown import NEW, RETURNING, Dimension
from storage.rules.settlement import CustomerStatus
from storage.tables import clicks, commissions, customers, refunds, sales
from storage.tables.columns import stored_millis, to_millis

ONE = literal_column("1", BigInteger)  # each counts once
_DAY = timedelta(days=1)


class CountableEvents(NamedTuple):
    source: FromClause  # the table joined with the click that each event's customer came with
    table: FromClause
    millis: Any  # the time of a row
    near: tuple[Any, ...]  # the conditions for where the window's rows can be
    counted: tuple[Any, ...]  # those for the rows that count
    amounts: dict[str, Any]  # what each adds, by name
    own: Mapping[Dimension, Any] = {}  # the dimensions that they do not have from a click

    def inside(self, window: Window) -> tuple[Any, ...]:
        """Return the conditions for the events of the window that count."""
        return (*self.near, *self.counted, self.millis.between(to_millis(window.starts_at), to_millis(window.ends_at)))


def list_kinds(program_id: int, window: Window) -> Iterator[CountableEvents]:
    """Yield the kinds of a program's events around a window: clicks, signups, first purchases, sales, commissions."""
    since = ids.first(window.starts_at - _DAY)  # an id is not earlier than its event
    row = clicks.c
    first, end = (keys.first_click_id(at) for at in (window.starts_at, window.starts_at + window.length * _DAY))
    near = (row.program_id == program_id, row.click_id >= first, row.click_id < end)
    yield CountableEvents(clicks, clicks, stored_millis(row.at), near, (row.filtered.is_(None),), {"clicks": ONE})
    signed_up = (CustomerStatus.LEAD, CustomerStatus.CONVERSION)
    yield _customers(program_id, customers.c.signup_at, "leads", signed_up)
    yield _customers(program_id, customers.c.first_purchase_at, "conversions", (CustomerStatus.CONVERSION,))
    yield _sales(program_id, since)
    yield _commissions(program_id, since)


def _customers(program_id: int, at: Any, name: str, statuses: tuple[CustomerStatus, ...]) -> CountableEvents:
    row, source = customers.c, customers.outerjoin(clicks, _came_with())
    own = {Dimension.BUYER: literal(NEW), **_cohort(at)}
    mine = (row.program_id == program_id,)
    counted = (row.status.in_(statuses),)
    return CountableEvents(source, customers, stored_millis(at), mine, counted, {name: ONE}, own)


def _sales(program_id: int, since: int) -> CountableEvents:
    row, refund = sales.c, refunds.c
    cents = func.sum(refund.program_cents).label("cents")
    of_program = (refund.program_id == program_id, refund.id >= since)
    back = select(refund.sale_id, cents).where(*of_program).group_by(refund.sale_id).subquery("back")
    back_cents = func.coalesce(back.c.cents, 0)
    amounts = {
        "sales": case((row.refunded_cents == row.amount_cents, 0), else_=1),
        "revenue_cents": row.program_cents - back_cents,
        "refunds": case((row.refunded_cents > 0, 1), else_=0),
        "refunded_cents": back_cents,
    }
    source = _with_click(sales).outerjoin(back, back.c.sale_id == row.id)
    earned = (commissions.c.program_id == row.program_id, commissions.c.sale_id == row.id)
    own = {
        Dimension.PRODUCT: JsonField(row.details, "product_id"),
        Dimension.TERMS_VERSION: select(commissions.c.terms_version).where(*earned).scalar_subquery(),
        Dimension.BUYER: _buyer(row.occurred_at),
        **_cohort(row.occurred_at),
    }
    near = (row.program_id == program_id, row.id >= since)
    return CountableEvents(source, sales, stored_millis(row.occurred_at), near, (), amounts, own)


def _commissions(program_id: int, since: int) -> CountableEvents:
    row = commissions.c
    near = (row.program_id == program_id, row.id >= since)
    amounts = {"commission_cents": net_cents()}
    of_sale = (sales.c.program_id == row.program_id, sales.c.id == row.sale_id)
    occurred_at = select(sales.c.occurred_at).where(*of_sale).scalar_subquery()
    sold_at = func.coalesce(occurred_at, customers.c.first_purchase_at)
    own = {
        Dimension.PRODUCT: select(JsonField(sales.c.details, "product_id")).where(*of_sale).scalar_subquery(),
        Dimension.TERMS_VERSION: row.terms_version,
        Dimension.BUYER: _buyer(sold_at),
        **_cohort(row.created_at),
    }
    return CountableEvents(_with_click(commissions), commissions, stored_millis(row.created_at), near, (), amounts, own)


def _buyer(sold_at: Any) -> Any:
    """Return whether a sale is its customer's first; a lead counts as one."""
    return case((sold_at > customers.c.first_purchase_at, literal(RETURNING)), else_=literal(NEW))


def _cohort(at: Any) -> dict[Dimension, Any]:
    """Return the month in which the customer signed up (or appeared), and how many months later an event happened."""
    joined = MonthNumber(func.coalesce(stored_millis(customers.c.signup_at), stored_millis(customers.c.created_at)))
    since = MonthNumber(stored_millis(at)) - joined
    return {Dimension.COHORT: joined, Dimension.MONTHS_SINCE: case((since < 0, 0), else_=since)}


def _with_click(table: FromClause) -> FromClause:
    theirs = and_(customers.c.program_id == table.c.program_id, customers.c.id == table.c.customer_id)
    return table.join(customers, theirs).outerjoin(clicks, _came_with())


def _came_with() -> Any:
    return and_(clicks.c.program_id == customers.c.program_id, clicks.c.click_id == customers.c.click_id)
