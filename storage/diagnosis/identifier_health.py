"""Identifier health: sales whose customer keys match no lead, grouped by format, with the likely fix."""

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import NamedTuple

from sqlalchemy import Connection, and_, or_, select

from storage.rules.errors import CustomerNotFound, IdentifierConflict
from storage.rules.key_format import Difference, KeyFormat, LeadKeys, Mismatch, format_of
from storage.rules.untrusted import Untrusted
from storage.tables import customers, leads, refused_calls, sales

MOST_SALES = 2000
MOST_LEADS = 20_000
EXAMPLES = 3
UNMATCHED = {CustomerNotFound.code, IdentifierConflict.code}  # of sales: no customer, or not the click's, has the key
HOW = {
    Difference.LETTER_CASE: "Send the key spelled as in the lead: letter case, spaces, dashes and underscores.",
    Difference.PREFIX: "Send the key with the same prefix in lead and sale.",
    Difference.SHAPE: "Send your own user id with both lead and sale, not another system's id of the same person.",
}


class HealthState(StrEnum):
    """Unknown while there are no keys of leads and sales to compare."""

    HEALTHY = "healthy"
    MISMATCHED = "mismatched"
    UNKNOWN = "unknown"


class Example(NamedTuple):
    """A key that a sale carried, and the lead's key that it was likely meant to be."""

    sale_key: Untrusted
    lead_key: Untrusted | None


class KeyMismatch(NamedTuple):
    """Unmatched keys of one format; `lead_shapes` are the formats of the leads' keys."""

    difference: Difference
    shape: KeyFormat
    keys: int
    lead_shapes: tuple[KeyFormat, ...]
    likely_mapping: str
    examples: tuple[Example, ...]


class IdentifierHealth(NamedTuple):
    """How the keys of sales agree with those of leads.

    All are counts of different keys, in the newest sales and in the sales rejected in the last 30 days.
    `matched` keys belong to a lead or to a credited sale. `not_referred` keys have the format of the leads' keys, but
    no partner sent those customers.
    """

    state: HealthState
    sale_keys: int
    matched: int
    not_referred: int
    groups: list[KeyMismatch]


def check_keys(connection: Connection, program_id: int) -> IdentifierHealth:
    """Return the identifier health of a program."""
    customer, sale, call = customers.c, sales.c, refused_calls.c
    of_customer = and_(customer.program_id == sale.program_id, customer.id == sale.customer_id)
    recorded = select(sale.customer_key, customer.customer_key).join(customers, of_customer)
    mine = recorded.where(sale.program_id == program_id, sale.customer_key.is_not(None))
    credited = dict[str, str | None](connection.execute(mine.order_by(sale.id.desc()).limit(MOST_SALES)).all())
    unmatched = (call.call == "sale", call.code.in_(UNMATCHED), call.customer_key.is_not(None))
    rejected = select(call.customer_key).where(call.program_id == program_id, *unmatched)
    sent = connection.execute(rejected.order_by(call.id.desc()).limit(MOST_SALES)).scalars()
    found = compare(connection, program_id, set(sent), credited)
    if found.mismatches:
        state = HealthState.MISMATCHED
    elif found.sale_keys and (found.known or found.has_keyed_leads):
        state = HealthState.HEALTHY
    else:
        state = HealthState.UNKNOWN
    not_referred = len(found.sale_keys - found.known - credited.keys() - found.mismatches.keys())
    matched = len(found.sale_keys) - len(found.mismatches) - not_referred
    kinds: dict[tuple[Difference, KeyFormat], list[Example]] = {}
    for key, mismatch in found.mismatches.items():
        kinds.setdefault((mismatch.difference, mismatch.shape), []).append(Example(key, mismatch.meant))
    groups, shapes = [], tuple(sorted(found.lead_keys.shapes))
    for (difference, kind), pairs in kinds.items():
        formats = f"Sales carry {kind} keys ({difference} differs), and leads carry {' or '.join(shapes)} keys."
        best = tuple(sorted(pairs, key=lambda example: example.lead_key is None)[:EXAMPLES])
        groups.append(KeyMismatch(difference, kind, len(pairs), shapes, f"{formats} {HOW[difference]}", best))
    groups.sort(key=lambda group: -group.keys)
    return IdentifierHealth(state, len(found.sale_keys), matched, not_referred, groups)


def likely_key(connection: Connection, program_id: int, customer_key: str) -> str | None:
    """Return the key of a newest lead that a customer_key without a lead was likely meant to be."""
    mismatch = LeadKeys(_lead_keys(connection, program_id, with_key=False)).mismatch(customer_key)
    guessed = mismatch.meant if mismatch else None
    return guessed or _meant(connection, program_id, {customer_key})[customer_key]


class ComparedKeys(NamedTuple):
    """The keys of sales and leads; those of the sales' keys that customers carry, and how the others differ."""

    sale_keys: set[str]
    lead_keys: LeadKeys
    has_keyed_leads: bool
    known: set[str]
    mismatches: dict[str, Mismatch]


def compare(
    connection: Connection, program_id: int, rejected: Collection[str], credited: Mapping[str, str | None] | None = None
) -> ComparedKeys:
    """Compare keys of rejected sales, and of credited ones with their customers' keys, with those of the leads.

    A click that attributed the sale identifies the key that was meant, whatever the keys' formats.
    """
    sale_keys = _meant(connection, program_id, rejected) | dict(credited or {})
    columns = (customers.c.customer_key, customers.c.known_as)
    carried = or_(*(column.in_(list(sale_keys)) for column in columns))
    rows = connection.execute(select(*columns).where(customers.c.program_id == program_id, carried))
    known = {key for row in rows for key in row} & sale_keys.keys()
    keyed = _lead_keys(connection, program_id)
    lead_keys = LeadKeys(keyed or _lead_keys(connection, program_id, with_key=False))
    mismatches = {}
    for key, meant in sale_keys.items():
        if key in known:
            continue
        mismatch = lead_keys.mismatch(key)
        if meant is not None and (mismatch is None or mismatch.meant != meant):
            mismatch = Mismatch(Difference.SHAPE, format_of(key), meant)
        if mismatch is not None:
            mismatches[key] = mismatch
    return ComparedKeys(set(sale_keys), lead_keys, bool(keyed), known, mismatches)


def _meant(connection: Connection, program_id: int, sent: Collection[str]) -> dict[str, str | None]:
    """Return each sent key with the lead's key of another format that the call's click, or recorded sale, proves."""
    call, customer, sale = refused_calls.c, customers.c, sales.c
    of_click = and_(customer.program_id == call.program_id, customer.click_id == call.click_id)
    same = and_(sale.program_id == call.program_id, sale.transaction_id == call.transaction_id)
    buyer = and_(customer.program_id == sale.program_id, customer.id == sale.customer_id)
    pairs = select(call.customer_key, customer.customer_key)
    mine = (call.program_id == program_id, call.call == "sale", call.customer_key.in_(list(sent)))
    meant: dict[str, str | None] = dict.fromkeys(sent)
    sources = (refused_calls.join(sales, same).join(customers, buyer), refused_calls.join(customers, of_click))
    for source in sources:
        rows = connection.execute(pairs.select_from(source).where(*mine))
        meant |= {key: carried for key, carried in rows if carried and format_of(key) != format_of(carried)}
    return meant


def _lead_keys(connection: Connection, program_id: int, *, with_key: bool = True) -> list[str]:
    """Return the newest keys of leads sent with the program key, or else of all: browsers' leads prove less."""
    mine = [customers.c.program_id == program_id, customers.c.customer_key.is_not(None)]
    if with_key:
        lead = select(leads.c.id).where(leads.c.program_id == program_id, leads.c.customer_id == customers.c.id)
        mine.append(lead.where(leads.c.with_key).exists())
    named = select(customers.c.customer_key).where(*mine).order_by(customers.c.id.desc())
    return list(connection.execute(named.limit(MOST_LEADS)).scalars())
