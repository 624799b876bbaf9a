"""How the event log reads each kind of event: its statement, its sort order among all kinds, its values."""

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

from sqlalchemy import ColumnElement, Select, Table, and_, select

from storage.engine import ids
from storage.lists.declaration import Column
from storage.payments import disputes
from storage.rules import keys
from storage.rules.scope import Scope
from storage.rules.settlement import Settlement
from storage.rules.untrusted import Untrusted
from storage.tables import clicks, customers, leads, partners, refunds, sales, test_events


class EventKind(StrEnum):
    """The kind of an event. Of events with the same timestamp, the alphabetically later kind is listed first."""

    CLICK = "click"
    LEAD = "lead"
    REFUND = "refund"
    SALE = "sale"
    TEST = "test"


class Event(NamedTuple):
    """One event. Fields that its kind does not have are None; money is in cents of `currency`.

    A click's `id` is its click_id. A lead is `outranked_by` the customer to whom the server gave its customer_key.
    A refund took back `reversed_cents` of the commission; it is `disputed` if the payment processor reported a
    dispute of its sale. `landing_url`, `page_url`, `page_title` and `referrer_url` come from browsers.
    """

    at: Annotated[datetime, Column("When")]
    kind: Annotated[EventKind, Column("Event", sorts=True)]
    id: int | str
    is_test: bool
    partner_id: int | None = None
    partner_code: Annotated[Untrusted | None, Column("Partner", sorts=True)] = None
    customer_id: int | None = None
    customer_key: Annotated[Untrusted | None, Column("Customer", sorts=True)] = None
    click_id: str | None = None
    filtered: str | None = None
    settlement: Settlement | None = None
    with_key: bool | None = None
    event_name: Untrusted | None = None
    outranked_by: int | None = None
    outranked_at: datetime | None = None
    email_masked: Annotated[str | None, Column(needs=Scope.CUSTOMERS_READ)] = None
    sale_id: int | None = None
    transaction_id: Annotated[Untrusted | None, Column("Details")] = None
    refund_id: Untrusted | None = None
    amount_cents: Annotated[int | None, Column("Amount", sorts=True, is_summed=True)] = None
    currency: str | None = None
    program_cents: Annotated[int | None, Column(is_program_money=True)] = None
    refunded_cents: int | None = None
    reversed_cents: Annotated[int | None, Column(is_program_money=True)] = None
    disputed: bool | None = None
    reason: Untrusted | None = None
    occurred_at: datetime | None = None
    test_of: str | None = None
    landing_url: Untrusted | None = None
    page_url: Untrusted | None = None
    page_title: Untrusted | None = None
    referrer_url: Untrusted | None = None


class Place(NamedTuple):
    """The position of an event in the log: microseconds of its id, its kind, and the id itself."""

    stamp: int
    kind: str
    id: str


Beyond = Callable[[Place], ColumnElement[bool]]


class Source(NamedTuple):
    """A kind's statement, the column that orders it, and the conditions for events before and after a place."""

    statement: Select[Any]
    order: ColumnElement[Any]
    before: Beyond
    after: Beyond


def source(kind: EventKind) -> Source:
    """Return how a kind of event is read."""
    if kind == EventKind.CLICK:
        return Source(_of_clicks(), clicks.c.click_id, _click_before, _click_after)
    table = {
        EventKind.LEAD: leads,
        EventKind.REFUND: refunds,
        EventKind.SALE: sales,
        EventKind.TEST: test_events,
    }[kind]
    statement = {
        EventKind.LEAD: _of_leads,
        EventKind.REFUND: _of_refunds,
        EventKind.SALE: _of_sales,
        EventKind.TEST: _of_tests,
    }[kind]()

    def before(place: Place) -> ColumnElement[bool]:
        column: ColumnElement[int] = table.c.id
        return column <= place.stamp if kind < place.kind else column < place.stamp

    def after(place: Place) -> ColumnElement[bool]:
        column: ColumnElement[int] = table.c.id
        return column >= place.stamp if kind > place.kind else column > place.stamp

    return Source(statement, table.c.id, before, after)


def place(event: Event) -> Place:
    """Return the position of an event among events of all kinds."""
    if isinstance(event.id, int):
        return Place(event.id, event.kind, str(event.id))
    stamp = (keys.click_millis(event.id) - ids.EPOCH_MILLIS) * 1000
    return Place(stamp, event.kind, event.id)


def of_row(kind: EventKind, row: Any) -> Event:
    """Read an event from a row of its kind's statement."""
    columns: dict[str, Any] = {"is_test": False, **row._mapping}  # noqa: SLF001 - the documented way to read a Row by names
    return Event(kind=kind, **columns)


def _click_before(place: Place) -> ColumnElement[bool]:
    if place.kind == EventKind.CLICK:
        return clicks.c.click_id < place.id
    next_millisecond = place.stamp // 1000 + ids.EPOCH_MILLIS + 1
    return clicks.c.click_id < keys.click_prefix(next_millisecond)


def _click_after(place: Place) -> ColumnElement[bool]:
    return clicks.c.click_id > place.id if place.kind == EventKind.CLICK else ~_click_before(place)


def _sent_by(table: Table) -> Any:
    return and_(partners.c.program_id == table.c.program_id, partners.c.id == table.c.partner_id)


def _of_customer(table: Table) -> Any:
    return and_(customers.c.program_id == table.c.program_id, customers.c.id == table.c.customer_id)


def _of_clicks() -> Select[Any]:
    click = clicks.c
    visited = (click.filtered, click.landing_url, click.page_url, click.page_title, click.referrer_url)
    columns = (click.click_id.label("id"), click.click_id, click.at, click.partner_id, *visited)
    return select(*columns, partners.c.code.label("partner_code")).join(partners, _sent_by(clicks))


def _of_leads() -> Select[Any]:
    lead = leads.c
    reported = (lead.settlement, lead.with_key, lead.event_name, lead.outranked_by, lead.outranked_at)
    columns = (lead.id, lead.at, lead.partner_id, lead.customer_id, *reported)
    who = (customers.c.customer_key, customers.c.click_id, partners.c.code.label("partner_code"))
    return select(*columns, *who).join(partners, _sent_by(leads)).join(customers, _of_customer(leads))


def _of_sales() -> Select[Any]:
    sale = sales.c
    money = (sale.amount_cents, sale.currency, sale.program_cents, sale.refunded_cents, sale.occurred_at)
    columns = (sale.id, sale.at, sale.partner_id, sale.customer_id, sale.transaction_id, *money)
    who = (customers.c.customer_key, customers.c.click_id, partners.c.code.label("partner_code"))
    return select(*columns, *who).join(partners, _sent_by(sales)).join(customers, _of_customer(sales))


def _of_refunds() -> Select[Any]:
    back, sale = refunds.c, sales.c
    columns = (back.id, back.at, back.sale_id, back.refund_id, back.amount_cents, back.program_cents, back.reason)
    effects = (back.reversed_cents, disputes.of_refund().label("disputed"))
    of_sale = (sale.transaction_id, sale.currency, sale.partner_id, sale.customer_id)
    who = (customers.c.customer_key, customers.c.click_id, partners.c.code.label("partner_code"))
    whole = refunds.join(sales, and_(sale.program_id == back.program_id, sale.id == back.sale_id))
    joined = whole.join(partners, _sent_by(sales)).join(customers, _of_customer(sales))
    return select(*columns, *effects, *of_sale, *who).select_from(joined)


def _of_tests() -> Select[Any]:
    test = test_events.c
    who = (test.customer_key, test.click_id, test.event_name, test.email_mask.label("email_masked"))
    columns = (
        test.id,
        test.at,
        test.is_test,
        *who,
        test.with_key,
        test.transaction_id,
        test.amount_cents,
        test.refunded_cents,
    )
    return select(*columns, test.kind.label("test_of"))
