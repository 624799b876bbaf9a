"""How the event log reads each kind of event: its statement, its sort order among all kinds, its values."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, FromClause, Result, Select, String, Table, cast, func, literal, select

from storage.engine import ids
from storage.lists.declaration import Column
from storage.payments import event_log
from storage.rules import keys
from storage.rules.attribution import OUTRANKED
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
    A refund of a sale of `sale_cents` took back `reversed_cents` of the commission; it is `disputed` if the payment
    processor reported a dispute of its sale. `caller` is the program and the network that called with the key.
    `landing_url`, `page_url`, `page_title` and `referrer_url` come from browsers.
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
    tax_cents: int | None = None
    shipping_cents: int | None = None
    program_cents: Annotated[int | None, Column(is_program_money=True)] = None
    refunded_cents: int | None = None
    sale_cents: int | None = None
    reversed_cents: Annotated[int | None, Column(is_program_money=True)] = None
    disputed: bool | None = None
    reason: Untrusted | None = None
    occurred_at: datetime | None = None
    caller: Untrusted | None = None
    test_of: str | None = None
    landing_url: Untrusted | None = None
    page_url: Untrusted | None = None
    page_title: Untrusted | None = None
    referrer_url: Untrusted | None = None


Place = tuple[int, str, str]  # of an event in the log: microseconds of its id, its kind, and the id itself


class Source(NamedTuple):
    """How a kind is read: its id, its statement, and what outsiders wrote."""

    id: ColumnElement[Any]
    statement: Select[Any]
    texts: tuple[ColumnElement[Any], ...]


def beyond(kind: EventKind, place: Place, *, is_after: bool) -> ColumnElement[bool]:
    """Return the condition for events of a kind that come after (or else before) a place."""
    (stamp, its_kind, its_id), column = place, SOURCES[kind].id
    if kind == its_kind:
        same = column.type.python_type(its_id)
        return column > same if is_after else column < same
    if kind == EventKind.CLICK:  # the first of all kinds
        is_before = column < keys.click_prefix(stamp // 1000 + ids.EPOCH_MILLIS + 1)
    else:
        is_before = column <= stamp if kind < its_kind else column < stamp
    return ~is_before if is_after else is_before


def place(event: Event) -> Place:
    """Return the position of an event among events of all kinds."""
    is_click = not isinstance(event.id, int)
    stamp = (keys.click_millis(str(event.id)) - ids.EPOCH_MILLIS) * 1000 if is_click else int(event.id)
    return stamp, event.kind, str(event.id)


def sort_keys(kind: EventKind) -> Select[Any]:
    """Return the sort keys of a kind, and `key`, kind:id; refunds are below zero, amounts in the program's money."""
    source = SOURCES[kind]
    columns = source.statement.selected_columns
    sign = -1 if kind == EventKind.REFUND else 1

    def text(name: str) -> ColumnElement[Any]:
        return func.lower(func.coalesce(columns[name], "")) if name in columns else literal("", String)

    def cents(name: str) -> ColumnElement[Any]:
        is_money = "currency" in columns and name in columns
        return columns[name] * sign if is_money else literal(None, BigInteger)

    return source.statement.with_only_columns(
        (literal(f"{kind}:", String) + cast(source.id, String)).label("key"),
        text("partner_code").label("partner_code"),
        text("customer_key").label("customer_key"),
        cents("amount_cents").label("amount_cents"),
        func.coalesce(cents("program_cents"), 0).label("program_cents"),
        (columns.currency if "currency" in columns else literal(None, String)).label("currency"),
        maintain_column_froms=True,
    )


def of_rows(kind: EventKind, rows: Result[Any]) -> list[Event]:
    """Return the events that the statement of a kind has read."""
    return [Event(kind=kind, **{"is_test": False, **row}) for row in rows.mappings()]


def _with_people(table: Table, *columns: Any, of: FromClause | None = None) -> Select[Any]:
    """Return a statement with the partner and the customer of the table's rows."""
    sent_by = (partners.c.program_id == table.c.program_id) & (partners.c.id == table.c.partner_id)
    of_customer = (customers.c.program_id == table.c.program_id) & (customers.c.id == table.c.customer_id)
    joined = (table if of is None else of).join(partners, sent_by).join(customers, of_customer)
    who = (table.c.partner_id, partners.c.code.label("partner_code"), table.c.customer_id)
    return select(*columns, *who, customers.c.customer_key, customers.c.click_id).select_from(joined)


def _columns(table: Table, names: str) -> list[Any]:
    return [table.c[name] for name in names.split()]


_click, _sale, _test = clicks.c, sales.c, test_events.c
_sender = (partners.c.program_id == _click.program_id) & (partners.c.id == _click.partner_id)
_clicks = select(
    *(_click.click_id.label("id"), partners.c.code.label("partner_code")),
    *_columns(clicks, "click_id at partner_id filtered landing_url page_url page_title referrer_url"),
).join(partners, _sender)
_clicks = _clicks.where(_click.filtered.is_distinct_from(OUTRANKED))  # the visitor has another: it is no event
_leads = _with_people(leads, *_columns(leads, "id at settlement with_key event_name outranked_by outranked_at"))
_sales = _with_people(
    sales,
    *_columns(sales, "id at occurred_at transaction_id caller currency"),
    *_columns(sales, "amount_cents tax_cents shipping_cents program_cents refunded_cents"),
)
_refunds = _with_people(
    sales,
    *_columns(refunds, "id at sale_id refund_id amount_cents program_cents reason caller reversed_cents"),
    *(_sale.amount_cents.label("sale_cents"), _sale.transaction_id, _sale.currency),
    event_log.of_disputed_sale().label("disputed"),
    of=refunds.join(sales, (_sale.program_id == refunds.c.program_id) & (_sale.id == refunds.c.sale_id)),
).where(refunds.c.amount_cents != 0)
_tests = select(
    *_columns(test_events, "id at is_test customer_key click_id with_key event_name transaction_id amount_cents"),
    *(_test.refunded_cents, _test.email_mask.label("email_masked"), _test.kind.label("test_of")),
)
_TEXTS = tuple(_columns(clicks, "landing_url page_url page_title referrer_url dimensions"))  # the last with campaigns
SOURCES = {
    EventKind.CLICK: Source(clicks.c.click_id, _clicks, _TEXTS),
    EventKind.LEAD: Source(leads.c.id, _leads, (leads.c.event_name,)),
    EventKind.REFUND: Source(refunds.c.id, _refunds, (refunds.c.reason,)),
    EventKind.SALE: Source(sales.c.id, _sales, (sales.c.details,)),
    EventKind.TEST: Source(test_events.c.id, _tests, (test_events.c.event_name,)),
}
