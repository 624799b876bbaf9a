"""Identifier health: sales whose customer keys match no lead, grouped by format, with the likely fix."""

from enum import StrEnum
from typing import NamedTuple

from sqlalchemy import Connection, and_, select

from storage.rules.errors import CustomerNotFound, IdentifierConflict
from storage.rules.key_format import Difference, KeyFormat, LeadKeys, Mismatch, format_of
from storage.rules.untrusted import Untrusted
from storage.tables import customers, leads, refused_calls, sales

MOST_SALES = 2000
MOST_LEADS = 20_000
EXAMPLES = 3
HOW = {
    Difference.LETTER_CASE: "Send the key in the same letter case and without spaces, as in the lead.",
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
    credited = _credited_keys(connection, program_id)
    sale_keys = _rejected_keys(connection, program_id) | credited
    known: set[str] = set()
    for column in (customers.c.customer_key, customers.c.known_as):
        carried = (customers.c.program_id == program_id, column.in_(list(sale_keys)))
        known |= set(connection.execute(select(column).where(*carried)).scalars())
    keyed = _lead_keys(connection, program_id)
    lead_keys = LeadKeys(keyed or _lead_keys(connection, program_id, with_key=False))
    mismatches = {
        key: mismatch
        for key, meant in sale_keys.items()
        if key not in known and (mismatch := _mismatch(lead_keys, key, meant)) is not None
    }
    if mismatches:
        state = HealthState.MISMATCHED
    elif sale_keys and (known or keyed):
        state = HealthState.HEALTHY
    else:
        state = HealthState.UNKNOWN
    not_referred = len(sale_keys.keys() - known - credited.keys() - mismatches.keys())
    matched = len(sale_keys) - len(mismatches) - not_referred
    return IdentifierHealth(state, len(sale_keys), matched, not_referred, _grouped(mismatches, lead_keys))


def likely_key(
    connection: Connection, program_id: int, customer_key: str, *, most_leads: int = MOST_LEADS
) -> str | None:
    """Return the key of a newest lead that a customer_key without a lead was likely meant to be."""
    mismatch = LeadKeys(_lead_keys(connection, program_id, with_key=False)[:most_leads]).mismatch(customer_key)
    return mismatch.meant if mismatch else None


def _mismatch(lead_keys: LeadKeys, key: str, meant: str | None) -> Mismatch | None:
    """Return which key was meant. A click that attributed the sale identifies it, whatever the keys' formats."""
    guessed = lead_keys.mismatch(key)
    if meant is None:
        return guessed
    difference = guessed.difference if guessed and guessed.meant == meant else Difference.SHAPE
    return Mismatch(difference, format_of(key), meant)


def _grouped(mismatches: dict[str, Mismatch], lead_keys: LeadKeys) -> list[KeyMismatch]:
    kinds: dict[tuple[Difference, KeyFormat], list[Example]] = {}
    for key, mismatch in mismatches.items():
        kinds.setdefault((mismatch.difference, mismatch.shape), []).append(Example(key, mismatch.meant))
    lead_shapes, groups = tuple(sorted(lead_keys.shapes)), []
    for (difference, kind), pairs in kinds.items():
        formats = f"Sales carry {kind} keys ({difference} differs), and leads carry {' or '.join(lead_shapes)} keys."
        best = tuple(sorted(pairs, key=lambda example: example.lead_key is None)[:EXAMPLES])
        groups.append(KeyMismatch(difference, kind, len(pairs), lead_shapes, f"{formats} {HOW[difference]}", best))
    return sorted(groups, key=lambda group: -group.keys)


def _rejected_keys(connection: Connection, program_id: int) -> dict[str, str | None]:
    """Return the keys of the newest sales that were rejected because no customer, or not the click's, carries them.

    Each comes with the key that the click's customer carries, if its format is another; else it may be of another user.
    """
    call = refused_calls.c
    codes = (CustomerNotFound.code, IdentifierConflict.code)
    unmatched = (call.call == "sale", call.code.in_(codes), call.customer_key.is_not(None))
    of_click = and_(customers.c.program_id == call.program_id, customers.c.click_id == call.click_id)
    pairs = select(call.customer_key, customers.c.customer_key).outerjoin_from(refused_calls, customers, of_click)
    rejected = pairs.where(call.program_id == program_id, *unmatched)
    rows = connection.execute(rejected.order_by(call.id.desc()).limit(MOST_SALES))
    return {key: meant if meant and format_of(meant) != format_of(key) else None for key, meant in rows}


def _credited_keys(connection: Connection, program_id: int) -> dict[str, str | None]:
    """Return the keys of the newest recorded sales, each with the key that the customer carries, if any."""
    of_customer = and_(customers.c.program_id == sales.c.program_id, customers.c.id == sales.c.customer_id)
    pairs = select(sales.c.customer_key, customers.c.customer_key).join(customers, of_customer)
    recorded = pairs.where(sales.c.program_id == program_id, sales.c.customer_key.is_not(None))
    newest = recorded.order_by(sales.c.id.desc()).limit(MOST_SALES)
    return dict[str, str | None](connection.execute(newest).all())


def _lead_keys(connection: Connection, program_id: int, *, with_key: bool = True) -> list[str]:
    """Return customers' keys, newest first: those of leads sent with the program key if any, else all.

    Anyone can send a lead from a browser, so such a lead cannot say which format the keys have.
    """
    mine = [customers.c.program_id == program_id, customers.c.customer_key.is_not(None)]
    if with_key:
        lead = select(leads.c.id).where(leads.c.program_id == program_id, leads.c.customer_id == customers.c.id)
        mine.append(lead.where(leads.c.with_key).exists())
    named = select(customers.c.customer_key).where(*mine).order_by(customers.c.id.desc())
    return list(connection.execute(named.limit(MOST_LEADS)).scalars())
