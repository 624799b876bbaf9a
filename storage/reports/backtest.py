"""A backtest: the last days of a program's leads and sales as recorded, and under draft terms; it changes nothing.

It is read in chunks, so that it holds no connection for long and can end when its caller leaves.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, time, timedelta
from functools import partial, reduce
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.engine import ids
from storage.engine.statements import read_statement
from storage.lists.programs import read_program
from storage.management import partners
from storage.reports.backtest_result import BacktestResult, CreditDifference, Figures, LeftOut, PartnerDifference
from storage.reports.followed_links import FollowedLinks
from storage.reports.gained_sales import find_gained
from storage.rules import draft
from storage.rules.attribution import PartnerStatus
from storage.rules.commission import Terms, explained_terms, platform_fee
from storage.rules.draft import Draft, DraftChange
from storage.rules.errors import RateLimited
from storage.tables.columns import Timestamp
from storage.tracking import leads, terms_in_force
from storage.tracking.leads import LeadChange
from storage.tracking.sale_decisions import Provenance, SaleChange
from storage.tracking.terms_in_force import TermsSubject

MOST_PARTNERS, MOST_EXAMPLES = 200, 10
COUNTED = ("leads", "sales", "lost_sales", "gained_sales", "kept")
CHUNK = 5_000
_TIMES = ("at", "occurred_at", "first_purchase_at", "signup_at", "clicked_at", "created_at", "hold_until")
_SALES, _LEADS, _COUNTS, _PARTNERS, _TERMS, _TERMS_CHANGED = (
    read_statement(f"backtest_{name}", **dict.fromkeys(_TIMES, Timestamp))
    for name in ("sales", "leads", "counts", "partners", "terms", "terms_changed")
)
_running: dict[int, object] = {}


class _Earning(NamedTuple):
    """What an event earns a partner before refunds, under which terms, and until when it is on hold."""

    partner_id: int
    cents: int
    terms: Terms
    hold_until: datetime | None


@contextmanager
def alone(program_id: int) -> Iterator[None]:
    """Run one backtest of a program at a time in this process. Raises RateLimited for a second one."""
    mine = object()
    if _running.setdefault(program_id, mine) is not mine:  # one step, whatever other threads do
        raise RateLimited("A backtest of this program is running.", retry_after_seconds=5)
    try:
        yield
    finally:
        del _running[program_id]


class Backtest:
    """The last `days` of a program, today included, under draft changes; call `step` until it `is_done`.

    The changes apply together, one after another. Raises PartnerNotFound, ValidationError for a rate that does not fit.
    """

    def __init__(
        self, connection: Connection, program_id: int, changes: Sequence[DraftChange], *, days: int, at: datetime
    ) -> None:
        self._settings = read_program(connection, program_id).settings
        for each in changes:
            if each.partner_id:
                partners.require(connection, program_id, each.partner_id)
        of = {"program_id": program_id}
        self._named = {row.id: row for row in connection.execute(_PARTNERS, of)}
        groups = {each: row.partner_group for each, row in self._named.items()}
        self._at, self._first = at, at.date() - timedelta(days=days - 1)
        self._since = datetime.combine(self._first, time(), at.tzinfo)
        self._terms = {row.version: explained_terms(row) for row in connection.execute(_TERMS, of)}
        self._has_special = any(each.partner_id or each.group for each in self._terms.values())
        self._changed_at = connection.execute(_TERMS_CHANGED, of).scalars().all()
        self._in_force: dict[tuple[int | str | None, int], Terms] = {}  # by whose, and how often terms had changed
        find = partial(self._find_terms, connection, program_id, at=at)
        current = Draft(self._settings, self._settings, groups)
        self._draft = reduce(lambda made, each: made.after(each, find), changes, current)
        self._links = FollowedLinks(connection, program_id, self._draft)
        self._phases = [(_SALES, self._add_sale), (_LEADS, self._add_lead)]
        self._next_id = ids.first(self._since)
        self._bought: set[int] = set()  # the customers whose first sale was priced
        self._bought_at: dict[int, datetime] = {}  # the first purchases under the draft of those who come later in it
        self._partners: dict[int, list[int]] = {}
        self._figures = [Counter[str](), Counter[str]()]
        self._counts = Counter[str]()
        self._examples: dict[str, list[CreditDifference]] = {"lost": [], "gained": []}

    @property
    def is_done(self) -> bool:
        return not self._phases

    def step(self, connection: Connection, program_id: int) -> None:
        """Price the next 5,000 sales or leads."""
        statement, add = self._phases[0]
        about = {"program_id": program_id, "since_id": self._next_id, "since": self._since, "most": CHUNK}
        rows = connection.execute(statement, about).all()
        self._links.load(connection, program_id, (row.click_id for row in rows))
        for row in rows:
            add(connection, row)
        if len(rows) < CHUNK:
            del self._phases[0]
        self._next_id = rows[-1].id + 1 if len(rows) == CHUNK else ids.first(self._since)

    def result(self, connection: Connection, program_id: int) -> BacktestResult:
        """Return the result, once it is done."""
        for gained in find_gained(connection, program_id, self._links, self._find_terms, since=self._since):
            self._add_gained(gained)
        partners = [
            PartnerDifference._make([*self._named[each][:3], before, after, after - before])
            for each, (before, after) in self._partners.items()
        ]
        partners.sort(key=lambda each: (-abs(each.difference_cents), -each.before_cents, each.partner_id))
        before, after = (Figures(*(each[name] for name in Figures._fields)) for each in self._figures)
        of = {"program_id": program_id, "first_day": self._first, "since": self._since}
        counts: dict[str, Any] = {name: self._counts[name] for name in COUNTED}
        counts |= connection.execute(_COUNTS, {**of, "since_id": ids.first(self._since)}).mappings().one()
        return BacktestResult(
            currency=self._settings.currency,
            first=self._first,
            last=self._at.date(),
            **counts,
            before=before,
            after=after,
            difference_cents=after.commission_cents - before.commission_cents,
            winners=sum(each.difference_cents > 0 for each in partners),
            losers=sum(each.difference_cents < 0 for each in partners),
            partners=partners[:MOST_PARTNERS],
            lost=self._examples["lost"],
            gained=self._examples["gained"],
            left_out=[LeftOut(*each) for each in self._draft.unknown.items()],
        )

    def _add_sale(self, connection: Connection, row: Any) -> None:
        is_first = row.occurred_at == row.first_purchase_at and row.customer_id not in self._bought
        if is_first:
            self._bought.add(row.customer_id)
        click, before = self._links.credit(row), None if is_first else row.first_purchase_at
        first = self._bought_at.get(row.customer_id)
        if first is None and before and self._draft.is_credited(row, click, before):
            first = before
        is_credited = click and (first or self._draft.is_credited(row, click, row.occurred_at))
        partner_id = click.partner_id if click and is_credited else None
        priced_at = row.at
        if row.provenance == Provenance.OPERATOR:
            partner_id, priced_at = row.partner_id, row.occurred_at  # whom a person named, by the terms of then
        if partner_id:
            self._bought_at.setdefault(row.customer_id, first or row.occurred_at)
        then, terms = self._terms_of(connection, row, partner_id, priced_at)
        prices = [(then, draft.of_sale(then, row, before)), (terms, draft.of_sale(terms, row, first))]
        self._add("sales", row, row, partner_id, prices)

    def _add_lead(self, connection: Connection, row: Any) -> None:
        click = self._links.credit(row)
        is_credited = click and self._draft.is_credited(row, click, min(row.at, row.created_at))
        partner_id = click.partner_id if click and is_credited else None
        then, terms = self._terms_of(connection, row, partner_id, row.at)
        has_left = row.status == PartnerStatus.INACTIVE and not row.earned_cents
        prices = [(each, 0 if has_left else each.lead_commission_cents) for each in (then, terms)]
        self._add("leads", row, None, partner_id, prices)

    def _terms_of(
        self, connection: Connection, row: Any, partner_id: int | None, priced_at: datetime
    ) -> tuple[Terms, Terms]:
        """Return the terms by which an event was priced, and those of the draft for the partner who then has it."""
        find = partial(self._find_terms, connection, row.program_id, at=priced_at)
        then = self._terms.get(row.terms_version) or find(row.partner_id)  # it may earn nothing
        before = then if partner_id in {None, row.partner_id} else find(partner_id)
        return then, self._draft.terms(before, find, partner_id or row.partner_id)

    def _find_terms(self, connection: Connection, program_id: int, whose: int | str | None, at: datetime) -> Terms:
        whose = whose if self._has_special else None  # the program's
        key = (whose, bisect_right(self._changed_at, at))
        if key not in self._in_force:
            if isinstance(whose, str):
                terms = terms_in_force.find(connection, program_id, TermsSubject(group=whose), at)
            else:
                terms = terms_in_force.of_partner(connection, program_id, whose, at)
            self._in_force[key] = terms
        return self._in_force[key]

    def _add(self, kind: str, row: Any, sale: Any, partner_id: int | None, prices: Sequence[tuple[Terms, int]]) -> None:
        """Add what an event earned, and what it earns under the draft the partner who then has it, if one does.

        An event whose terms do not explain what it earned goes on earning that.
        """
        recorded, ((then, priced), (terms, cents)) = row.earned_cents or 0, prices
        if priced != recorded and partner_id in {None, row.partner_id}:
            self._counts["kept"] += 1
            cents = recorded
        self._counts[kind] += 1
        happened_at, about = sale.occurred_at if sale else row.at, (sale, row.earned_status)
        before, after = self._book(0, kind, _Earning(row.partner_id, recorded, then, row.hold_until), *about), 0
        if partner_id:
            until = self._draft.hold_until(happened_at, row.hold_until)
            after = self._book(1, kind, _Earning(partner_id, cents, terms, until), *about)
        if sale and partner_id != row.partner_id:
            self._show("lost", sale, happened_at, row.partner_id, before, 0)
            if partner_id:
                self._show("gained", sale, happened_at, partner_id, 0, after)

    def _add_gained(self, change: LeadChange | SaleChange) -> None:
        partner_id, terms = change.customer.partner_id, change.program.terms
        if isinstance(change, SaleChange):
            kind, cents, at = "sales", change.commission_cents, change.sale.happened_at
            self._show("gained", change.sale, at, partner_id, 0, cents)
        else:
            kind, cents, at = "leads", leads.earned(change).cents if change.settlement else 0, change.lead.at
        self._book(1, kind, _Earning(partner_id, cents, terms, self._draft.hold_until(at, None)))

    def _book(self, n: int, kind: str, earning: _Earning, sale: Any = None, status: str | None = None) -> int:
        """Add an earning as recorded (0) or under the draft (1); return what is left of it after refunds."""
        fee_cents = platform_fee(earning.terms, earning.cents)
        left, fee = (draft.left_of(cents, sale, status) for cents in (earning.cents, fee_cents))
        held = left if earning.hold_until and earning.hold_until > self._at else 0
        self._partners.setdefault(earning.partner_id, [0, 0])[n] += left
        figures = self._figures[n]
        figures["commission_cents"] += left
        figures["platform_fee_cents"] += fee
        figures["held_cents"] += held
        figures[f"earning_{kind}"] += left > 0
        return left

    def _show(self, name: str, sale: Any, at: datetime, partner_id: int, *cents: int) -> None:
        """Count a sale that a partner has `lost` or `gained`; the largest are examples."""
        self._counts[f"{name}_sales"] += 1
        who = (sale.transaction_id, partner_id, self._named[partner_id].name)
        self._examples[name].append(CreditDifference(*who, at, sale.amount_cents, sale.currency, *cents))
        self._examples[name].sort(key=lambda each: -each.before_cents - each.after_cents)
        del self._examples[name][MOST_EXAMPLES:]
