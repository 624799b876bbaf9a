"""What a typed identifier names in many programs, read by an index or among a bounded number of rows."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import Connection

from storage.engine.statements import read_statement
from storage.rules import contact

MOST = 10
MOST_REJECTED = 1_000  # of each log, the newest: it has no index by identifier
MOST_LOGS = 20
LARGEST_ID = 2**62
HASH_DIGITS = 64
_NAMES, _OF_REJECTED = read_statement("identifier_names"), read_statement("rejected_names")


class Named(NamedTuple):
    """A program, and an identifier of it: `kind` is `transaction_id`, `customer_key` or `click_id`."""

    program_id: int
    kind: str
    value: str


def find_named(connection: Connection, program_ids: Sequence[int], typed: str) -> Iterator[Named]:
    """Yield what has this identifier, e-mail address or its hash; last, what rejected calls of the first programs say.

    A commission's id stands for its sale; of a lead's commission, for the customer.
    """
    if not program_ids:
        return
    is_hash = len(typed) == HASH_DIGITS
    email_hash = contact.protect(typed).hash if contact.is_email(typed) else typed.lower() if is_hash else None
    is_id = typed.isascii() and typed.isdigit() and int(typed) < LARGEST_ID
    sought = {"typed": typed, "email_hash": email_hash, "row_id": int(typed) if is_id else None}
    for row in connection.execute(_NAMES, {"program_ids": program_ids, **sought, "most": MOST}):
        yield Named(*row)
    for program_id in program_ids[:MOST_LOGS]:
        log = {"program_id": program_id, "typed": typed, "most": MOST_REJECTED}
        for kind in connection.execute(_OF_REJECTED, log).scalars():
            yield Named(program_id, kind, typed)
