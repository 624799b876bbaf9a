"""Identifier health: sales whose customer keys match no lead, grouped by format, with the likely fix."""

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import NamedTuple

from sqlalchemy import Connection

from storage.engine.statements import read_statement
from storage.rules.errors import CustomerNotFound, IdentifierConflict
from storage.rules.key_format import Difference, KeyFormat, LeadKeys, Mismatch, format_of
from storage.rules.untrusted import Untrusted

_CREDITED, _REJECTED, _MEANT, _CARRIED, _OF_LEADS = (
    read_statement(f"keys_{name}") for name in ("credited", "rejected", "meant", "carried", "of_leads")
)
MOST_SALES = 2000
MOST_LEADS = 20_000
EXAMPLES = 3
UNMATCHED = (CustomerNotFound.code, IdentifierConflict.code)  # of sales: no customer, or not the click's, has the key
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
    newest = {"program_id": program_id, "codes": UNMATCHED, "most": MOST_SALES}
    credited = dict[str, str | None](connection.execute(_CREDITED, newest).all())
    rejected = set(connection.execute(_REJECTED, newest).scalars())
    found = compare(connection, program_id, rejected, credited)
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
    """Compare keys of rejected sales, and of credited ones with their customers' keys, with those of the leads."""
    sale_keys = _meant(connection, program_id, rejected) | dict(credited or {})
    rows = connection.execute(_CARRIED, {"program_id": program_id, "keys": list(sale_keys)})
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
    meant: dict[str, str | None] = dict.fromkeys(sent)
    pairs = connection.execute(_MEANT, {"program_id": program_id, "keys": list(sent)})
    return meant | {key: carried for key, carried in pairs if format_of(key) != format_of(carried)}


def _lead_keys(connection: Connection, program_id: int, *, with_key: bool = True) -> list[str]:
    """Return the newest keys of leads sent with the program key, or else of all: browsers' leads prove less."""
    newest = {"program_id": program_id, "with_key": with_key, "most": MOST_LEADS}
    return list(connection.execute(_OF_LEADS, newest).scalars())
