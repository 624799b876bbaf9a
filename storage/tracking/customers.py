"""Customers: looked up by key or click, created from a click at the first lead or sale, saved once per batch."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.engine import ids
from storage.engine.failures import StaleReadError
from storage.engine.statements import Statement
from storage.rules import attribution, keys
from storage.rules.attribution import PartnerStatus
from storage.rules.commission import Terms, terms_of_text
from storage.rules.settlement import CustomerStatus, Settlement
from storage.tables.columns import from_millis, to_millis

_find = Statement("customer_lookup")
_save = Statement("customer_save")
CustomerQuery = tuple[int, str | None, str | None]  # a program, a key within it, a click, whose id names its program


class Customer(NamedTuple):
    """A customer, with their partner's status and special terms; other fields are columns of `customer_save.sql`."""

    partner_status: PartnerStatus
    partner_terms: Terms | None
    program_id: int
    id: int
    partner_id: int
    click_id: str
    clicked_at: datetime
    created_at: datetime
    customer_key: str | None = None  # saved by a settled lead
    confirmed: bool = False
    email_hash: str | None = None
    email_mask: str | None = None
    mailbox_hash: str | None = None
    status: CustomerStatus = CustomerStatus.PROVISIONAL
    settlement: Settlement = Settlement.NONE
    signup_at: datetime | None = None
    first_purchase_at: datetime | None = None
    known_as: str | None = None  # the key that a sale named beside their click
    revision: int = 0

    @property
    def is_claimed(self) -> bool:
        """True while a browser alone said who this is; a lead with the program key outranks that."""
        return not self.confirmed and self.status == CustomerStatus.LEAD

    @property
    def is_unnamed(self) -> bool:
        """True while nothing but a browser's lead without a customer_key is known."""
        return not self.confirmed and self.status == CustomerStatus.PROVISIONAL and self.customer_key is None

    def has_other_key(self, customer_key: str | None) -> bool:
        """Return whether a key, if there is one, is not that of this customer; a browser's claim alone is none."""
        own = {self.known_as, None if self.is_claimed else self.customer_key} - {None}
        return customer_key is not None and bool(own) and customer_key not in {self.known_as, self.customer_key}

    def is_spent(self, customer_key: str | None) -> bool:
        """Return whether a referral token no longer names this customer: they have bought, and have not this key."""
        is_bought = keys.UNTIL in self.click_id and self.first_purchase_at is not None
        return is_bought and (customer_key is None or customer_key not in {self.customer_key, self.known_as})

    @property
    def is_new(self) -> bool:
        """True until the row of this customer is written."""
        return self.revision == 0

    def is_in_time(self, at: datetime, window_days: int) -> bool:
        """Return whether their click still counts; that of a referral can make a customer until it expires."""
        until = keys.click_until(self.click_id) if self.is_new else None
        return attribution.is_within(self.clicked_at, at, window_days, until=until)


NamedCustomers = tuple[Customer | None, Customer | None]  # the one of a call's click, the one with its customer_key


class Registry:
    """The customers that a batch names, as the earlier items of the batch left them."""

    def __init__(self, connection: Connection, queries: Sequence[CustomerQuery], *, at: datetime) -> None:
        self._customers: dict[tuple[int, str], Customer] = {}  # by click, which no two have in common
        self._clicks: dict[tuple[int, str], str] = {}  # by key
        self._known: dict[tuple[int, str], str] = {}  # the clicks of those who are known as a key
        self._changed: dict[tuple[int, str], Customer] = {}
        self._freed: set[tuple[int, str | None]] = set()  # keys
        for row in _find(connection, list(dict.fromkeys(row for query in queries for row in _look_ups(query)))):
            if (row.program_id or row.of_program_id, row.click_id or row.of_click_id) not in self._customers:
                self.remember(_customer(row, at))

    def named(self, program_id: int, call: Any) -> NamedCustomers:
        return self.by_click(call.click_id), self.by_key(program_id, call.customer_key)

    def by_key(self, program_id: int, customer_key: str | None) -> Customer | None:
        """Return the customer who carries this key, else the one who is known as it."""
        key = (program_id, customer_key or "")
        click_id = self._clicks.get(key) or self._known.get(key)
        return self._customers[program_id, click_id] if click_id else None

    def by_click(self, click_id: str | None) -> Customer | None:
        """Return the customer created from this click, or a new one (`is_new`) if there is none yet."""
        program_id = keys.click_program(click_id or "")
        return self._customers.get((program_id, click_id)) if program_id and click_id else None

    def change(self, *customers: Customer) -> None:
        """Show customers' new values to the later items of the batch, and save them with it."""
        for customer in customers:
            before = self._customers[customer.program_id, customer.click_id]
            if before.known_as and before.known_as != customer.known_as:
                del self._known[customer.program_id, before.known_as]
            freed = before.customer_key
            if freed and freed != customer.customer_key:
                del self._clicks[customer.program_id, freed]
                self._freed.add((customer.program_id, freed))
            self.remember(customer)
            self._changed[customer.program_id, customer.click_id] = customer

    def save(self, connection: Connection) -> None:
        """Write new and changed customers; a key that moves is free before. Raises StaleReadError for a lost race."""
        changed = [each for _, each in sorted(self._changed.items())]  # by click: ids may be of this transaction
        moved = [each for each in changed if (each.program_id, each.customer_key) in self._freed]
        rows = [_row(each._replace(customer_key=None) if each in moved else each) for each in changed]
        rows += [_row(each._replace(revision=each.revision + 1)) for each in moved]
        for some in (rows[: len(changed)], rows[len(changed) :]):
            if some and len(_save(connection, some)) != len(some):
                raise StaleReadError

    def remember(self, customer: Customer) -> None:
        """Show a customer to the later items of the batch; `change` saves them, too."""
        self._customers[customer.program_id, customer.click_id] = customer
        if customer.customer_key:
            self._clicks[customer.program_id, customer.customer_key] = customer.click_id
        if customer.known_as:
            self._known[customer.program_id, customer.known_as] = customer.click_id


def _look_ups(query: CustomerQuery) -> Iterator[CustomerQuery]:
    """Yield the rows that look a call up: one, or two where its click names another program."""
    program_id, customer_key, click_id = query
    click_program_id = keys.click_program(click_id or "")
    if click_program_id is None or click_program_id == program_id:
        yield program_id, customer_key, click_id if click_program_id else None
    else:
        yield program_id, customer_key, None
        yield click_program_id, None, click_id


def _customer(row: Any, at: datetime) -> Customer:
    """Return the customer of a row, a new one if it is a click without one."""
    status, terms = PartnerStatus(row.partner_status), terms_of_text(row.partner_terms)
    if row.id is None:
        sent_by = (row.of_partner_id, row.of_click_id, from_millis(row.of_clicked_at))
        return Customer(status, terms, row.of_program_id, ids.after(at, 1)[0], *sent_by, at)
    stored = Customer(status, terms, *row[1 : len(Customer._fields) - 1])
    return stored._replace(
        clicked_at=from_millis(row.clicked_at),
        created_at=from_millis(row.created_at),
        confirmed=bool(stored.confirmed),
        status=CustomerStatus(stored.status),
        settlement=Settlement(stored.settlement),
        signup_at=None if row.signup_at is None else from_millis(row.signup_at),
        first_purchase_at=None if row.first_purchase_at is None else from_millis(row.first_purchase_at),
    )


def _row(customer: Customer) -> list[Any]:
    _, _, *values, revision = customer
    return [*(to_millis(value) if isinstance(value, datetime) else value for value in values), revision + 1]
