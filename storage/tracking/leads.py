"""Leads: a customer signed up; settled with a program key (or a policy that trusts browsers), otherwise provisional."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.engine import ids
from storage.engine.group_commit import set_based
from storage.engine.statements import Statement
from storage.rules import settlement
from storage.rules.attribution import PartnerStatus
from storage.rules.errors import (
    ServiceError,
)
from storage.rules.settlement import CustomerStatus, LeadAuthPolicy, Move, Settlement
from storage.tables.columns import to_millis
from storage.tracking import customers, ledger, outranking, reported_leads, rollups
from storage.tracking.customers import Customer, Registry
from storage.tracking.ledger import Earned
from storage.tracking.outranking import Outranked
from storage.tracking.program_terms import ProgramTerms
from storage.tracking.reported_leads import Lead

_insert = Statement("lead_insert")


class LeadResult(NamedTuple):
    """The lead's state as its sender may know it; `recorded` is False if nothing changed.

    A browser whose customer_key belongs to another customer gets the result of any other browser: it learns nothing.
    """

    settlement: Settlement
    recorded: bool


class _AcceptedLead(NamedTuple):
    """What one lead changes; `settlement` is None if it only names or confirms a settled customer.

    `holder` is the customer who has the key that a browser claims for this one.
    """

    lead_id: int
    lead: Lead
    customer: Customer
    program: ProgramTerms
    settlement: Settlement | None
    holder: Customer | None


@set_based
def record(connection: Connection, batch: Sequence[tuple[ProgramTerms, Lead]]) -> list[LeadResult | ServiceError]:
    """Record a batch of leads; each result is a LeadResult or the error.

    Errors: ProgramNotFound, CustomerNotFound, CustomerWrongProgram, IdentifierConflict, StatusTransitionRefused,
    AttributionWindowExpired.
    """
    at = max(lead.at for _, lead in batch)
    registry = Registry(connection, [reported_leads.identifiers(program, lead) for program, lead in batch], at=at)
    elsewhere = reported_leads.named_elsewhere(connection, batch)
    accepted: list[_AcceptedLead] = []
    outranked: list[Outranked] = []
    results: list[LeadResult | ServiceError] = []
    for (program, lead), lead_id in zip(batch, ids.after(at, len(batch)), strict=True):
        try:
            reported_leads.require_program(lead, program, registry, elsewhere)
            customer, claimant = reported_leads.customer_of(lead, program, registry)
            holder = reported_leads.holder_of(lead, customer, program, registry)
            moved = _move(lead, customer, program, holder)
        except ServiceError as error:
            results.append(error)
        else:
            if claimant is not None:
                outranked.append(outranking.outrank(claimant, customer, registry))
            named = _name(lead, customer, program, registry)
            results.append(LeadResult(moved.settlement, moved.changed or named))
            confirmed = _confirm(lead, customer)
            if moved.changed or named or confirmed:
                settlement = customer.settlement if moved.changed else None
                accepted.append(_AcceptedLead(lead_id, lead, customer, program, settlement, holder))
    if accepted:
        _store(connection, accepted, outranked, at=at)
    return results


def _move(lead: Lead, customer: Customer, program: ProgramTerms, holder: Customer | None) -> Move:
    before = None if customer.is_new else customer.status
    moved = settlement.move(
        customer.settlement,
        before,
        with_key=lead.is_trusted,
        policy=program.lead_auth_policy,
        has_paid=lead.has_paid,
    )
    if moved.changed:
        customer.settlement = Settlement.OUTRANKED if holder else moved.settlement
        if lead.contact:
            customer.email_hash, customer.email_mask = lead.contact
        if customer.settlement == Settlement.SETTLED:
            customer.signup_at = lead.at
            if before != CustomerStatus.CONVERSION:
                customer.status = CustomerStatus.LEAD
    return moved


def _name(lead: Lead, customer: Customer, program: ProgramTerms, registry: Registry) -> bool:
    """Save the customer_key, which only a call that may settle can do; return whether it changed.

    A browser names only a customer of its own, and with a key that no other customer has.
    """
    claims = program.lead_auth_policy == LeadAuthPolicy.BROWSER_ALLOWED and customer.is_claimed
    may_name = lead.is_trusted or (claims and registry.by_key(program.id, lead.customer_key) is None)
    new = may_name and lead.customer_key is not None and customer.customer_key is None
    if new:
        registry.name(customer, str(lead.customer_key))
    return new


def _confirm(lead: Lead, customer: Customer) -> bool:
    """Confirm a customer whom a lead with the key names by click and by what they carry; return whether it is new."""
    named = customer.customer_key in {None, lead.customer_key}
    new = lead.is_trusted and lead.click_id == customer.click_id and named and not customer.confirmed
    customer.confirmed = customer.confirmed or new
    return new


def _store(
    connection: Connection, changes: Sequence[_AcceptedLead], outranked: Sequence[Outranked], *, at: datetime
) -> None:
    changed = [change.customer for change in changes] + [each.customer for each in outranked]
    customers.save(connection, {customer.id: customer for customer in changed}.values())
    events = [change for change in changes if change.settlement]
    if events:
        _insert(connection, [_row(change) for change in events])
    settled = [change for change in events if change.settlement == Settlement.SETTLED]
    earned = [_earned(change) for change in settled]
    ledger.append(connection, earned, at=at)
    steps = [_step(change, item) for change, item in zip(settled, earned, strict=True)]
    rollups.add(connection, [*steps, *outranking.store(connection, outranked, at=at)])


def _earned(change: _AcceptedLead) -> Earned:
    """Return what a settled lead earns: the program's per-lead commission, unless its partner has left."""
    left = change.customer.partner_status == PartnerStatus.INACTIVE
    cents = 0 if left else change.program.terms.lead_commission_cents
    return ledger.earn(
        change.program, change.customer, cents, lead_id=change.lead_id, at=change.lead.at, happened_at=change.lead.at
    )


def _step(change: _AcceptedLead, earned: Earned) -> rollups.Increment:
    day = rollups.day_of(change.lead.at)
    partner_id = change.customer.partner_id
    return rollups.Increment(change.program.id, partner_id, day, leads=1, commission_cents=earned.amount_cents)


def _row(change: _AcceptedLead) -> tuple[Any, ...]:
    lead, customer = change.lead, change.customer
    who = (change.program.id, change.lead_id, customer.id, customer.partner_id)
    lost = (
        (change.holder.id, to_millis(lead.at))
        if change.settlement == Settlement.OUTRANKED and change.holder
        else (None, None)
    )
    return (*who, change.settlement, lead.is_trusted, lead.event_name, lead.address_hash, *lost, to_millis(lead.at))
