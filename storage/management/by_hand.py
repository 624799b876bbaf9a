"""What people, and agents within their caps, credit by hand: a sale that no one reported, a bonus or a correction."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, or_, select, update

from storage.engine import audit, ids
from storage.lists.commissions import COMMISSIONS, Commission
from storage.lists.declaration import ListScope
from storage.lists.find import get
from storage.lists.related import has_key
from storage.management import agent_caps, one_row, partners
from storage.rules import commission
from storage.rules.attribution import BY_HAND, site_url
from storage.rules.errors import FieldError, ServiceError, ValidationError
from storage.tables import commissions, customers, ledger_entries, programs
from storage.tracking import clicks, currencies, program_terms, sales, terms_in_force
from storage.tracking.ledger import EntryKind
from storage.tracking.sale_decisions import Provenance, Sale

MOST_ADJUSTMENTS = 50
OLDEST = timedelta(days=366)


class Adjustment(NamedTuple):
    """A bonus of a partner, or a correction if it is negative, in cents of `currency`; their next payout settles it."""

    id: int
    partner_id: int
    amount_cents: int
    currency: str
    reason: str
    at: datetime


def credit_sale(
    connection: Connection,
    program_id: int,
    *,
    amount_cents: int,
    currency: str,
    reason: str,
    partner_id: int | None = None,
    click_id: str | None = None,
    transaction_id: str | None = None,
    customer_key: str | None = None,
    occurred_at: datetime | None = None,
    by: audit.By,
) -> Commission:
    """Record a sale for a partner, or for that of a click, by the terms of its time, and return its commission."""
    happened_at = occurred_at or by.at
    if partner_id is None and click_id is None:
        fields = [FieldError(name, "Send partner_id or click_id") for name in ("partner_id", "click_id")]
        raise ValidationError(fields=fields)
    if not by.at - OLDEST <= happened_at <= by.at:
        raise ValidationError.of("occurred_at", "Not in the future and at most 366 days ago")
    if click_id is not None:
        customer_key = _key_for(connection, program_id, click_id, customer_key)
    elif partner_id is not None:
        click_id = _click_for(connection, program_id, partner_id, customer_key, at=happened_at)
    about = (amount_cents, by.at, customer_key, click_id, currency, occurred_at)
    sale = Sale(transaction_id or f"credit-{ids.after(by.at, 1)[0]}", *about, provenance=Provenance.OPERATOR)
    credited = _record(connection, program_id, sale, credited_by=by.actor.name)
    if partner_id not in {None, credited.partner_id}:
        raise ValidationError.of("partner_id", "The click is another partner's")
    agent_caps.count(connection, program_id, agent_caps.CREDITED, credited.amount_cents, by=by)
    said = {"partner_id": credited.partner_id, "transaction_id": sale.transaction_id, "reason": reason}
    entry = audit.Change("commission.credit", credited.id, after=said | {"amount_cents": credited.amount_cents})
    audit.write(connection, program_id, [entry], by=by)
    return credited


def price(
    connection: Connection, program_id: int, *, partner_id: int | None, amount_cents: int, currency: str, at: datetime
) -> tuple[int, datetime]:
    """Return what a new customer's sale earns a partner by the terms of its time, and when its hold ends."""
    program = _terms_at(connection, program_id, at)._replace(
        terms=terms_in_force.of_partner(connection, program_id, partner_id, at)
    )
    cents = currencies.convert(connection, amount_cents, currencies.Exchange(currency, program.currency, at.date()))
    earned = commission.on_sale(program.terms, cents, cents, first_purchase_at=None, occurred_at=at)
    return earned, at + timedelta(days=program.hold_days)


def adjust(
    connection: Connection, program_id: int, *, partner_id: int, amount_cents: int, reason: str, by: audit.By
) -> Adjustment:
    """Add to a partner's balance, or take from it; the next payout settles it. Raises PartnerNotFound, OverCap."""
    if not amount_cents:
        raise ValidationError.of("amount_cents", "An amount other than 0")
    partners.require(connection, program_id, partner_id)
    agent_caps.count(connection, program_id, agent_caps.CREDITED, abs(amount_cents), by=by)
    currency = connection.execute(select(programs.c.currency).where(programs.c.id == program_id)).scalar_one()
    adjustment = Adjustment(ids.after(by.at, 1)[0], partner_id, amount_cents, currency, reason, by.at)
    entry = adjustment._asdict() | {"program_id": program_id, "kind": EntryKind.ADJUSTMENT}
    del entry["currency"]
    connection.execute(insert(ledger_entries).values(entry))
    change = audit.Change("partner.adjust", partner_id, after={"amount_cents": amount_cents, "reason": reason})
    audit.write(connection, program_id, [change], by=by)
    return adjustment


def list_adjustments(connection: Connection, program_id: int, partner_id: int) -> Sequence[Any]:
    """Return a partner's newest adjustments: `at`, `amount_cents` and `reason`."""
    entry = ledger_entries.c
    mine = (entry.program_id == program_id, entry.partner_id == partner_id, entry.kind == EntryKind.ADJUSTMENT)
    listed = select(entry.at, entry.amount_cents, entry.reason).where(*mine).order_by(entry.id.desc())
    return connection.execute(listed.limit(MOST_ADJUSTMENTS)).all()


def _record(connection: Connection, program_id: int, sale: Sale, *, credited_by: str) -> Commission:
    (sold,) = sales.record(connection, [(_terms_at(connection, program_id, sale.happened_at), sale)])
    if isinstance(sold, ServiceError):
        raise sold
    if sold.commission_id is None:
        raise ValidationError("By the terms of its day this sale earns nothing.")
    mine = one_row.of(commissions, program_id, sold.commission_id)
    connection.execute(update(commissions).where(mine).values(credited_by=credited_by))
    return get(connection, COMMISSIONS, ListScope(program_id, sale.at), sold.commission_id)


def _key_for(connection: Connection, program_id: int, click_id: str, customer_key: str | None) -> str | None:
    """Return the customer_key of a sale of a click, whose customer keeps the key that they have."""
    row = customers.c
    has_one = or_(row.customer_key.is_not(None), row.known_as.is_not(None))
    named = select(row.id).where(row.program_id == program_id, row.click_id == click_id, has_one)
    return None if connection.execute(named).first() else customer_key


def _click_for(
    connection: Connection, program_id: int, partner_id: int, customer_key: str | None, *, at: datetime
) -> str | None:
    """Return a new click of a partner, which stands for one that no one saw; None if the key names their customer."""
    partners.require(connection, program_id, partner_id)
    known = select(customers.c.partner_id).where(customers.c.program_id == program_id, has_key(customer_key or ""))
    owner_id = connection.execute(known).scalar() if customer_key else None
    if owner_id not in {None, partner_id}:
        raise ValidationError.of("customer_key", "This customer is another partner's: move the customer first")
    if owner_id is not None:
        return None
    shop = connection.execute(select(programs.c.domain).where(programs.c.id == program_id)).scalar_one()
    [click_id] = clicks.stand_in(connection, [(clicks.unseen(program_id, site_url(shop), at), partner_id)], why=BY_HAND)
    return click_id


def _terms_at(connection: Connection, program_id: int, at: datetime) -> program_terms.ProgramTerms:
    """Return the program with the commission terms of a time, or its first ones, and without a window."""
    program = program_terms.load_one(connection, program_id)
    terms_of = partial(terms_in_force.of_partner, connection, program_id, at=at)
    return program._replace(terms_of=terms_of, attribution_window_days=program_terms.ANY_DAYS, has_payments=False)
