"""The names of payments: which sale has one of them, and what other events say that belongs to it."""

from sqlalchemy import Connection, select

from storage.payments import event_log, stored_events
from storage.rules.payment import Linked, Paid, PaymentOutcome
from storage.tables import payment_references


def find_sale(connection: Connection, program_id: int, references: tuple[str, ...]) -> str | None:
    """Return the transaction_id if this payment is already a sale; a checkout and its invoice are one payment."""
    known = payment_references.c
    mine = (known.program_id == program_id, known.reference.in_(references))
    return connection.execute(select(known.transaction_id).where(*mine).limit(1)).scalar()


def with_links(connection: Connection, program_id: int, paid: Paid) -> Paid:
    """Return a payment with the names that other events link to it."""
    stored = event_log.find(connection, program_id, paid.references)
    contents = [stored_events.load(row.payment) for row in stored if row.payment]
    linked = [name for each in contents if isinstance(each, Linked) for name in each.references]
    return paid._replace(references=tuple(dict.fromkeys((*paid.references, *linked))))


def whole_of(connection: Connection, program_id: int, paid: Paid) -> tuple[Paid | None, str]:
    """Return what a bare payment is part of, as its invoice or checkout reports it, and that event's outcome."""
    for row in event_log.find(connection, program_id, paid.references):
        content = stored_events.load(row.payment) if row.payment and row.outcome != PaymentOutcome.IGNORED else None
        if isinstance(content, Paid) and not content.is_bare:
            names = tuple(dict.fromkeys((*content.references, *paid.references)))
            named = content._replace(references=names, click_id=paid.click_id, customer_key=paid.customer_key)
            return named, row.outcome
    return None, ""
