"""Reviews: read what the rules about fraud look at, in bounded windows, run them, and flag once what they find."""

import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, and_, or_, select, tuple_, update

from storage.engine import ids
from storage.engine.statements import read_statement
from storage.rules import contact, keys
from storage.rules.attribution import PaidAds
from storage.rules.fraud.customer_signs import CustomerFacts, signs_in_customers
from storage.rules.fraud.flag import Finding
from storage.rules.fraud.partner_signs import FLOOD, Flood, PartnerCounts, floods, signs_in_counts
from storage.tables import clicks, commissions, customers, flags, partners, programs
from storage.tables import rollups as program_days
from storage.tracking import flagging, rollups

MOST_CUSTOMERS = 500
CUSTOMERS_AT_ONCE = 5_000  # of what is paid
OVERLAP = timedelta(hours=1)  # clicks and sales of the hour before midnight are reviewed after it
COPIED = (
    *("id", "partner_id", "clicked_at", "created_at", "signup_at", "first_purchase_at"),
    *("filtered", "ad_markers", "referrer_host"),
)
MOST_RELATED = 2_000
MOST_CLICKS = 20_000
_COUNTS, _KEYS = read_statement("partner_counts"), read_statement("reported_keys")
_NETWORKS, _FIRST_COMMISSIONS = read_statement("browser_networks"), read_statement("first_commissions")
RELATED = timedelta(days=7)  # customers whose networks are compared; the hash of a network lasts a day


def recent(connection: Connection, program_id: int, *, since: datetime) -> list[Finding]:
    """Return the new findings about the customers who earned a commission since a time, the newest 500."""
    row = commissions.c
    mine = select(row.customer_id).where(row.program_id == program_id, row.id >= ids.first(since))
    newest = connection.execute(mine.order_by(row.id.desc()).limit(MOST_CUSTOMERS)).scalars()
    return _of_customers(connection, program_id, list(dict.fromkeys(newest)))


def flag_before_decision(connection: Connection, program_id: int, earned_ids: Any, *, at: datetime) -> None:
    """Flag what is found about the customers of commissions that are about to be approved or paid."""
    row = commissions.c
    mine = select(row.customer_id).where(row.program_id == program_id, row.id.in_(earned_ids)).distinct()
    every = connection.execute(mine.order_by(row.customer_id)).scalars().all()
    for start in range(0, len(every), CUSTOMERS_AT_ONCE):
        found = _of_customers(connection, program_id, every[start : start + CUSTOMERS_AT_ONCE])
        flagging.raise_each(connection, [(program_id, each) for each in found], at=at)


def whole(connection: Connection, program_id: int, *, since: datetime, at: datetime) -> list[Finding]:
    """Return the new findings about recent customers and the partners' month."""
    found = recent(connection, program_id, since=since)
    for month in dict.fromkeys(day.replace(day=1) for day in _days(at)):
        found += signs_in_counts(_counts_of_month(connection, program_id, month), month)
    return _unknown(connection, program_id, found)


def find_floods(connection: Connection, program_id: int, *, at: datetime) -> list[Flood]:
    """Return the floods among the newest 20,000 clicks of a day that count, or did before a flood."""
    row, found = clicks.c, list[Flood]()
    counted = (row.program_id == program_id, or_(row.filtered.is_(None), row.filtered == FLOOD))
    for day in _days(at):
        since, until = (keys.first_click_id(each) for each in (day, day + timedelta(days=1)))
        of_day = (row.click_id >= since, row.click_id < until)
        newest = select(row.partner_id, row.at, row.address_hash).where(*counted, *of_day).order_by(row.click_id.desc())
        found += floods(connection.execute(newest.limit(MOST_CLICKS)).all())
    return found


def drop_floods(connection: Connection, program_id: int, found: Sequence[Flood]) -> int:
    """Take the clicks of floods from the figures; return how many. They accuse no one: anyone can send them."""
    row, steps = clicks.c, []
    for partner_id, hour, address_hash in sorted(found):
        since, until = (keys.first_click_id(each) for each in (hour, hour + timedelta(hours=1)))
        of_hour = (row.program_id == program_id, row.click_id >= since, row.click_id < until)
        counted = (row.partner_id == partner_id, row.address_hash == address_hash, row.filtered.is_(None))
        count = connection.execute(update(clicks).where(*of_hour, *counted).values(filtered=FLOOD)).rowcount
        steps += [rollups.Increment(program_id, partner_id, hour.date(), clicks=-count)] if count else []
    rollups.add(connection, steps)
    return -sum(each.clicks for each in steps)


def _days(at: datetime) -> list[datetime]:
    starts = (each.replace(hour=0, minute=0, second=0, microsecond=0) for each in (at - OVERLAP, at))
    return list(dict.fromkeys(starts))


def active_programs(connection: Connection, *, since: datetime) -> list[int]:
    """Return the programs with something new to review since a time: their days have changed."""
    row = program_days.c
    recently = row.day >= (since - OVERLAP).date()
    return sorted(connection.execute(select(row.program_id).where(recently).distinct()).scalars())


def _of_customers(connection: Connection, program_id: int, customer_ids: Sequence[int]) -> list[Finding]:
    facts = _facts_of(connection, program_id, customer_ids) if customer_ids else []
    row, partner_ids = partners.c, {each.partner_id for each in facts}
    with_email = select(row.id, row.email).where(row.program_id == program_id, row.id.in_(partner_ids))
    emails = {one.id: contact.protect(one.email).mailbox_hash for one in connection.execute(with_email) if one.email}
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


def _facts_of(connection: Connection, program_id: int, customer_ids: Sequence[int]) -> list[CustomerFacts]:
    """Return the facts of customers, and of those with one of their e-mail addresses or their partner's newest."""
    row, click = customers.c, clicks.c
    of_click = customers.outerjoin(clicks, (click.program_id == row.program_id) & (click.click_id == row.click_id))
    shown = (click.address_hash, click.filtered, click.ad_markers, click.referrer_host, click.visitor)
    mine = select(customers, *shown).select_from(of_click).where(row.program_id == program_id)
    named = connection.execute(mine.where(row.id.in_(customer_ids))).all()
    mailboxes = {each.mailbox_hash or each.email_hash for each in named} - {None}
    partner_ids = {each.partner_id for each in named}
    near = and_(  # an id is never earlier than its time, and may be later
        row.id >= ids.first(min(each.created_at for each in named) - RELATED),
        row.created_at <= max(each.created_at for each in named) + RELATED,
    )
    newest_first = mine.order_by(row.id.desc()).limit(MOST_RELATED)
    related = (row.mailbox_hash.in_(mailboxes), row.email_hash.in_(mailboxes), row.partner_id.in_(partner_ids) & near)
    found = [each for same in related for each in connection.execute(newest_first.where(same))]
    rows = {each.id: each for each in (*named, *found)}
    return _with_facts(connection, program_id, list(rows.values()))


def _counts_of_month(connection: Connection, program_id: int, month: datetime) -> list[PartnerCounts]:
    """Return what each partner brought since the first day of a month, until its end."""
    end = (month + timedelta(days=32)).replace(day=1)
    days = {"first_day": month.date(), "end_day": end.date(), "since": month, "until": end}
    rows = connection.execute(_COUNTS, days | {"program_id": program_id, "since_id": ids.first(month)})
    return [PartnerCounts(*map(int, each)) for each in rows]


def _with_facts(connection: Connection, program_id: int, rows: Sequence[Any]) -> list[CustomerFacts]:
    """Return the facts of customers, from their rows with what their clicks show, if these are still stored."""
    named = {"program_id": program_id, "customer_ids": [each.id for each in rows]}
    since = {"since_id": ids.first(min(each.created_at for each in rows))}
    addresses, reported = defaultdict[int, set[str]](set), defaultdict[int, set[str]](set)
    for customer_id, address in connection.execute(_NETWORKS, named):
        addresses[customer_id].add(address)
    for customer_id, key in connection.execute(_KEYS, named | since):
        reported[customer_id].add(key)
    earned = dict[int, int](connection.execute(_FIRST_COMMISSIONS, named).all())
    return [
        CustomerFacts(
            **{name: getattr(each, name) for name in COPIED},
            email_hash=each.mailbox_hash or each.email_hash,
            addresses=frozenset(addresses[each.id] | ({each.address_hash} - {None})),
            keys=frozenset(reported[each.id] | ({each.customer_key} - {None})),
            commission_id=earned.get(each.id),
            viewport_size=json.loads(each.visitor or "{}").get("viewport_size"),
        )
        for each in rows
    ]
