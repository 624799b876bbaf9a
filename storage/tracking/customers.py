"""Customers: looked up by key or click, created from a click at the first lead or sale, saved once per batch."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.engine import ids
from storage.engine.failures import StaleReadError
from storage.engine.statements import Statement
from storage.rules.attribution import PartnerStatus
from storage.rules.settlement import CustomerStatus, Settlement
from storage.tables.columns import from_millis, to_millis

_find = Statement("customer_lookup")
_save = Statement("customer_save")
_MOMENTS = ("clicked_at", "created_at", "signup_at", "first_purchase_at")


@dataclass(slots=True)
class Customer:
    """A customer within a batch; later items see the changes of earlier ones."""

    program_id: int
    id: int
    partner_id: int
    partner_status: PartnerStatus
    click_id: str
    clicked_at: datetime
    created_at: datetime
    customer_key: str | None = None
    email_hash: str | None = None
    email_mask: str | None = None
    status: CustomerStatus = CustomerStatus.PROVISIONAL
    settlement: Settlement = Settlement.NONE
    signup_at: datetime | None = None
    first_purchase_at: datetime | None = None
    revision: int = 0
    confirmed: bool = False

    @property
    def is_claimed(self) -> bool:
        """True while a browser alone said who this is; a lead with the program key outranks that."""
        return not self.confirmed and self.status == CustomerStatus.LEAD

    @property
    def is_unnamed(self) -> bool:
        """True while nothing but a browser's lead without a customer_key is known."""
        return not self.confirmed and self.status == CustomerStatus.PROVISIONAL and self.customer_key is None

    @property
    def is_new(self) -> bool:
        """True until the row of this customer is written."""
        return self.revision == 0


class CustomerQuery(NamedTuple):
    """The identifiers of a call: a key within `program_id`, a click within the program that its id names."""

    program_id: int
    customer_key: str | None
    click_program_id: int | None
    click_id: str | None


class Registry:
    """The customers that a batch names: one object per customer, however many calls name them."""

    def __init__(self, connection: Connection, queries: Sequence[CustomerQuery], *, at: datetime) -> None:
        self._at = at
        self._by_key: dict[tuple[int, str], Customer] = {}
        self._by_click: dict[tuple[int, str], Customer] = {}
        for row in _find(connection, list(dict.fromkeys(row for query in queries for row in _look_ups(query)))):
            self._remember(row)

    def by_key(self, program_id: int, customer_key: str | None) -> Customer | None:
        """Return the customer who carries this key."""
        return self._by_key.get((program_id, customer_key)) if customer_key else None

    def by_click(self, program_id: int | None, click_id: str | None) -> Customer | None:
        """Return the customer created from this click, or a new one (`is_new`) if there is none yet."""
        return self._by_click.get((program_id, click_id)) if program_id and click_id else None

    def name(self, customer: Customer, customer_key: str) -> None:
        """Set a customer's key."""
        customer.customer_key = customer_key
        self._by_key[customer.program_id, customer_key] = customer

    def release(self, customer: Customer) -> None:
        """Take a customer's key from them."""
        del self._by_key[customer.program_id, str(customer.customer_key)]
        customer.customer_key = None

    def _remember(self, row: Any) -> None:
        is_new = row.id is None
        click = (row.of_program_id, row.of_click_id) if is_new else (row.program_id, row.click_id)
        if click not in self._by_click:
            customer = self._by_click[click] = self._from_click(row) if is_new else _customer(row)
            if customer.customer_key:
                self._by_key[customer.program_id, customer.customer_key] = customer

    def _from_click(self, row: Any) -> Customer:
        return Customer(
            program_id=row.of_program_id,
            id=ids.after(self._at, 1)[0],
            partner_id=row.of_partner_id,
            partner_status=PartnerStatus(row.partner_status),
            click_id=row.of_click_id,
            clicked_at=from_millis(row.of_clicked_at),
            created_at=self._at,
        )


def save(connection: Connection, changed: Iterable[Customer]) -> None:
    """Write new and changed customers. Raises StaleReadError if another transaction wrote first.

    Those without a key are first, so that a key which moves is free when its new customer is written.
    """
    rows = [_row(customer) for customer in sorted(changed, key=lambda each: each.customer_key is not None)]
    if rows and len(_save(connection, rows)) != len(rows):
        raise StaleReadError


def _look_ups(query: CustomerQuery) -> Iterator[tuple[int, str | None, str | None]]:
    """Yield the rows that look a call up: one, or two where its click names another program."""
    program_id, customer_key, click_program_id, click_id = query
    if click_program_id is None or click_program_id == program_id:
        yield program_id, customer_key, click_id if click_program_id else None
    else:
        yield program_id, customer_key, None
        yield click_program_id, None, click_id


def _customer(row: Any) -> Customer:
    values = {name: getattr(row, name) for name in _save.columns}
    for name in _MOMENTS:
        values[name] = None if values[name] is None else from_millis(values[name])
    values["status"] = CustomerStatus(values["status"])
    values["settlement"] = Settlement(values["settlement"])
    values["confirmed"] = bool(values["confirmed"])
    return Customer(partner_status=PartnerStatus(row.partner_status), **values)


def _row(customer: Customer) -> list[Any]:
    customer.revision += 1
    values = [getattr(customer, name) for name in _save.columns]
    return [to_millis(value) if isinstance(value, datetime) else value for value in values]
