"""Leads: a customer signed up; settled with a program key (or a policy that trusts browsers), otherwise provisional."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.engine import ids
from storage.engine.group_commit import set_based
from storage.engine.statements import Statement
from storage.rules.attribution import PartnerStatus
from storage.rules.errors import CustomerWrongProgram, ProgramNotFound, ServiceError
from storage.rules.settlement import LeadAuthPolicy, Settlement
from storage.tables.columns import to_millis
from storage.tracking import ledger, outranking, program_terms, rollups
from storage.tracking.customers import CustomerQuery, Registry
from storage.tracking.lead_decisions import Lead, LeadChange, LeadResult, decide
from storage.tracking.ledger import Earned
from storage.tracking.program_terms import ProgramTerms

_insert = Statement("lead_insert")


class _AcceptedLead(NamedTuple):
    """A change with the id and the program of its lead."""

    lead_id: int
    lead: Lead
    program: ProgramTerms
    change: LeadChange


@set_based
def record(connection: Connection, batch: Sequence[tuple[ProgramTerms, Lead]]) -> list[LeadResult | ServiceError]:
    """Record a batch of leads; each result is a LeadResult or the error.

    Errors: ProgramNotFound, CustomerNotFound, CustomerWrongProgram, IdentifierConflict, StatusTransitionRefused,
    AttributionWindowExpired.
    """
    at = max(lead.at for _, lead in batch)
    registry = Registry(connection, [_identifiers(program, lead) for program, lead in batch], at=at)
    elsewhere = _named_elsewhere(connection, batch)
    accepted: list[_AcceptedLead] = []
    results: list[LeadResult | ServiceError] = []
    for (program, lead), lead_id in zip(batch, ids.after(at, len(batch)), strict=True):
        try:
            clicked = registry.by_click(lead.click_id)
            if lead.program_id not in {None, program.id}:
                raise CustomerWrongProgram if lead.program_id in elsewhere else ProgramNotFound
            change = decide(lead, program, clicked=clicked, holder=registry.by_key(program.id, lead.customer_key))
        except ServiceError as error:
            results.append(error)
        else:
            results.append(change.result)
            for customer in change.customers:
                registry.change(customer)
            accepted.append(_AcceptedLead(lead_id, lead, program, change))
    _store(connection, accepted, registry, at=at)
    return results


def _identifiers(program: ProgramTerms, lead: Lead) -> CustomerQuery:
    """Return what to look up: no customer_key of a browser that may not settle, or that sends no click."""
    claims = program.lead_auth_policy == LeadAuthPolicy.BROWSER_ALLOWED and lead.click_id
    customer_key = lead.customer_key if lead.is_trusted or claims else None
    return CustomerQuery(program.id, customer_key, lead.click_id)


def _named_elsewhere(connection: Connection, batch: Sequence[tuple[ProgramTerms, Lead]]) -> dict[int, ProgramTerms]:
    """Return the programs that calls name with another program's key."""
    named = {lead.program_id for program, lead in batch if lead.program_id not in {None, program.id}}
    return program_terms.load(connection, [each for each in named if each is not None]) if named else {}


def _store(connection: Connection, accepted: Sequence[_AcceptedLead], registry: Registry, *, at: datetime) -> None:
    registry.save(connection)
    events = [each for each in accepted if each.change.settlement]
    if events:
        _insert(connection, [_row(each) for each in events])
    settled = [each for each in events if each.change.settlement == Settlement.SETTLED]
    earned = [_earned(each) for each in settled]
    ledger.append(connection, earned, at=at)
    steps = [_step(each, item) for each, item in zip(settled, earned, strict=True)]
    outranked = [each.change.outranked for each in accepted if each.change.outranked]
    rollups.add(connection, [*steps, *outranking.store(connection, outranked, at=at)])


def _earned(accepted: _AcceptedLead) -> Earned:
    """Return what a settled lead earns: the program's per-lead commission, unless its partner has left."""
    lead_id, lead, program, change = accepted
    left = change.customer.partner_status == PartnerStatus.INACTIVE
    cents = 0 if left else program.terms.lead_commission_cents
    return ledger.earn(program, change.customer, cents, lead_id=lead_id, at=lead.at, happened_at=lead.at)


def _step(accepted: _AcceptedLead, earned: Earned) -> rollups.Increment:
    day = rollups.day_of(accepted.lead.at)
    partner_id = accepted.change.customer.partner_id
    return rollups.Increment(accepted.program.id, partner_id, day, leads=1, commission_cents=earned.amount_cents)


def _row(accepted: _AcceptedLead) -> tuple[Any, ...]:
    lead_id, lead, program, change = accepted
    who = (program.id, lead_id, change.customer.id, change.customer.partner_id)
    lost = (change.rival.id, to_millis(lead.at)) if change.rival else (None, None)
    return (*who, change.settlement, lead.is_trusted, lead.event_name, lead.address_hash, *lost, to_millis(lead.at))
