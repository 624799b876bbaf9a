"""Finds what a typed identifier names, in many programs at once: by an index, or among a bounded number of rows."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, or_, select

from storage.rules import attribution, contact
from storage.rules.attribution import PartnerStatus
from storage.rules.errors import AffMissing, InvalidAffiliateUrl
from storage.tables import (
    clicks,
    commissions,
    customers,
    key_callers,
    leads,
    partners,
    payment_event_names,
    payment_events,
    payment_references,
    refused_calls,
    sales,
    test_events,
)

MOST = 10
MOST_REJECTED = 1_000  # of each log, the newest: it has no index by identifier
MOST_LOGS = 20
MOST_PARTNERS = 5_000  # in all programs, the newest of the first one before: names have no index
LARGEST_ID = 2**62
HASH_DIGITS = 64


class Named(NamedTuple):
    """What an identifier names in a program, as `explain` takes it: the kind of identifier, and its value."""

    program_id: int
    kind: str
    value: str


class FoundPartner(NamedTuple):
    """A partner whose name, code, link or e-mail address was typed."""

    program_id: int
    id: int
    name: str
    code: str
    status: PartnerStatus


def find_named(connection: Connection, program_ids: Sequence[int], typed: str) -> list[Named]:
    """Return what an identifier names: a sale, payment, commission, customer, click or rejected call; a few at most."""
    lookups = (_transactions, _customers, _clicks, _commissions, _rejected)
    found = chain.from_iterable(lookup(connection, program_ids, typed) for lookup in lookups)
    return list(dict.fromkeys(found))[:MOST]


def find_partners(connection: Connection, program_ids: Sequence[int], typed: str) -> list[FoundPartner]:
    """Return the partners with this code, link, e-mail address or part of a name; a few at most."""
    code, part = _code(typed), typed.casefold()
    row = partners.c
    mine = select(*(row[name] for name in FoundPartner._fields), row.email)
    exact = connection.execute(mine.where(row.program_id.in_(program_ids), row.code == code).limit(MOST))
    found = {each.id: _partner(each) for each in exact}
    first = mine.where(row.program_id.in_(program_ids[:1])).order_by(row.id.desc())
    others = mine.where(row.program_id.in_(program_ids[1:]))
    named = list(connection.execute(first.limit(MOST_PARTNERS)))
    named += connection.execute(others.limit(MOST_PARTNERS - len(named)))
    for each in named:
        if part in each.name.casefold() or part in each.code.casefold() or part == (each.email or "").casefold():
            found.setdefault(each.id, _partner(each))
    return list(found.values())[:MOST]


def last_call_at(connection: Connection, program_id: int) -> datetime | None:
    """Return when the program's server last sent a call with a program key; None if it never did."""
    sent = select(func.max(key_callers.c.last_at)).where(key_callers.c.program_id == program_id)  # a minute behind
    times = [connection.execute(sent).scalar()]
    for table in (leads, sales, refused_calls):
        newest = select(table.c.at).where(table.c.program_id == program_id).order_by(table.c.id.desc())
        mine = newest.where(table.c.with_key) if table is leads else newest
        times.append(connection.execute(mine.limit(1)).scalar())
    return max((at for at in times if at is not None), default=None)


def _transactions(connection: Connection, program_ids: Sequence[int], typed: str) -> Iterator[Named]:
    """Yield the sales, tests and payments with this transaction_id or id of the processor."""
    named = (
        sales.c.transaction_id,
        test_events.c.transaction_id,
        payment_references.c.reference,
        payment_event_names.c.name,
        payment_events.c.event_id,
    )
    for column in named:
        program_id = column.table.c.program_id
        rows = select(program_id).where(program_id.in_(program_ids), column == typed).distinct().limit(MOST)
        yield from (Named(each, "transaction_id", typed) for each in connection.execute(rows).scalars())


def _customers(connection: Connection, program_ids: Sequence[int], typed: str) -> Iterator[Named]:
    """Yield the customers with this key, or with this e-mail address or its hash."""
    row = customers.c
    conditions = [row.customer_key == typed]
    if contact.is_email(typed):
        conditions.append(row.email_hash == contact.protect(typed).hash)
    elif len(typed) == HASH_DIGITS:
        conditions.append(row.email_hash == typed.lower())
    for condition in conditions:
        rows = select(row.program_id, row.customer_key, row.click_id).where(row.program_id.in_(program_ids), condition)
        for each in connection.execute(rows.limit(MOST)):
            yield _customer(each)


def _clicks(connection: Connection, program_ids: Sequence[int], typed: str) -> Iterator[Named]:
    rows = select(clicks.c.program_id).where(clicks.c.program_id.in_(program_ids), clicks.c.click_id == typed)
    yield from (Named(each, "click_id", typed) for each in connection.execute(rows.limit(MOST)).scalars())


def _commissions(connection: Connection, program_ids: Sequence[int], typed: str) -> Iterator[Named]:
    """Yield the sale of the commission with this id; of a lead's commission, the customer."""
    if not (typed.isascii() and typed.isdigit() and int(typed) < LARGEST_ID):
        return
    row, customer = commissions.c, customers.c
    sold = (sales.c.program_id == row.program_id) & (sales.c.id == row.sale_id)
    earned = (customer.program_id == row.program_id) & (customer.id == row.customer_id)
    joined = commissions.outerjoin(sales, sold).join(customers, earned)
    columns = (row.program_id, sales.c.transaction_id, customer.customer_key, customer.click_id)
    mine = select(*columns).select_from(joined).where(row.program_id.in_(program_ids), row.id == int(typed))
    for each in connection.execute(mine.limit(MOST)):
        is_sale = each.transaction_id is not None
        yield Named(each.program_id, "transaction_id", each.transaction_id) if is_sale else _customer(each)


def _rejected(connection: Connection, program_ids: Sequence[int], typed: str) -> Iterator[Named]:
    """Yield what the newest rejected calls of the first programs say about the identifier."""
    for program_id in program_ids[:MOST_LOGS]:
        call = refused_calls.c
        newest = select(refused_calls).where(call.program_id == program_id).order_by(call.id.desc())
        log = newest.limit(MOST_REJECTED).subquery().c
        sent = (log.transaction_id, log.customer_key, log.click_id)
        mine = select(*sent).where(or_(*(column == typed for column in sent))).limit(MOST)
        for each in connection.execute(mine).mappings():
            yield Named(program_id, next(name for name, value in each.items() if value == typed), typed)


def _customer(row: Any) -> Named:
    key: str | None = row.customer_key
    return Named(row.program_id, "customer_key", key) if key else Named(row.program_id, "click_id", row.click_id)


def _code(typed: str) -> str:
    """Return the partner code in a link; what was typed if it is no link."""
    try:
        return attribution.link_code(typed).code
    except (InvalidAffiliateUrl, AffMissing):
        return typed


def _partner(row: Any) -> FoundPartner:
    values = {name: getattr(row, name) for name in FoundPartner._fields}
    return FoundPartner(**values | {"status": PartnerStatus(row.status)})
