"""One program, for its owners and assistants: its terms and key since when, exchange rates, and what is unusual."""

from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Boolean, Connection, func, select

from storage import tables
from storage.engine import ids
from storage.engine.statements import read_statement
from storage.lists.payment_events import CURRENCY
from storage.lists.programs import read_program
from storage.reports import performance
from storage.reports.performance import ReportScope
from storage.rules.errors import CurrencyNotSupported
from storage.rules.keys import rotation_state
from storage.rules.periods.period import Window
from storage.rules.reports.metrics import Totals, added
from storage.rules.settings import SETTINGS, published
from storage.rules.untrusted import Untrusted
from storage.tables.columns import Timestamp

MOST = 20
EURO = "EUR"  # the rates are those of one euro
RECENT_DAYS, PAST_DAYS, REJECTED_DAYS = 3, 28, 30
FEWEST = 10  # expected in the recent days: fewer may be chance
TIMES = 5
COMPARED = ("clicks", "leads", "sales", "revenue_cents")
_TERMS = read_statement("terms_versions", created_at=Timestamp, until=Timestamp, by_agent=Boolean)
_LARGE_REFUNDS = read_statement("large_refunds", at=Timestamp)
TERMS = tuple(setting for setting in SETTINGS if setting.is_term)


class TermsVersion(NamedTuple):
    """A version of the terms, under the names and in the units of the APIs.

    Special ones are of a partner, or of a group of partners. Sales that were recorded from `since` on and before
    `until` earn by it: `sales` of the newest 100,000 did, of `sales_cents`, and earned `commission_cents` before
    refunds, in the program's currency.
    """

    version: int
    since: datetime
    until: datetime | None
    by_agent: bool
    partner_id: int | None
    group: Untrusted | None
    terms: dict[str, Any]
    sales: int
    sales_cents: int
    commission_cents: int


def list_terms(connection: Connection, program_id: int) -> list[TermsVersion]:
    """Return a program's newest versions of its terms, newest first, then the newest of special terms."""
    versions = []
    for each in connection.execute(_TERMS, {"program_id": program_id}):
        about = (each.version, each.created_at, each.until, each.by_agent, each.partner_id, each.partner_group)
        earned = (each.sales, int(each.sales_cents), int(each.commission_cents))
        versions.append(TermsVersion(*about, published(each, TERMS), *earned))
    return versions


def get_key(connection: Connection, program_id: int, *, at: datetime) -> dict[str, Any]:
    """Return the age and the state of a program's key, and when those before it were replaced, newest first."""
    key, old = tables.program_keys.c, tables.retired_program_keys.c
    row = connection.execute(select(tables.program_keys).where(key.program_id == program_id)).one()
    ended = select(old.retired_at).where(old.program_id == program_id).order_by(old.retired_at.desc()).limit(MOST)
    due = {"rotate_by": row.rotate_by} if row.rotate_by is not None else {}
    about = {"since": row.created_at, "state": rotation_state(row.rotate_by, at), **due}
    return about | {"earlier_ended_at": list(connection.execute(ended).scalars())}


class NeededRate(NamedTuple):
    """A currency: how many sales in it were rejected in the last 30 days, and the day of its newest rate."""

    currency: str
    rejected: int
    newest: date | None

    @property
    def is_missing(self) -> bool:
        """Return whether amounts cannot be converted from or to the currency."""
        return self.newest is None and self.currency != EURO


def list_rates(connection: Connection, program_id: int) -> list[NeededRate]:
    """Return the program's currency, then those in which sales were rejected. Raises NotFound."""
    own = read_program(connection, program_id).settings.currency
    call, event, code = tables.refused_calls.c, tables.payment_events.c, CurrencyNotSupported.code
    calls = select(call.currency, func.count()).where(call.program_id == program_id, call.code == code)
    events = select(CURRENCY, func.count()).where(event.program_id == program_id, event.outcome == code)
    rejected: dict[str, int] = {own: 0}
    for counted, name in ((calls, call.currency), (events, CURRENCY)):
        for currency, count in connection.execute(counted.where(name.is_not(None)).group_by(name)):
            rejected[currency] = rejected.get(currency, 0) + count
    rate = tables.currency_rates.c
    days = select(rate.currency, func.max(rate.day)).where(rate.currency.in_(list(rejected))).group_by(rate.currency)
    newest: dict[str, date] = dict(connection.execute(days).all())
    return [NeededRate(currency, count, newest.get(currency)) for currency, count in rejected.items()]


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


def list_unusual_figures(connection: Connection, program_id: int, *, at: datetime) -> list[UnusualFigure]:
    """Return the figures of the last days that are at least five times what is usual, or at most a fifth."""
    window = Window(at.date() - timedelta(days=RECENT_DAYS), at.date() - timedelta(days=1))
    past = Window(window.first - timedelta(days=PAST_DAYS), window.first - timedelta(days=1))
    days = performance.read_days(connection, ReportScope(program_id, Window(past.first, window.last), at))
    recent, before = (added(Totals(), (days[day] for day in each.days if day in days)) for each in (window, past))
    found = []
    for name in COMPARED:
        value = getattr(recent, name)
        usual = getattr(before, name) * RECENT_DAYS / PAST_DAYS
        if max(value, usual) >= FEWEST and not usual / TIMES < value < usual * TIMES:
            last_day = max((day for day, totals in days.items() if getattr(totals, name)), default=None)
            found.append(UnusualFigure(name, *window, value, round(usual, 1), last_day))
    return found


def list_large_refunds(connection: Connection, program_id: int, *, at: datetime) -> list[LargeRefund]:
    """Return the largest refunds of the last 30 days that were rejected because they were larger than their sales."""
    since_id = ids.first(at - timedelta(days=REJECTED_DAYS))
    rows = connection.execute(_LARGE_REFUNDS, {"program_id": program_id, "since_id": since_id})
    return [LargeRefund(*row)._replace(times=round(row.times, 1)) for row in rows]
