"""Leads: a customer signed up; settled with a program key (or a policy that trusts browsers), otherwise provisional."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

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


@set_based
def record(connection: Connection, batch: Sequence[tuple[ProgramTerms, Lead]]) -> list[LeadResult | ServiceError]:
    """Record a batch of leads; each result is a LeadResult or the error.

    Errors: ProgramNotFound, CustomerNotFound, CustomerWrongProgram, IdentifierConflict, StatusTransitionRefused,
    AttributionWindowExpired.
    """
    at = max(lead.at for _, lead in batch)
    registry = Registry(connection, [_identifiers(program, lead) for program, lead in batch], at=at)
    named = {lead.program_id for program, lead in batch if lead.program_id not in {None, program.id}}
    elsewhere = program_terms.load(connection, [each for each in named if each is not None]) if named else {}
    changes: list[LeadChange] = []
    results: list[LeadResult | ServiceError] = []
    for (program, lead), lead_id in zip(batch, ids.after(at, len(batch)), strict=True):
        clicked, holder = registry.named(program.id, lead)
        try:
            if lead.program_id not in {None, program.id}:
                raise CustomerWrongProgram if lead.program_id in elsewhere else ProgramNotFound
            change = decide(lead_id, lead, program, clicked=clicked, holder=holder)
        except ServiceError as error:
            results.append(error)
        else:
            results.append(change.result)
            registry.change(*change.changed)
            changes.append(change)
    _store(connection, changes, registry, at=at)
    return results


def _identifiers(program: ProgramTerms, lead: Lead) -> CustomerQuery:
    """Return what to look up: no customer_key of a browser that may not settle, or that sends no click."""
    claims = program.lead_auth_policy == LeadAuthPolicy.BROWSER_ALLOWED and lead.click_id
    return program.id, lead.customer_key if lead.is_trusted or claims else None, lead.click_id


def _store(connection: Connection, changes: Sequence[LeadChange], registry: Registry, *, at: datetime) -> None:
    registry.save(connection)
    events = [each for each in changes if each.settlement]
    if events:
        _insert(connection, [_row(each) for each in events])
    earned = [_earned(each) for each in events if each.settlement == Settlement.SETTLED]
    ledger.append(connection, earned, at=at)
    steps = [
        rollups.Increment(*each.key[:2], rollups.day_of(each.at), leads=1, commission_cents=each.cents)
        for each in earned
    ]
    outranked = [each.outranked for each in changes if each.outranked]
    rollups.add(connection, [*steps, *outranking.store(connection, outranked, at=at)])


def _earned(change: LeadChange) -> Earned:
    """Return what a settled lead earns: the program's per-lead commission, unless its partner has left."""
    at, left = change.lead.at, change.customer.partner_status == PartnerStatus.INACTIVE
    cents = 0 if left else change.program.terms.lead_commission_cents
    return Earned(change.program, change.customer, cents, at, at, lead_id=change.id)


def _row(change: LeadChange) -> tuple[Any, ...]:
    lead, at = change.lead, to_millis(change.lead.at)
    who = (change.program.id, change.id, change.customer.id, change.customer.partner_id)
    lost = (change.rival.id, at) if change.rival else (None, None)
    return (*who, change.settlement, lead.is_trusted, lead.event_name, lead.address_hash, *lost, at)
