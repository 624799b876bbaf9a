"""Leads and sales that came too late after their click, and that a draft would have credited, by the live decisions."""

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection

from storage.engine.statements import read_statement
from storage.reports.followed_links import FollowedLinks
from storage.rules.commission import Terms
from storage.rules.errors import ServiceError
from storage.tables.columns import Timestamp
from storage.tracking import leads, program_terms, sale_decisions
from storage.tracking.currencies import Rates
from storage.tracking.customers import Customer, NamedCustomers, Registry
from storage.tracking.leads import Lead, LeadChange
from storage.tracking.program_terms import ProgramTerms
from storage.tracking.sale_decisions import RecordedSale, Sale, SaleChange

MOST_REJECTED = 5_000  # the newest; the log has those of 30 days
_LATE = read_statement("late_calls", at=Timestamp, occurred_at=Timestamp)
FindTerms = Callable[[Connection, int, int | str | None, datetime], Terms]  # of a program and whom in it, at a time


def find_gained(
    connection: Connection, program_id: int, links: FollowedLinks, find_terms: FindTerms, *, since: datetime
) -> Iterator[LeadChange | SaleChange]:
    """Yield what the leads and sales since a time change that a longer window or another click would have credited."""
    draft = links.draft
    window_days = draft.settings.attribution_window_days
    is_longer = window_days > draft.current.attribution_window_days
    if all(each.only for each in draft.changes) or not (draft.moves_clicks or is_longer):
        return
    rows = connection.execute(_LATE, {"program_id": program_id, "since": since, "most": MOST_REJECTED}).all()
    calls = [_call(row) for row in reversed(rows)]
    program = program_terms.load_one(connection, program_id)._replace(attribution_window_days=window_days)
    named = [(program_id, each.customer_key, each.click_id) for each in calls]
    registry = Registry(connection, named, at=max((each.at for each in calls), default=since))
    rates = Rates(connection, [sale_decisions.exchange(each, program) for each in calls if isinstance(each, Sale)])
    customers = (each for call in calls for each in registry.named(program_id, call) if each)
    links.load(connection, program_id, (each.click_id for each in customers))

    def terms_of(partner_id: int, at: datetime) -> Terms:
        def find(whose: int | str | None) -> Terms:
            return find_terms(connection, program_id, whose, at)

        return draft.terms(find(partner_id), find, partner_id)

    recorded: dict[str, RecordedSale] = {}
    for call in calls:
        clicked, holder = (each and _as_drafted(each, links, call.at) for each in registry.named(program_id, call))
        priced = program._replace(terms_of=partial(terms_of, at=call.at))
        if change := _decide(call, priced, (clicked, holder), recorded, rates):
            registry.change(*change.changed)
            yield change


def _call(row: Any) -> Lead | Sale:
    """Return a rejected call, which came with the program key, as far as the log has it."""
    if row.call == "lead":
        return Lead(row.click_id, row.customer_key, row.at)
    about = (row.transaction_id, row.amount_cents, row.at, row.customer_key, row.click_id, row.currency)
    return Sale(*about, occurred_at=row.occurred_at)


def _as_drafted(customer: Customer, links: FollowedLinks, at: datetime) -> Customer | None:
    """Return a customer with the click that they would have come with; None if there was none."""
    click = links.credit(customer, at)
    return click and customer._replace(partner_id=click.partner_id, clicked_at=click.at)


def _decide(
    call: Lead | Sale, program: ProgramTerms, named: NamedCustomers, recorded: dict[str, RecordedSale], rates: Rates
) -> LeadChange | SaleChange | None:
    """Return what a call changes; None if it would still be rejected."""
    try:
        if isinstance(call, Lead):
            return leads.decide(0, call, program, named)
        repeats = (recorded.get(call.transaction_id), None)
        change = sale_decisions.decide(0, call, program, named=named, repeats=repeats, rates=rates)
    except ServiceError:
        return None
    recorded[call.transaction_id] = change.recorded
    return change
