"""The events that a report counts, as tables that can be grouped; storage/checks/rollups.py counts the same ones."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, NamedTuple

from sqlalchemy import FromClause, and_, case, func, select

from storage.engine import ids
from storage.management.commissions import net_cents
from storage.rules import keys
from storage.rules.period import Window
from storage.rules.settlement import CustomerStatus
from storage.tables import clicks, commissions, customers, refunds, sales

_DAY = timedelta(days=1)


class CountableEvents(NamedTuple):
    """One kind of events: `source` joins `table` with the click that each event's customer came with.

    `near` limits the table to where the window's rows can be, `counted` to the rows that count, and `at` is the
    column of their time. `sums` names what they add up to.
    """

    source: FromClause
    table: FromClause
    at: Any
    near: tuple[Any, ...]
    counted: tuple[Any, ...]
    sums: dict[str, Any]


def list_kinds(program_id: int, window: Window) -> Iterator[CountableEvents]:
    """Yield the kinds of a program's events around a window."""
    since = ids.first(window.starts_at - _DAY)  # an id is not earlier than its event
    yield _clicks(program_id, window)
    yield from _customers(program_id)
    yield _sales(program_id, since)
    yield _commissions(program_id, since)


def _clicks(program_id: int, window: Window) -> CountableEvents:
    row = clicks.c
    first, end = (keys.first_click_id(at) for at in (window.starts_at, window.starts_at + window.length * _DAY))
    near = (row.program_id == program_id, row.click_id >= first, row.click_id < end)
    return CountableEvents(clicks, clicks, row.at, near, (row.filtered.is_(None),), {"clicks": func.count()})


def _customers(program_id: int) -> Iterator[CountableEvents]:
    """Yield signups and first purchases."""
    row, source = customers.c, customers.outerjoin(clicks, _came_with())
    near = (row.program_id == program_id,)
    signed_up = (row.status.in_((CustomerStatus.LEAD, CustomerStatus.CONVERSION)),)
    yield CountableEvents(source, customers, row.signup_at, near, signed_up, {"leads": func.count()})
    paid = (row.status == CustomerStatus.CONVERSION,)
    yield CountableEvents(source, customers, row.first_purchase_at, near, paid, {"conversions": func.count()})


def _sales(program_id: int, since: int) -> CountableEvents:
    row, refund = sales.c, refunds.c
    cents = func.sum(refund.program_cents).label("cents")
    of_program = (refund.program_id == program_id, refund.id >= since)
    back = select(refund.sale_id, cents).where(*of_program).group_by(refund.sale_id).subquery("back")
    back_cents = func.coalesce(back.c.cents, 0)
    sums = {
        "sales": func.sum(case((row.refunded_cents == row.amount_cents, 0), else_=1)),
        "revenue_cents": func.sum(row.program_cents - back_cents),
        "refunds": func.sum(case((row.refunded_cents > 0, 1), else_=0)),
        "refunded_cents": func.sum(back_cents),
    }
    source = _with_click(sales).outerjoin(back, back.c.sale_id == row.id)
    return CountableEvents(source, sales, row.occurred_at, (row.program_id == program_id, row.id >= since), (), sums)


def _commissions(program_id: int, since: int) -> CountableEvents:
    row = commissions.c
    near = (row.program_id == program_id, row.id >= since)
    sums = {"commission_cents": func.sum(net_cents())}
    return CountableEvents(_with_click(commissions), commissions, row.created_at, near, (), sums)


def _with_click(table: FromClause) -> FromClause:
    theirs = and_(customers.c.program_id == table.c.program_id, customers.c.id == table.c.customer_id)
    return table.join(customers, theirs).outerjoin(clicks, _came_with())


def _came_with() -> Any:
    return and_(clicks.c.program_id == customers.c.program_id, clicks.c.click_id == customers.c.click_id)
