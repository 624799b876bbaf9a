"""Customers: looked up by key or click, created from a click at the first lead or sale, saved once per batch."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Boolean, Connection, Text, and_, select

from storage.engine import ids
from storage.engine.failures import StaleReadError
from storage.engine.statements import Parameters, Prepared, insert_parameters
from storage.rules.attribution import PartnerStatus
from storage.rules.settlement import CustomerStatus, Settlement
from storage.tables import clicks, customers, partners
from storage.tables.columns import from_millis, to_millis


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
        if row.k_id is not None:
            known = self._by_click.get((row.k_program_id, row.k_click_id)) or _customer(row, "k_")
            self._by_key[known.program_id, row.k_customer_key] = known
            self._by_click[known.program_id, known.click_id] = known
        if row.x_click_id is not None and (row.x_program_id, row.x_click_id) not in self._by_click:
            customer = _customer(row, "c_") if row.c_id is not None else self._from_click(row)
            self._by_click[customer.program_id, customer.click_id] = customer
            if customer.customer_key:
                self._by_key[customer.program_id, customer.customer_key] = customer

    def _from_click(self, row: Any) -> Customer:
        return Customer(
            program_id=row.x_program_id,
            id=ids.after(self._at, 1)[0],
            partner_id=row.x_partner_id,
            partner_status=PartnerStatus(row.x_partner_status),
            click_id=row.x_click_id,
            clicked_at=from_millis(row.x_at),
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


def _customer(row: Any, prefix: str) -> Customer:
    values = {name: getattr(row, prefix + name) for name in _COLUMNS}
    for name in _MOMENTS:
        values[name] = None if values[name] is None else from_millis(values[name])
    values["status"] = CustomerStatus(values["status"])
    values["settlement"] = Settlement(values["settlement"])
    values["confirmed"] = bool(values["confirmed"])
    return Customer(partner_status=PartnerStatus(getattr(row, f"{prefix}partner_status")), **values)


def _row(customer: Customer) -> list[Any]:
    customer.revision += 1
    values = [getattr(customer, name) for name in _COLUMNS]
    return [to_millis(value) if isinstance(value, datetime) else value for value in values]


_MOMENTS = ("clicked_at", "created_at", "signup_at", "first_purchase_at")
_TYPES: dict[str, Any] = {column.name: Text() for column in customers.c}
_TYPES |= {name: BigInteger() for name in ("program_id", "id", "partner_id", "revision", *_MOMENTS)}
_TYPES["confirmed"] = Boolean()
_COLUMNS = tuple(_TYPES)
_CHANGING = [name for name in _COLUMNS if name not in {"program_id", "id", "partner_id", "click_id", "created_at"}]


def _build_find(_: Callable[..., Any]) -> Any:
    parameters = Parameters(program_id=BigInteger(), customer_key=Text(), click_id=Text())
    program_id = parameters.program_id
    keyed, clicked = customers.alias("keyed"), customers.alias("clicked")
    sent_keyed, sent = partners.alias("sent_keyed"), partners.alias("sent")
    same_click = and_(
        clicked.c.program_id == clicks.c.program_id, clicked.c.click_id == clicks.c.click_id, parameters.reach(clicked)
    )
    joined = (
        parameters.rows.outerjoin(
            keyed, and_(keyed.c.program_id == program_id, keyed.c.customer_key == parameters.customer_key)
        )
        .outerjoin(sent_keyed, _of(sent_keyed, keyed, parameters))
        .outerjoin(clicks, and_(clicks.c.program_id == program_id, clicks.c.click_id == parameters.click_id))
        .outerjoin(sent, _of(sent, clicks, parameters))
        .outerjoin(clicked, same_click)
    )
    return select(
        *(keyed.c[name].label(f"k_{name}") for name in _COLUMNS),
        sent_keyed.c.status.label("k_partner_status"),
        *(clicked.c[name].label(f"c_{name}") for name in _COLUMNS),
        sent.c.status.label("c_partner_status"),
        clicks.c.program_id.label("x_program_id"),
        clicks.c.click_id.label("x_click_id"),
        clicks.c.partner_id.label("x_partner_id"),
        clicks.c.at.label("x_at"),
        sent.c.status.label("x_partner_status"),
    ).select_from(joined)


def _of(partner: Any, row: Any, parameters: Parameters) -> Any:
    """Match the partner of a customer or a click."""
    return and_(partner.c.program_id == row.c.program_id, partner.c.id == row.c.partner_id, parameters.reach(partner))


def _build_save(insert: Callable[..., Any]) -> Any:
    statement = insert_parameters(insert, customers, Parameters(**_TYPES))
    return statement.on_conflict_do_update(
        index_elements=["program_id", "id"],
        set_={name: statement.excluded[name] for name in _CHANGING},
        where=customers.c.revision == statement.excluded.revision - 1,
    ).returning(customers.c.id)


_find = Prepared(_build_find)
_save = Prepared(_build_save)
