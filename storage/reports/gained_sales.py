"""Sales that came too late after their click, and that a longer window would have credited, by the live decision."""

from datetime import datetime
from functools import partial
from typing import NamedTuple

from sqlalchemy import Connection, select

from storage.rules.commission import Terms
from storage.rules.draft import Draft
from storage.rules.errors import AttributionWindowExpired, ServiceError
from storage.tables import refused_calls, sales
from storage.tracking import program_terms, sale_decisions
from storage.tracking.currencies import Rates
from storage.tracking.customers import Registry
from storage.tracking.sale_decisions import Sale

MOST_REJECTED = 5_000  # the newest; the log has those of 30 days


class GainedSale(NamedTuple):
    """A rejected sale that the draft would credit, what it would earn under which terms, and until when on hold."""

    sale: Sale
    partner_id: int
    cents: int
    terms: Terms
    hold_until: datetime


def find_gained(
    connection: Connection, program_id: int, draft: Draft, *, since: datetime, at: datetime
) -> list[GainedSale]:
    """Return the sales that a longer attribution window would have credited; none for a shorter or equal one."""
    if draft.settings.attribution_window_days <= draft.current.attribution_window_days:
        return []
    program = program_terms.load_one(connection, program_id)
    window_days, hold_days = draft.settings.attribution_window_days, draft.settings.hold_days
    program = program._replace(attribution_window_days=window_days, hold_days=hold_days)
    rejected = [each for each in _rejected(connection, program_id, since) if each.happened_at >= since]
    registry = Registry(connection, [(program_id, each.customer_key, each.click_id) for each in rejected], at=at)
    rates = Rates(connection, [sale_decisions.exchange(each, program) for each in rejected])
    gained = []
    for sale in rejected:
        named = registry.named(program_id, sale)
        buyer = sale_decisions.buyer_of(sale, program, named)
        if buyer is None:
            continue
        partner_id = buyer.customer.partner_id
        special = buyer.customer.partner_terms
        then = program.terms if special is None else special._replace(partner_id=partner_id)
        drafted = program._replace(terms=(terms := draft.terms(then, partner_id)), terms_of=partial(_always, terms))
        try:
            change = sale_decisions.decide(0, sale, drafted, named=named, repeats=(None, None), rates=rates)
        except ServiceError:  # it would still be rejected
            continue
        registry.change(*change.changed)
        until = draft.hold_until(sale.happened_at, None)
        gained.append(GainedSale(sale, partner_id, change.commission_cents, drafted.terms, until))
    return gained


def _always(terms: Terms, _: int) -> Terms:
    return terms


def _rejected(connection: Connection, program_id: int, since: datetime) -> list[Sale]:
    """Return the rejected sales, oldest first, each transaction once, that were not recorded after all."""
    row = refused_calls.c
    recorded = select(sales.c.id).where(
        sales.c.program_id == row.program_id, sales.c.transaction_id == row.transaction_id
    )
    mine = (
        row.program_id == program_id,
        row.call == "sale",
        row.code == AttributionWindowExpired.code,
        row.at >= since,
    )
    whole = (row.transaction_id.is_not(None), row.amount_cents.is_not(None), ~recorded.exists())
    newest = select(refused_calls).where(*mine, *whole).order_by(row.id.desc()).limit(MOST_REJECTED)
    rows = {each.transaction_id: each for each in connection.execute(newest)}
    return [
        Sale(
            each.transaction_id,
            each.amount_cents,
            each.at,
            each.customer_key,
            each.click_id,
            each.currency or "USD",
            each.occurred_at,
        )
        for each in sorted(rows.values(), key=lambda each: each.id)
    ]
