"""Identifier health: sales whose customer keys match no lead, grouped by what they look like, with the likely fix."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, and_, select

from storage.rules import key_format
from storage.rules.errors import CustomerNotFound
from storage.rules.key_format import Difference, KeyFormat, LeadKeys, Mismatch
from storage.tables import customers, refused_calls, sales

MOST_SALES = 2000
MOST_LEADS = 20_000
EXAMPLES = 3
HOW = {
    Difference.LETTER_CASE: "Send the key in the letter case, and without the spaces, of the lead.",
    Difference.PREFIX: "Send the key with the same prefix at lead and sale.",
    Difference.SHAPE: "Send the id of your own user at lead and sale; not another system's id of the same person.",
}


class HealthState(StrEnum):
    """Unknown while there is no lead or no sale whose keys could be compared."""

    HEALTHY = "healthy"
    MISMATCHED = "mismatched"
    UNKNOWN = "unknown"


class Example(NamedTuple):
    """A key that a sale carried, and the lead's key that it was likely meant to be."""

    sale_key: str
    lead_key: str | None


class KeyMismatch(NamedTuple):
    """Unmatched keys that look alike; `lead_shapes` are the shapes that the leads' keys have."""

    difference: Difference
    shape: KeyFormat
    keys: int
    lead_shapes: tuple[KeyFormat, ...]
    likely_mapping: str
    examples: tuple[Example, ...]


class IdentifierHealth(NamedTuple):
    """How the keys of recent sales fit those of the leads; `not_referred` keys look right: nobody sent those customers.

    All are counts of different keys, over the newest sales and the refused calls of 30 days.
    """

    state: HealthState
    sale_keys: int
    matched: int
    not_referred: int
    groups: list[KeyMismatch]


def check_keys(connection: Connection, program_id: int) -> IdentifierHealth:
    """Return the identifier health of a program."""
    sale_keys = _sale_keys(connection, program_id)
    lead_keys = LeadKeys([*_lead_keys(connection, program_id), *_known(connection, program_id, sale_keys)])
    unmatched = {key: meant for key, meant in sale_keys.items() if key not in lead_keys}
    mismatches = {
        key: mismatch for key, meant in unmatched.items() if (mismatch := _mismatch(lead_keys, key, meant)) is not None
    }
    if mismatches:
        state = HealthState.MISMATCHED
    elif sale_keys and len(lead_keys):
        state = HealthState.HEALTHY
    else:
        state = HealthState.UNKNOWN
    not_referred = len(unmatched) - len(mismatches)
    groups = _grouped(mismatches, lead_keys)
    return IdentifierHealth(state, len(sale_keys), len(sale_keys) - len(unmatched), not_referred, groups)


def likely_key(connection: Connection, program_id: int, customer_key: str) -> str | None:
    """Return the lead's key that a customer_key without a lead was likely meant to be."""
    mismatch = LeadKeys(_lead_keys(connection, program_id)).mismatch(customer_key)
    return mismatch.meant if mismatch else None


def _mismatch(lead_keys: LeadKeys, key: str, meant: str | None) -> Mismatch | None:
    """Say how a key was meant; a sale that a click attributed proves it, whatever the two keys look like."""
    guessed = lead_keys.mismatch(key)
    if meant is None:
        return guessed
    difference = guessed.difference if guessed and guessed.meant == meant else Difference.SHAPE
    return Mismatch(difference, key_format.format_of(key), meant)


def _grouped(mismatches: dict[str, Mismatch], lead_keys: LeadKeys) -> list[KeyMismatch]:
    kinds: dict[tuple[Difference, KeyFormat], list[Example]] = {}
    for key, mismatch in mismatches.items():
        kinds.setdefault((mismatch.difference, mismatch.shape), []).append(Example(key, mismatch.meant))
    lead_shapes = tuple(sorted(lead_keys.shapes))
    groups = [
        KeyMismatch(difference, kind, len(found), lead_shapes, _mapping(difference, kind, lead_shapes), _best(found))
        for (difference, kind), found in kinds.items()
    ]
    return sorted(groups, key=lambda group: -group.keys)


def _best(examples: list[Example]) -> tuple[Example, ...]:
    return tuple(sorted(examples, key=lambda example: example.lead_key is None)[:EXAMPLES])


def _mapping(difference: Difference, kind: KeyFormat, lead_shapes: Iterable[KeyFormat]) -> str:
    led = " or ".join(lead_shapes)
    return f"Sales carry {kind} keys ({difference} differs), leads {led} keys. {HOW[difference]}"


def _sale_keys(connection: Connection, program_id: int) -> dict[str, str | None]:
    """Return the keys of recent sales, refused and recorded; with the customer's true key where a click named it."""
    refused = _newest(
        select(refused_calls.c.customer_key).where(
            refused_calls.c.program_id == program_id,
            refused_calls.c.call == "sale",
            refused_calls.c.code == CustomerNotFound.code,
            refused_calls.c.customer_key.is_not(None),
        ),
        refused_calls.c.id,
    )
    whose = and_(customers.c.program_id == sales.c.program_id, customers.c.id == sales.c.customer_id)
    recorded = _newest(
        select(sales.c.customer_key, customers.c.customer_key.label("meant"))
        .join(customers, whose)
        .where(sales.c.program_id == program_id, sales.c.customer_key.is_not(None)),
        sales.c.id,
    )
    keys: dict[str, str | None] = dict.fromkeys(connection.execute(refused).scalars())
    return keys | {row.customer_key: row.meant for row in connection.execute(recorded)}


def _lead_keys(connection: Connection, program_id: int) -> Iterable[str]:
    named = (customers.c.program_id == program_id, customers.c.customer_key.is_not(None))
    return connection.execute(
        _newest(select(customers.c.customer_key).where(*named), customers.c.id, MOST_LEADS)
    ).scalars()


def _known(connection: Connection, program_id: int, keys: Iterable[str]) -> Iterable[str]:
    """Return those of the keys that a customer carries, however long ago they signed up."""
    wanted = list(keys)
    for start in range(0, len(wanted), 500):
        some = customers.c.customer_key.in_(wanted[start : start + 500])
        yield from connection.execute(
            select(customers.c.customer_key).where(customers.c.program_id == program_id, some)
        ).scalars()


def _newest(rows: Select[Any], order: Any, most: int = MOST_SALES) -> Select[Any]:
    return rows.order_by(order.desc()).limit(most)
