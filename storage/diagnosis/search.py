"""Search: what an identifier names in many programs, read by an index or among a bounded number of rows."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, or_, select

from storage import tables
from storage.diagnosis import identifier_health, readiness
from storage.diagnosis.explanation import Explanation, explain
from storage.lists.partners import has
from storage.lists.related import has_key
from storage.rules import attribution, contact
from storage.rules.errors import AffMissing, InvalidAffiliateUrl

MOST = 10
MOST_REJECTED = 1_000  # of each log, the newest: it has no index by identifier
MOST_LOGS = 20
MOST_SILENT = 5
LARGEST_ID = 2**62
HASH_DIGITS = 64
_Named = tuple[int, str, str]  # the program, the kind of identifier as `explain` takes it, and its value


class Silence(NamedTuple):
    """A program where nothing has the identifier: the last call, the key's problem, in the first also a similar key."""

    program_id: int
    last_call_at: datetime | None
    key_problem: str | None
    likely_key: str | None = None


class SearchResult(NamedTuple):
    """What was found; `silences` only if there is neither a story nor a partner, and the search explains that.

    Of the partners' rows there are ten at most; `partners_of_first` is how many of them all the first program has.
    """

    stories: list[Explanation]
    partners: list[Any]
    silences: list[Silence]
    partners_of_first: int


def search(
    connection: Connection, program_ids: Sequence[int], typed: str, *, at: datetime, explains_silence: bool = True
) -> SearchResult:
    """Return what a text names in these programs; the first programs answer for an identifier that none has."""
    lookups = (_indexed, _customers, _commissions, _rejected)
    found = dict.fromkeys(each for lookup in lookups for each in lookup(connection, program_ids, typed))
    stories = [explain(connection, each, at=at, **{kind: value}) for each, kind, value in list(found)[:MOST]]
    named, of_first = _partners(connection, program_ids, typed)
    silent = program_ids[:MOST_SILENT] if explains_silence and not stories and not named else []
    silences = [_silence(connection, each, typed, at, is_first=n == 0) for n, each in enumerate(silent)]
    return SearchResult(stories, named, silences, of_first)


def _silence(connection: Connection, program_id: int, typed: str, at: datetime, *, is_first: bool) -> Silence:
    caller, call = tables.key_callers.c, tables.refused_calls.c
    called = select(func.max(caller.last_at)).where(caller.program_id == program_id)  # a minute behind
    rejected_at = select(call.at).where(call.program_id == program_id).order_by(call.id.desc()).limit(1)
    times = [connection.execute(statement).scalar() for statement in (called, rejected_at)]
    last_call_at = max(filter(None, times), default=None)
    rejected = readiness.check_key_accepted(connection, program_id, at=at)
    likely = identifier_health.likely_key(connection, program_id, typed) if is_first else None
    return Silence(program_id, last_call_at, rejected.next_action, likely)


def _partners(connection: Connection, program_ids: Sequence[int], typed: str) -> tuple[list[Any], int]:
    """Return the partners with this code or link, then whom the list finds, and how many the first program has."""
    try:
        text, _ = attribution.link_code(typed)
    except (InvalidAffiliateUrl, AffMissing):
        text = typed
    row = tables.partners.c
    found = select(tables.partners).where(row.program_id.in_(program_ids), has(text))
    ordered = found.order_by((row.code == text).desc(), row.program_id.in_(program_ids[:1]).desc(), row.id.desc())
    rows = list(connection.execute(ordered.limit(MOST)))
    of_first = select(func.count()).select_from(tables.partners).where(row.program_id.in_(program_ids[:1]), has(text))
    return rows, connection.execute(of_first).scalar_one() if len(rows) == MOST else len(rows)


def _indexed(connection: Connection, program_ids: Sequence[int], typed: str) -> Iterator[_Named]:
    """Yield the sales, tests and payments with this transaction_id or id of the processor, and the click."""
    named = (
        tables.sales.c.transaction_id,
        tables.test_events.c.transaction_id,
        tables.payment_references.c.reference,
        tables.payment_event_names.c.name,
        tables.payment_events.c.event_id,
        tables.clicks.c.click_id,
    )
    for column in named:
        program_id = column.table.c.program_id
        rows = select(program_id).where(program_id.in_(program_ids), column == typed).distinct().limit(MOST)
        kind = "click_id" if column.table is tables.clicks else "transaction_id"
        yield from ((each, kind, typed) for each in connection.execute(rows).scalars())


def _customers(connection: Connection, program_ids: Sequence[int], typed: str) -> Iterator[_Named]:
    """Yield the customers with this key, or with this e-mail address or its hash."""
    row = tables.customers.c
    conditions = [has_key(typed)]
    if contact.is_email(typed):
        conditions.append(row.email_hash == contact.protect(typed).hash)
    elif len(typed) == HASH_DIGITS:
        conditions.append(row.email_hash == typed.lower())
    for condition in conditions:
        rows = select(row.program_id, row.customer_key, row.click_id).where(row.program_id.in_(program_ids), condition)
        for each in connection.execute(rows.limit(MOST)):
            yield _customer(each)


def _commissions(connection: Connection, program_ids: Sequence[int], typed: str) -> Iterator[_Named]:
    """Yield the sale of the commission with this id; of a lead's commission, the customer."""
    if not (typed.isascii() and typed.isdigit() and int(typed) < LARGEST_ID):
        return
    row, customer = tables.commissions.c, tables.customers.c
    sold = (tables.sales.c.program_id == row.program_id) & (tables.sales.c.id == row.sale_id)
    earned = (customer.program_id == row.program_id) & (customer.id == row.customer_id)
    joined = tables.commissions.outerjoin(tables.sales, sold).join(tables.customers, earned)
    columns = (row.program_id, tables.sales.c.transaction_id, customer.customer_key, customer.click_id)
    mine = select(*columns).select_from(joined).where(row.program_id.in_(program_ids), row.id == int(typed))
    for each in connection.execute(mine.limit(MOST)):
        is_sale = each.transaction_id is not None
        yield (each.program_id, "transaction_id", each.transaction_id) if is_sale else _customer(each)


def _rejected(connection: Connection, program_ids: Sequence[int], typed: str) -> Iterator[_Named]:
    """Yield what the newest rejected calls of the first programs say about the identifier."""
    for program_id in program_ids[:MOST_LOGS]:
        call = tables.refused_calls.c
        newest = select(tables.refused_calls).where(call.program_id == program_id).order_by(call.id.desc())
        log = newest.limit(MOST_REJECTED).subquery().c
        sent = (log.transaction_id, log.customer_key, log.click_id)
        mine = select(*sent).where(or_(*(column == typed for column in sent))).limit(MOST)
        for each in connection.execute(mine).mappings():
            yield program_id, next(name for name, value in each.items() if value == typed), typed


def _customer(row: Any) -> _Named:
    kind = "customer_key" if row.customer_key else "click_id"
    return row.program_id, kind, getattr(row, kind)
