"""What the portal shows a partner: their balance, this month, what happened last and why, and earnings by month."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date, datetime
from enum import StrEnum
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from storage.engine.statements import read_statement
from storage.lists import balances
from storage.lists.commissions import COMMISSIONS, Commission, net_cents
from storage.lists.customers import CUSTOMERS
from storage.lists.declaration import ListQuery, ListScope, Page
from storage.lists.find import find, get
from storage.lists.held import is_held, kinds_by_commission
from storage.lists.partners import PARTNERS, Partner
from storage.lists.payables import PAYABLES, Payable
from storage.lists.payouts import PAYOUT_LINES, PayoutLine
from storage.lists.programs import read_program
from storage.management import special_terms
from storage.reports import performance
from storage.reports.performance import ReportScope
from storage.rules.commission import UNPAID, CommissionStatus
from storage.rules.payout import LineState
from storage.rules.periods.period import Month, Window
from storage.rules.reports.metrics import Totals, added
from storage.rules.settings import ProgramSettings
from storage.rules.settlement import CustomerStatus
from storage.tables import commissions
from storage.tables.columns import DAY_MILLIS, Timestamp, from_millis, stored_millis

LATEST = 6
PAYMENTS = 50
REVIEWED = "reviewed"  # what a sign of fraud holds; the partner does not see which
_AMOUNTS = read_statement("portal_amounts")
_REFUNDS = read_statement("portal_refunds", at=Timestamp, occurred_at=Timestamp)
EarnedInMonth = tuple[date, dict[str, int]]  # its first day, and cents by a commission's status, or REVIEWED
_earned = commissions.c


class FeedKind(StrEnum):
    SALE = "sale"
    LEAD = "lead"
    SIGN_UP = "sign_up"
    REFUND = "refund"
    PAYMENT = "payment"


class FeedEvent(NamedTuple):
    """Something that a partner sees; `state` and `until` say why it counts."""

    at: datetime
    kind: FeedKind
    cents: int | None  # what it is worth to them; None: nothing yet
    state: str
    until: date | None = None
    line: PayoutLine | None = None
    sale_cents: int | None = None  # the amount of the sale, where the program shows it


class PortalHome(NamedTuple):
    """The portal's first page; `terms` are settings with those of the partner, `days` this month's until today."""

    partner: Partner
    terms: ProgramSettings
    due: Payable
    holds: list[balances.Hold]
    days: list[tuple[date, Totals]]
    month: Totals
    latest: list[FeedEvent]


def read_home(connection: Connection, scope: ListScope) -> PortalHome:
    """Return the first page of the scope's partner. Raises NotFound."""
    program_id, partner_id, today = scope.program_id, scope.partner_id or 0, scope.at.date()
    window = Window(today.replace(day=1), today)
    found = performance.read_days(connection, ReportScope(program_id, window, scope.at, partner_id))
    days = [(day, found.get(day, Totals())) for day in window.days]
    events = [*_earnings(connection, scope, ListQuery(LATEST)).data, *_payments(connection, scope, LATEST)]
    events += [*_sign_ups(connection, scope), *_refunds(connection, scope)]
    partner = get(connection, PARTNERS, scope, partner_id)
    return PortalHome(
        partner,
        special_terms.settings_of(read_program(connection, program_id).settings, partner.terms),
        get(connection, PAYABLES, scope, partner_id),
        balances.next_holds(connection, program_id, partner_id, at=scope.at),
        days,
        added(Totals(), (totals for _, totals in days)),
        sorted(events, key=lambda each: each.at, reverse=True)[:LATEST],
    )


def read_earnings(
    connection: Connection, scope: ListScope, query: ListQuery
) -> tuple[list[EarnedInMonth], Page[FeedEvent], list[FeedEvent]]:
    """Return what the scope's partner earned by month, newest first, a page of it, and payments.

    Raises ValidationError for a wrong cursor.
    """
    return _months(connection, scope), _earnings(connection, scope, query), _payments(connection, scope)


def _payments(connection: Connection, scope: ListScope, limit: int = PAYMENTS) -> list[FeedEvent]:
    """Return what was paid to the scope's partner, taken back and failed, newest first."""
    lines = find(connection, PAYOUT_LINES, scope, ListQuery(limit)).data
    return [
        FeedEvent(each.created_at, FeedKind.PAYMENT, each.to_pay_cents, each.state, line=each)
        for each in lines
        if each.state != LineState.OPEN
    ]


def _earnings(connection: Connection, scope: ListScope, query: ListQuery) -> Page[FeedEvent]:
    page = find(connection, COMMISSIONS, scope, query)
    ids = [each.id for each in page.data]
    mine = {"program_id": scope.program_id, "ids": ids}
    held = kinds_by_commission(connection, scope.program_id, ids)
    amounts: dict[int, int] = dict(connection.execute(_AMOUNTS, mine).all())
    events = []
    for each in page.data:
        kind = FeedKind.LEAD if each.sale_id is None else FeedKind.SALE
        state = REVIEWED if each.id in held and each.status in UNPAID else _state(each, scope.at)
        cents = 0 if each.status == CommissionStatus.REJECTED else each.amount_cents
        until = (each.paid_at or each.hold_until).date()
        events.append(FeedEvent(each.created_at, kind, cents, state, until, sale_cents=amounts.get(each.id)))
    return Page(events, page.next_cursor)


def _state(commission: Commission, at: datetime) -> str:
    """Return a commission's status; a pending one whose hold is over is ready to be approved."""
    is_ready = commission.status == CommissionStatus.PENDING and commission.hold_until <= at
    return "ready" if is_ready else commission.status


def _sign_ups(connection: Connection, scope: ListScope) -> Iterable[FeedEvent]:
    for each in find(connection, CUSTOMERS, scope, ListQuery(LATEST)).data:
        if each.status != CustomerStatus.CONVERSION:
            yield FeedEvent(each.signup_at or each.created_at, FeedKind.SIGN_UP, None, each.status)


def _refunds(connection: Connection, scope: ListScope) -> Iterable[FeedEvent]:
    mine = {"program_id": scope.program_id, "partner_id": scope.partner_id, "most": LATEST}
    for at, cents, sold_at in connection.execute(_REFUNDS, mine):
        yield FeedEvent(at, FeedKind.REFUND, -cents, FeedKind.REFUND, sold_at.date())


def _months(connection: Connection, scope: ListScope) -> list[EarnedInMonth]:
    day = (stored_millis(_earned.created_at) // DAY_MILLIS).label("day")
    held = is_held().label("held")
    mine = (_earned.program_id == scope.program_id, _earned.partner_id == scope.partner_id)
    each = select(day, _earned.status, held, net_cents().label("cents")).where(*mine).subquery("each").c
    summed = select(each.day, each.status, each.held, func.sum(each.cents)).group_by(each.day, each.status, each.held)
    months: dict[date, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for number, status, is_reviewed, cents in connection.execute(summed):
        first = from_millis(number * DAY_MILLIS).date().replace(day=1)
        months[first][REVIEWED if is_reviewed and status in UNPAID else status] += int(cents)
    return sorted(months.items(), reverse=True)


def month_of(named: str, at: datetime) -> Window:
    """Return the days of a month, `2026-11`; of this month for any other text."""
    try:
        return Month.parse(named).window
    except ValueError:
        return Month.of(at).window
