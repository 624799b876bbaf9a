"""Reviews: read what the rules about fraud look at, run them, and return what was never flagged."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection, select

from storage.management import flags, fraud_facts
from storage.rules.fraud.customer_signs import signs_in_customers
from storage.rules.fraud.flag import Finding
from storage.rules.fraud.partner_signs import signs_in_clicks, signs_in_counts
from storage.tables import programs

OVERLAP = timedelta(hours=1)  # clicks and sales of the hour before midnight are reviewed after it


def recent(connection: Connection, program_id: int, *, since: datetime) -> list[Finding]:
    """Return the new findings about the customers who earned a commission since a time."""
    return _of_customers(connection, program_id, fraud_facts.recent_customers(connection, program_id, since))


def before_decision(connection: Connection, program_id: int, commission_ids: Sequence[int]) -> list[Finding]:
    """Return the new findings about the customers of commissions that are about to be approved or paid."""
    return _of_customers(connection, program_id, fraud_facts.customers_of(connection, program_id, commission_ids))


def whole(connection: Connection, program_id: int, *, since: datetime, at: datetime) -> list[Finding]:
    """Return the new findings about recent customers, the clicks of the day and the partners' month."""
    found = list(recent(connection, program_id, since=since))
    allowed = fraud_facts.paid_ads(connection, program_id)
    starts = [each.replace(hour=0, minute=0, second=0, microsecond=0) for each in (at - OVERLAP, at)]
    for day in dict.fromkeys(starts):
        found += signs_in_clicks(fraud_facts.of_day(connection, program_id, day), day, paid_ads=allowed)
    for month in dict.fromkeys(day.replace(day=1) for day in starts):
        found += signs_in_counts(fraud_facts.of_month(connection, program_id, month), month)
    return flags.unknown(connection, program_id, found)


def all_programs(connection: Connection) -> list[int]:
    """Return the ids of all programs."""
    return list(connection.execute(select(programs.c.id).order_by(programs.c.id)).scalars())


def _of_customers(connection: Connection, program_id: int, customer_ids: Sequence[int]) -> list[Finding]:
    facts = fraud_facts.of_customers(connection, program_id, customer_ids) if customer_ids else []
    emails = fraud_facts.partner_emails(connection, program_id, (each.partner_id for each in facts))
    return flags.unknown(connection, program_id, signs_in_customers(facts, emails))
