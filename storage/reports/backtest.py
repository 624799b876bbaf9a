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

from sqlalchemy import Connection

from storage.engine import ids
from storage.engine.statements import read_statement
from storage.lists.programs import read_program
from storage.reports.backtest_result import BacktestResult, CreditDifference, Figures, LeftOut, PartnerDifference
from storage.reports.gained_sales import find_gained
from storage.rules import draft
from storage.rules.attribution import PartnerStatus
from storage.rules.commission import Terms, TermsOf, explained_terms, platform_fee
from storage.rules.draft import Sold
from storage.rules.errors import RateLimited
from storage.tables.columns import Timestamp

CHUNK = 5_000
MOST_PARTNERS, MOST_EXAMPLES = 200, 10
_TIMES: Any = dict.fromkeys(
    ("at", "occurred_at", "first_purchase_at", "clicked_at", "created_at", "hold_until"), Timestamp
)
_SALES, _LEADS = (read_statement(f"backtest_{name}", **dict.fromkeys(_TIMES, Timestamp)) for name in ("sales", "leads"))
_COUNTS, _OF_GROUP, _NAMES = (read_statement(f"backtest_{name}") for name in ("counts", "group", "names"))
_TERMS = read_statement("backtest_terms", created_at=Timestamp)
_running: set[int] = set()
_lock = threading.Lock()


class _Earning(NamedTuple):
    """What an event earns before refunds, under which terms, and until when it is on hold."""

    cents: int
    terms: Terms
    hold_until: datetime | None


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

    `changes` are settings as the API names them, which apply to one partner alone, or to a `group`, if one is given.
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
        group: str | None = None,
    ) -> None:
        self._settings = read_program(connection, program_id).settings
        of = {"program_id": program_id, "group": group}
        chosen, whose = None if partner_id is None else frozenset({partner_id}), TermsOf.PARTNER
        if chosen is None:
            found = connection.execute(_OF_GROUP, of).scalars()
            chosen, whose = (frozenset(found), TermsOf.GROUP) if group else (None, TermsOf.PROGRAM)
        self._draft = draft.draft_of(self._settings, changes, chosen, whose)
        self._at, self._first = at, at.date() - timedelta(days=days - 1)
        self._since = datetime.combine(self._first, time(), at.tzinfo)
        rows = connection.execute(_TERMS, of).all()
        self._terms = {row.version: explained_terms(row) for row in rows}
        own = [row for row in rows if self._terms[row.version].whose == TermsOf.PROGRAM]
        self._versions = [row.version for row in own]
        self._changed_at = [row.created_at for row in own[1:]]  # the first applies before it, too
        self._phases = [(_SALES, self._add_sale), (_LEADS, self._add_lead)]
        self._next_id = ids.first(self._since)
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
        about = {"program_id": program_id, "since_id": self._next_id, "since": self._since, "most": CHUNK}
        rows = connection.execute(statement, about).all()
        for row in rows:
            add(row)
        if len(rows) < CHUNK:
            del self._phases[0]
        self._next_id = rows[-1].id + 1 if len(rows) == CHUNK else ids.first(self._since)

    def result(self, connection: Connection, program_id: int) -> BacktestResult:
        """Return the result, once it is done."""
        gained = find_gained(connection, program_id, self._draft, since=self._since, at=self._at)
        for sale, terms in gained:
            earned = _Earning(sale.after_cents, terms, self._draft.hold_until(sale.occurred_at, None))
            self._add("sales", sale.partner_id, None, None, (_Earning(0, terms, None), earned))
        won = sorted((sale for sale, _ in gained), key=lambda each: -each.after_cents)[:MOST_EXAMPLES]
        changes = {each: after - before for each, (before, after) in self._partners.items()}
        shown = sorted(changes, key=lambda each: (-abs(changes[each]), -self._partners[each][0], each))[:MOST_PARTNERS]
        wanted = sorted({*shown, *(each.partner_id for each in [*self._lost, *won])})
        of = {"program_id": program_id, "first_day": self._first, "since": self._since}
        named = {row.id: row for row in connection.execute(_NAMES, {**of, "partner_ids": wanted})}
        before, after = (Figures(*(each[name] for name in Figures._fields)) for each in self._figures)
        counts = connection.execute(_COUNTS, {**of, "since_id": ids.first(self._since)}).mappings().one()
        return BacktestResult(
            currency=self._settings.currency,
            first=self._first,
            last=self._at.date(),
            **counts,
            **{name: self._counts[name] for name in ("leads", "sales", "kept", "lost_sales")},
            before=before,
            after=after,
            difference_cents=after.commission_cents - before.commission_cents,
            winners=sum(each > 0 for each in changes.values()),
            losers=sum(each < 0 for each in changes.values()),
            partners=[PartnerDifference._make([*named[each], *self._partners[each], changes[each]]) for each in shown],
            lost=[each._replace(partner_name=named[each.partner_id].name) for each in self._lost],
            gained_sales=len(gained),
            gained=[each._replace(partner_name=named[each.partner_id].name) for each in won],
            left_out=[LeftOut(*each) for each in self._draft.unknown.items()],
        )

    def _add_sale(self, row: Any) -> None:
        is_first = row.occurred_at == row.first_purchase_at and row.customer_id not in self._bought
        if is_first:
            self._bought.add(row.customer_id)
        values = (row.amount_cents, row.program_cents, row.tax_cents, row.shipping_cents, row.refunded_cents)
        sale = Sold(*values, row.occurred_at, None if is_first else row.first_purchase_at)
        then, terms, recorded = self._terms_of(row)
        cents = self._unless_kept(recorded, draft.of_sale(then, sale), draft.of_sale(terms, sale))
        partner_id = row.earner_id or row.partner_id
        if loses := self._draft.loses_credit(partner_id, row.clicked_at, row.first_purchase_at):
            left = draft.left_of(recorded, sale, row.earned_status)
            said = (row.occurred_at, row.amount_cents, row.currency, left, 0)
            self._lost.append(CreditDifference(row.transaction_id, partner_id, "", *said))
            self._lost = sorted(self._lost, key=lambda each: -each.before_cents)[:MOST_EXAMPLES]
            self._counts["lost_sales"] += 1
        until = self._draft.hold_until(row.occurred_at, row.hold_until)
        earnings = _Earning(recorded, then, row.hold_until), _Earning(0 if loses else cents, terms, until)
        self._counts["sales"] += 1
        self._add("sales", partner_id, sale, row.earned_status, earnings)

    def _add_lead(self, row: Any) -> None:
        then, terms, recorded = self._terms_of(row)
        cents = self._unless_kept(recorded, then.lead_commission_cents, terms.lead_commission_cents)
        has_left = row.status == PartnerStatus.INACTIVE and not recorded
        partner_id = row.earner_id or row.partner_id
        loses = self._draft.loses_credit(partner_id, row.clicked_at, min(row.at, row.created_at))
        after = _Earning(0 if loses or has_left else cents, terms, self._draft.hold_until(row.at, row.hold_until))
        self._counts["leads"] += 1
        self._add("leads", partner_id, None, row.earned_status, (_Earning(recorded, then, row.hold_until), after))

    def _terms_of(self, row: Any) -> tuple[Terms, Terms, int]:
        """Return the terms by which an event was priced, those of the draft, and what it earned."""
        version = row.terms_version or self._versions[bisect_right(self._changed_at, row.at)]  # it may earn nothing
        then = self._terms[version]
        return then, self._draft.terms(then, row.earner_id or row.partner_id), row.earned_cents or 0

    def _unless_kept(self, recorded_cents: int, priced_cents: int, draft_cents: int) -> int:
        """Return what an event earns under the draft, or what it earned if its terms do not explain that."""
        self._counts["kept"] += priced_cents != recorded_cents
        return draft_cents if priced_cents == recorded_cents else recorded_cents

    def _add(
        self, kind: str, partner_id: int, sale: Sold | None, status: str | None, earnings: tuple[_Earning, _Earning]
    ) -> None:
        """Add an event's earnings, as recorded and under the draft, after its refunds."""
        account = self._partners.setdefault(partner_id, [0, 0])
        for n, each in enumerate(earnings):
            fee_cents = platform_fee(each.terms, each.cents)
            left, fee = (draft.left_of(cents, sale, status) for cents in (each.cents, fee_cents))
            held = left if each.hold_until and each.hold_until > self._at else 0
            account[n] += left
            figures = {"commission_cents": left, "platform_fee_cents": fee, "held_cents": held}
            self._figures[n].update({**figures, f"earning_{kind}": int(left > 0)})
