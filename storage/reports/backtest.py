"""A backtest: the last days of a program's leads and sales as recorded, and under draft terms; it changes nothing.

It is read in chunks, so that it holds no connection for long and can end when its caller leaves.
"""

import threading
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, time, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from storage.engine import ids
from storage.lists.programs import read_program
from storage.reports.backtest_result import (
    BacktestResult,
    CreditDifference,
    Figures,
    LeftOut,
    PartnerDifference,
    named,
    of_gained,
)
from storage.reports.gained_sales import find_gained
from storage.reports.recorded_events import CHUNK, LEADS, SALES
from storage.rules import draft
from storage.rules.attribution import PartnerStatus
from storage.rules.commission import CommissionStatus, Terms, TermsOf, explained_terms, platform_fee
from storage.rules.draft import Sold
from storage.rules.errors import RateLimited
from storage.tables import commission_terms, partners, refunds, rollups

MOST_PARTNERS, MOST_EXAMPLES = 200, 10
_running: set[int] = set()
_lock = threading.Lock()


class _Priced(NamedTuple):
    """An earning after refunds, with the fee on it, and whether it is on hold."""

    cents: int
    fee_cents: int
    is_held: bool


@contextmanager
def alone(program_id: int) -> Iterator[None]:
    """Run one backtest of a program at a time in this process. Raises RateLimited for a second one."""
    with _lock:
        if program_id in _running:
            raise RateLimited("A backtest of this program is running.", retry_after_seconds=5)
        _running.add(program_id)
    try:
        yield
    finally:
        _running.discard(program_id)


class Backtest:
    """The last `days` of a program, today included, under draft changes; call `step` until it `is_done`.

    `changes` are settings as the API names them, which apply to one partner alone if `partner_id` is given.
    Raises ValidationError for a rate that does not fit.
    """

    def __init__(
        self,
        connection: Connection,
        program_id: int,
        changes: Mapping[str, Any],
        *,
        days: int,
        at: datetime,
        partner_id: int | None = None,
    ) -> None:
        self._settings = read_program(connection, program_id).settings
        self._draft = draft.draft_of(self._settings, changes, partner_id)
        self._at, self._first = at, at.date() - timedelta(days=days - 1)
        self._since = datetime.combine(self._first, time(), at.tzinfo)
        versions = select(commission_terms).where(commission_terms.c.program_id == program_id)
        rows = connection.execute(versions.order_by(commission_terms.c.version)).all()
        self._terms = {row.version: explained_terms(row) for row in rows}
        own = [row for row in rows if self._terms[row.version].whose == TermsOf.PROGRAM]
        self._versions = [row.version for row in own]
        self._changed_at = [row.created_at for row in own[1:]]  # the first applies before it, too
        self._phases = [(SALES, self._add_sale), (LEADS, self._add_lead)]
        self._after = ids.first(self._since) - 1
        self._bought: set[int] = set()  # the customers whose first sale was priced
        self._partners: dict[int, list[int]] = {}
        self._figures = [Counter[str](), Counter[str]()]
        self._counts = Counter[str]()
        self._lost: list[CreditDifference] = []

    @property
    def is_done(self) -> bool:
        return not self._phases

    def step(self, connection: Connection, program_id: int) -> None:
        """Price the next 5,000 sales or leads."""
        statement, add = self._phases[0]
        about = {"program_id": program_id, "after": self._after, "since": self._since}
        rows = connection.execute(statement, about).all()
        for row in rows:
            add(row)
        if len(rows) < CHUNK:
            del self._phases[0]
            self._after = ids.first(self._since) - 1
        else:
            self._after = rows[-1].id

    def result(self, connection: Connection, program_id: int) -> BacktestResult:
        """Return the result, once it is done."""
        gained = find_gained(connection, program_id, self._draft, since=self._since, at=self._at)
        for each in gained:
            self._add("sales", each.partner_id, (_NOTHING, self._priced(each.cents, each.terms, each.hold_until)))
        changes = {each: after - before for each, (before, after) in self._partners.items()}
        shown = sorted(changes, key=lambda each: (-abs(changes[each]), -self._partners[each][0], each))[:MOST_PARTNERS]
        examples = [of_gained(each) for each in sorted(gained, key=lambda each: -each.cents)[:MOST_EXAMPLES]]
        partner, wanted = partners.c, {*shown, *(each.partner_id for each in [*self._lost, *examples])}
        read = select(partner.id, partner.name, partner.code).where(partner.program_id == program_id)
        names = {row.id: (row.name, row.code) for row in connection.execute(read.where(partner.id.in_(wanted)))}
        before, after = (Figures(*(each[name] for name in Figures._fields)) for each in self._figures)
        day, refund = rollups.c, refunds.c
        of_days = (day.program_id == program_id, day.day >= self._first, day.day <= self._at.date())
        refunded = (refund.program_id == program_id, refund.at >= self._since, refund.id >= ids.first(self._since))
        return BacktestResult(
            self._settings.currency,
            self._first,
            self._at.date(),
            connection.execute(select(func.coalesce(func.sum(day.clicks), 0)).where(*of_days)).scalar_one(),
            self._counts["leads"],
            self._counts["sales"],
            connection.execute(select(func.count()).where(*refunded)).scalar_one(),
            before,
            after,
            after.commission_cents - before.commission_cents,
            sum(each > 0 for each in changes.values()),
            sum(each < 0 for each in changes.values()),
            [self._difference(each, *names[each]) for each in shown],
            self._counts["lost"],
            [named(each, names) for each in self._lost],
            len(gained),
            [named(each, names) for each in examples],
            self._counts["kept"],
            [LeftOut(*each) for each in self._draft.unknown.items()],
        )

    def _difference(self, partner_id: int, name: str, code: str) -> PartnerDifference:
        before, after = self._partners[partner_id]
        return PartnerDifference(partner_id, name, code, before, after, after - before)

    def _add_sale(self, row: Any) -> None:
        is_first = row.occurred_at == row.first_purchase_at and row.customer_id not in self._bought
        if is_first:
            self._bought.add(row.customer_id)
        values = (row.amount_cents, row.program_cents, row.tax_cents, row.shipping_cents, row.refunded_cents)
        sale = Sold(*values, row.occurred_at, None if is_first else row.first_purchase_at)
        then, terms, is_of_draft = self._terms_of(row, row.at)
        recorded = row.earned_cents or 0
        cents = draft.of_sale(terms, sale) if self._explains(draft.of_sale(then, sale), recorded) else recorded
        loses = is_of_draft and self._draft.loses_credit(row.clicked_at, row.first_purchase_at)
        priced = self._both(row, sale, (recorded, then), (0 if loses else cents, terms), row.occurred_at)
        partner_id = row.earner_id or row.partner_id
        if loses:
            self._counts["lost"] += 1
            said = (row.occurred_at, row.amount_cents, row.currency, *(each.cents for each in priced))
            self._lost.append(CreditDifference(row.transaction_id, partner_id, "", *said))
            self._lost = sorted(self._lost, key=lambda each: -each.before_cents)[:MOST_EXAMPLES]
        self._counts["sales"] += 1
        self._add("sales", partner_id, priced)

    def _add_lead(self, row: Any) -> None:
        then, terms, is_of_draft = self._terms_of(row, row.at)
        recorded = row.earned_cents or 0
        cents = recorded
        if row.status != PartnerStatus.INACTIVE or recorded:
            is_explained = self._explains(then.lead_commission_cents, recorded)
            cents = terms.lead_commission_cents if is_explained else recorded
        loses = is_of_draft and self._draft.loses_credit(row.clicked_at, min(row.at, row.created_at))
        self._counts["leads"] += 1
        priced = self._both(row, None, (recorded, then), (0 if loses else cents, terms), row.at)
        self._add("leads", row.earner_id or row.partner_id, priced)

    def _terms_of(self, row: Any, at: datetime) -> tuple[Terms, Terms, bool]:
        """Return the terms by which an event was priced, those of the draft, and whether the draft is about it."""
        version = row.terms_version
        if version is None:  # it earned nothing
            version = self._versions[bisect_right(self._changed_at, at)]
        then, partner_id = self._terms[version], row.earner_id or row.partner_id
        return then, self._draft.terms(then, partner_id), self._draft.partner_id in {None, partner_id}

    def _explains(self, priced_cents: int, recorded_cents: int) -> bool:
        self._counts["kept"] += priced_cents != recorded_cents
        return priced_cents == recorded_cents

    def _both(
        self, row: Any, sale: Sold | None, before: tuple[int, Terms], after: tuple[int, Terms], happened_at: datetime
    ) -> tuple[_Priced, _Priced]:
        """Return what an event earned, and would have earned, under which terms; after its refunds."""
        status = None if row.earned_status is None else CommissionStatus(row.earned_status)
        until = self._draft.hold_until(happened_at, row.hold_until)
        return self._priced(*before, row.hold_until, sale, status), self._priced(*after, until, sale, status)

    def _priced(
        self,
        cents: int,
        terms: Terms,
        hold_until: datetime | None,
        sale: Sold | None = None,
        status: CommissionStatus | None = None,
    ) -> _Priced:
        left, fee = (draft.left_of(each, sale, status) for each in (cents, platform_fee(terms, cents)))
        return _Priced(left, fee, hold_until is not None and hold_until > self._at)

    def _add(self, kind: str, partner_id: int, priced: tuple[_Priced, _Priced]) -> None:
        account = self._partners.setdefault(partner_id, [0, 0])
        for n, (figures, each) in enumerate(zip(self._figures, priced, strict=True)):
            account[n] += each.cents
            figures["commission_cents"] += each.cents
            figures["platform_fee_cents"] += each.fee_cents
            figures["held_cents"] += each.cents if each.is_held else 0
            figures[f"earning_{kind}"] += each.cents > 0


_NOTHING = _Priced(0, 0, is_held=False)
