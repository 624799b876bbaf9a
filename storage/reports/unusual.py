"""What is unusual in a program against its own past: days without clicks or sales, and refunds larger than the sale."""

from datetime import date, datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection, Float, cast, func, select

from storage.engine import ids
from storage.reports import performance
from storage.rules.periods.period import Window
from storage.rules.reports.metrics import Totals, added
from storage.rules.untrusted import Untrusted
from storage.tables import refused_calls, sales

RECENT_DAYS, PAST_DAYS, REJECTED_DAYS = 3, 28, 30
FEWEST = 10  # expected in the recent days: fewer may be chance
TIMES = 5
MOST_REFUNDS = 5
COMPARED = ("clicks", "leads", "sales", "revenue_cents")


class UnusualFigure(NamedTuple):
    """A figure of the last three whole days that is far from what as many days usually bring (the mean of 28 before).

    `last_day` is the last one with some; None: none of the 31 days has any.
    """

    figure: str
    first: date
    last: date
    value: int
    usual: float
    last_day: date | None


class LargeRefund(NamedTuple):
    """A rejected refund of more than its sale, `times` its amount, in cents of the sale's currency."""

    at: datetime
    transaction_id: Untrusted
    amount_cents: int
    sale_cents: int
    times: float


def list_figures(connection: Connection, program_id: int, *, at: datetime) -> list[UnusualFigure]:
    """Return the figures of the last days that are at least five times what is usual, or at most a fifth."""
    window = Window(at.date() - timedelta(days=RECENT_DAYS), at.date() - timedelta(days=1))
    past = Window(window.first - timedelta(days=PAST_DAYS), window.first - timedelta(days=1))
    days = performance.read_days(connection, program_id, Window(past.first, window.last))
    recent, before = (added(Totals(), (days[day] for day in each.days if day in days)) for each in (window, past))
    found = []
    for name in COMPARED:
        value, usual = getattr(recent, name), getattr(before, name) * RECENT_DAYS / PAST_DAYS
        if max(value, usual) >= FEWEST and not usual / TIMES < value < usual * TIMES:
            with_some = [day for day, totals in days.items() if getattr(totals, name)]
            last_day = max(with_some, default=None)
            found.append(UnusualFigure(name, *window, value, round(usual, 1), last_day))
    return found


def list_refunds(connection: Connection, program_id: int, *, at: datetime) -> list[LargeRefund]:
    """Return the largest refunds of the last 30 days that were rejected because they were larger than their sales."""
    call, sale = refused_calls.c, sales.c
    sold = (sale.program_id == call.program_id) & (sale.transaction_id == call.transaction_id)
    times = (cast(call.amount_cents, Float) / func.nullif(sale.amount_cents, 0)).label("times")
    larger = (call.call == "refund", call.amount_cents > sale.amount_cents)
    recent = (call.program_id == program_id, call.id >= ids.first(at - timedelta(days=REJECTED_DAYS)))
    columns = (call.at, call.transaction_id, call.amount_cents, sale.amount_cents, times)
    found = select(*columns).select_from(refused_calls.join(sales, sold)).where(*recent, *larger)
    rows = connection.execute(found.order_by(times.desc(), call.id).limit(MOST_REFUNDS))
    return [LargeRefund(*row)._replace(times=round(row.times, 1)) for row in rows]
