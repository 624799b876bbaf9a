"""The customers and commissions of another tool as events of this one, at their own times, with what was earned."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import Column, bindparam, update

from storage.engine import ids
from storage.engine.database import insert_for
from storage.management.import_report import Importing
from storage.rules import contact
from storage.rules.commission import CommissionStatus, CommissionType
from storage.rules.errors import ServiceError
from storage.rules.tool_exports import FileKind, ImportLine
from storage.tables import commissions, customers, payment_customers
from storage.tables import leads as lead_rows
from storage.tables import sales as sale_rows
from storage.tracking import clicks, leads, rollups, sales
from storage.tracking.corrections import Corrections
from storage.tracking.ledger import EntryKind
from storage.tracking.program_terms import ANY_DAYS, ProgramTerms
from storage.tracking.sale_decisions import Provenance, Sale

FILTERED = "import"  # why the click that stands for the old tool's does not count
REPORTED_BY = Provenance.OPERATOR
STRIPE = "cus_"


class _New(NamedTuple):
    """A lead or a sale to record, of a customer with the key or of one without, and the line that it earns."""

    line: ImportLine
    partner: Any
    at: datetime
    key: str | None
    earned: ImportLine | None = None
    click_id: str | None = None

    @property
    def is_sale(self) -> bool:
        """Whether it is a sale; what a line earned without one is of a lead."""
        return self.earned is not None and self.earned.sale_cents > 0


class ImportedEvents:
    """Gathers what is new, decides on what contradicts, and records it in the order of time."""

    def __init__(self, work: Importing, lines: Sequence[ImportLine]) -> None:
        self._work, self._program_id = work, work.program.id
        row = customers.c
        hashes = {contact.protect(each.email or "").email_hash: each for each in lines if each.is_unnamed}
        self._keys = {  # of customers without an id in the files who are here
            hashes[each.email_hash].customer_key: each.customer_key
            for each in self._work.rows(row.email_hash, hashes, row.customer_key)
            if each.customer_key is not None
        }
        named = {self._keys.get(each.customer_key, each.customer_key) for each in lines}
        self._owners: dict[str, int] = {}
        for column in (row.known_as, row.customer_key):
            self._owners |= {each[0]: each.partner_id for each in self._work.rows(column, named, row.partner_id)}
        self._recorded: dict[str, tuple[int, int | None]] = {}
        for column, has_sale in ((sale_rows.c.transaction_id, True), (lead_rows.c.event_name, False)):
            numbers = {each.transaction_id for each in lines if bool(each.sale_cents) == has_sale}
            there = self._work.rows(column, numbers, column.table.c.partner_id)
            self._recorded |= {each[0]: (each.partner_id, None) for each in there}
        self._leads: dict[str, _New] = {}
        self._others: list[_New] = []
        self._decided: dict[int, tuple[datetime, CommissionStatus]] = {}  # by the old tool, on recorded commissions

    def add(self, line: ImportLine, partner: Any) -> None:
        """Gather what the line of a customer or a commission adds. Raises LeftOutError, ValueError."""
        key = self._keys.get(line.customer_key, line.customer_key)
        owner = self._owners.get(key)
        recorded_for, cents = self._recorded.get(line.transaction_id, (None, None))
        is_another = owner not in {None, partner.id}
        if recorded_for not in {None, partner.id}:
            self._work.conflict(line, f"the commission of {line.transaction_id!r} is another partner's")
        elif is_another and recorded_for is None:
            self._work.conflict(line, f"the customer {key!r} came through another partner")
        if cents not in {None, line.cents}:
            raise ValueError(f"another line has the transaction id {line.transaction_id!r}, and another amount")
        if recorded_for is not None or (owner is not None and line.kind == FileKind.CUSTOMERS):
            self._work.report.there[line.kind] += 1
            return
        if owner is None and key:
            self._owners[key] = partner.id
            self._leads[key] = _New(line, partner, line.at or self._work.by.at, key)
        if line.kind == FileKind.COMMISSIONS:  # of a sale, of the customer's lead, or of a lead without a customer
            self._recorded[line.transaction_id] = (partner.id, line.cents)
            at = line.at or self._work.by.at
            lead = None if is_another else self._leads.get(key)
            is_of_lead = lead is not None and lead.earned is None and not line.sale_cents
            if lead is not None:
                self._leads[key] = lead._replace(at=min(lead.at, at), earned=line if is_of_lead else lead.earned)
            if not is_of_lead:
                of_customer = None if is_another or not line.sale_cents else key or None
                self._others.append(_New(line, partner, at, of_customer, earned=line))

    def record(self) -> None:
        """Record what is new, day by day: leads, then sales, which need their customers; then what was decided."""
        news = [*self._leads.values(), *self._others]
        for is_sale, tracking, number in (
            (False, leads, lead_rows.c.event_name),
            (True, sales, sale_rows.c.transaction_id),
        ):
            for of_day in _by_day((each for each in news if each.is_sale == is_sale), lambda each: each.at):
                self._record(of_day, tracking.record, number)
        for decided in _by_day(self._decided.items(), lambda each: each[1][0]):
            self._decide(dict(decided))

    def _record(self, news: Sequence[_New], record: Callable[..., Sequence[Any]], number: Column[Any]) -> None:
        """Record leads, or sales, and count what each earned: a commission has the id of its lead or sale."""
        news = list(self._clicked(news))
        results = record(self._work.connection, list(map(self._reported, news)))
        numbers = [each.earned.transaction_id for each in news if each.earned]
        recorded = {each[0]: each.id for each in self._work.rows(number, numbers, number.table.c.id)}
        for new, result in zip(news, results, strict=True):
            with self._work.reported(new.line.file, new.line.number):
                if isinstance(result, ServiceError):
                    raise result
                if new.line.kind == FileKind.CUSTOMERS:
                    self._work.report.add(new.line.kind, customer_key=new.key, partner=new.partner.code, at=new.at)
                if new.earned:
                    self._count(new.earned, new.partner, recorded[new.earned.transaction_id])

    def _clicked(self, news: Sequence[_New]) -> Iterator[_New]:
        """Yield what is new with a click that stands for the old tool's, unless it is a sale to a customer."""
        connection = self._work.connection
        of_program = {"program_id": self._program_id}
        clicked = [each for each in news if not (each.is_sale and each.key)]
        seen = [(clicks.unseen(self._program_id, self._work.url, each.at), each.partner.id) for each in clicked]
        click_ids = clicks.stand_in(connection, seen, why=FILTERED)
        self._work.ids["clicks"] += click_ids
        keyed = [(new.key or "", click_id) for new, click_id in zip(clicked, click_ids, strict=True)]
        of_stripe = [{"processor_customer": key, "click_id": each} for key, each in keyed if key.startswith(STRIPE)]
        rows = [of_program | each for each in of_stripe]
        if rows:
            connection.execute(insert_for(connection)(payment_customers).on_conflict_do_nothing(), rows)
        yield from (each for each in news if each.is_sale and each.key)
        yield from (new._replace(click_id=click_id) for new, click_id in zip(clicked, click_ids, strict=True))

    def _reported(self, new: _New) -> tuple[ProgramTerms, leads.Lead | Sale]:
        """Return the event, and the terms in force but with these earnings, and without windows and minimum orders."""
        name, cents = (new.earned.transaction_id, new.earned.cents) if new.earned else (None, 0)
        earning: dict[str, Any] = {"type": CommissionType.FLAT, "rate": cents, "lead_commission_cents": cents}
        terms = self._work.program.terms._replace(**earning, recurring_months=None, minimum_order_cents=0)
        own: dict[str, Any] = {"terms_of": lambda _: terms, "attribution_window_days": ANY_DAYS, "has_payments": False}
        program = self._work.program._replace(**own)
        if new.is_sale:
            who: dict[str, Any] = {"customer_key": new.key, "click_id": new.click_id, "provenance": REPORTED_BY}
            return program, Sale(name or "", new.line.sale_cents, new.at, **who, currency=program.currency)
        known = contact.protect(new.line.email) if new.line.email and new.key else None
        return program, leads.Lead(new.click_id, new.key, new.at, contact=known, event_name=name)

    def _count(self, line: ImportLine, partner: Any, event_id: int) -> None:
        """Count what a recorded lead or sale earned, as the old tool decided on it."""
        work, at = self._work, line.at or self._work.by.at
        is_trial = line.status == CommissionStatus.PAID and work.is_sandbox  # trials pay no one
        status = CommissionStatus.APPROVED if is_trial else line.status
        work.ids["sales"] += [event_id] if line.sale_cents else []
        if line.cents:
            self._decided[event_id] = (line.paid_at or at if status == CommissionStatus.PAID else at), status
            work.ids["commissions"].append(event_id)
            work.expected[partner.id, status, "commissions"] += 1
            work.expected[partner.id, status, "cents"] += line.cents
        amounts = {"sale_cents": line.sale_cents, "cents": line.cents, "status": status}
        work.report.add(line.kind, transaction_id=line.transaction_id, partner=partner.code, **amounts, at=at)

    def _decide(self, decided: Mapping[int, tuple[datetime, CommissionStatus]]) -> None:
        """Give commissions their status; the ledger takes back what was rejected and settles what was paid."""
        connection, row = self._work.connection, commissions.c
        earned = list(
            self._work.rows(row.id, decided, row.program_id, row.partner_id, row.amount_cents, row.created_at)
        )
        corrections = Corrections(connection, earned)
        for each in earned:
            if decided[each.id][1] == CommissionStatus.REJECTED:
                rollups.add(connection, [corrections.take_back(each, EntryKind.REJECTION)])
            elif decided[each.id][1] == CommissionStatus.PAID:
                corrections.append(each, EntryKind.PAYOUT, -each.amount_cents)
        corrections.save(at=max(at for at, _ in decided.values()))
        changed = update(commissions).where(row.program_id == self._program_id, row.id == bindparam("commission_id"))
        values = [
            {"commission_id": each, "status": status, "paid_at": at if status == CommissionStatus.PAID else None}
            for each, (at, status) in decided.items()
        ]
        connection.execute(changed, values)


def _by_day(items: Iterable[Any], time: Callable[[Any], datetime]) -> Iterator[list[Any]]:
    """Yield the items of each day, in the order of time; ids drawn meanwhile are of those days."""
    with ids.of_the_past():
        for _, of_day in groupby(sorted(items, key=time), key=lambda each: time(each).date()):
            yield list(of_day)
