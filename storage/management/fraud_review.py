"""Reviews: read what the rules about fraud look at, run them, and flag once what they find."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Select, select, tuple_, update

from storage.engine import ids
from storage.management import fraud_facts
from storage.rules import contact, keys
from storage.rules.attribution import PaidAds
from storage.rules.fraud.customer_signs import signs_in_customers
from storage.rules.fraud.flag import Finding
from storage.rules.fraud.partner_signs import FLOOD, Flood, floods, signs_in_counts
from storage.tables import clicks, commissions, flags, partners, programs
from storage.tables import rollups as program_days
from storage.tracking import flagging, rollups

MOST_CUSTOMERS = 500
OVERLAP = timedelta(hours=1)  # clicks and sales of the hour before midnight are reviewed after it


def recent(connection: Connection, program_id: int, *, since: datetime) -> list[Finding]:
    """Return the new findings about the customers who earned a commission since a time, the newest 500."""
    row = commissions.c
    mine = select(row.customer_id).where(row.program_id == program_id, row.id >= ids.first(since))
    return _of_customers(connection, program_id, mine.order_by(row.id.desc()).limit(MOST_CUSTOMERS))


def before_decision(connection: Connection, program_id: int, commission_ids: Sequence[int]) -> list[Finding]:
    """Return the new findings about the customers of commissions that are about to be approved or paid."""
    row = commissions.c
    mine = select(row.customer_id).where(row.program_id == program_id, row.id.in_(commission_ids))
    return _of_customers(connection, program_id, mine)


def whole(connection: Connection, program_id: int, *, since: datetime, at: datetime) -> list[Finding]:
    """Return the new findings about recent customers and the partners' month."""
    found = recent(connection, program_id, since=since)
    for month in dict.fromkeys(day.replace(day=1) for day in _days(at)):
        found += signs_in_counts(fraud_facts.of_month(connection, program_id, month), month)
    return _unknown(connection, program_id, found)


def find_floods(connection: Connection, program_id: int, *, at: datetime) -> list[Flood]:
    """Return the floods among the clicks of the day."""
    return [flood for day in _days(at) for flood in floods(fraud_facts.of_day(connection, program_id, day))]


def drop_floods(connection: Connection, program_id: int, found: Sequence[Flood]) -> int:
    """Take the clicks of floods from the figures, as those of bots, and return how many they were.

    They accuse no one: anyone can send them. A review flags the customers who came from them.
    """
    row, steps = clicks.c, []
    for partner_id, hour, address_hash in sorted(found):
        since, until = (keys.first_click_id(each) for each in (hour, hour + timedelta(hours=1)))
        of_hour = (row.program_id == program_id, row.click_id >= since, row.click_id < until)
        counted = (row.partner_id == partner_id, row.address_hash == address_hash, row.filtered.is_(None))
        count = connection.execute(update(clicks).where(*of_hour, *counted).values(filtered=FLOOD)).rowcount
        steps += [rollups.Increment(program_id, partner_id, rollups.day_of(hour), clicks=-count)] if count else []
    rollups.add(connection, steps)
    return -sum(each.clicks for each in steps)


def _days(at: datetime) -> list[datetime]:
    """Return the starts of the days that are reviewed."""
    starts = (each.replace(hour=0, minute=0, second=0, microsecond=0) for each in (at - OVERLAP, at))
    return list(dict.fromkeys(starts))


def active_programs(connection: Connection, *, since: datetime) -> list[int]:
    """Return the programs with something new to review since a time: their days have changed."""
    row = program_days.c
    recently = row.day >= (since - OVERLAP).date()
    return sorted(connection.execute(select(row.program_id).where(recently).distinct()).scalars())


def raise_flags(connection: Connection, program_id: int, findings: Sequence[Finding], *, at: datetime) -> int:
    """Flag the findings that were never flagged, log each, and return how many there were."""
    return flagging.raise_each(connection, [(program_id, each) for each in findings], at=at)


def _of_customers(connection: Connection, program_id: int, earners: Select[Any]) -> list[Finding]:
    customer_ids = list(dict.fromkeys(connection.execute(earners).scalars()))
    facts = fraud_facts.of_customers(connection, program_id, customer_ids) if customer_ids else []
    row, partner_ids = partners.c, {each.partner_id for each in facts}
    with_email = select(row.id, row.email).where(row.program_id == program_id, row.id.in_(partner_ids))
    emails = {
        each.id: contact.protect(each.email).mailbox_hash for each in connection.execute(with_email) if each.email
    }
    paid_ads = connection.execute(select(programs.c.paid_ads).where(programs.c.id == program_id)).scalar_one()
    return _unknown(connection, program_id, signs_in_customers(facts, emails, PaidAds(paid_ads)))


def _unknown(connection: Connection, program_id: int, findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings that were never flagged, whatever became of the flag."""
    if not findings:
        return []
    named = tuple_(flags.c.kind, flags.c.subject).in_([(each.kind, each.subject) for each in findings])
    known = select(flags.c.kind, flags.c.subject).where(flags.c.program_id == program_id, named)
    flagged = {(row.kind, row.subject) for row in connection.execute(known)}
    return [each for each in findings if (each.kind, each.subject) not in flagged]
