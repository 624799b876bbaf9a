"""Leads: a customer signed up; settled by a key (or a policy that trusts browsers), provisional otherwise."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.access import program_keys
from storage.access.program_keys import ProgramKey
from storage.engine import ids
from storage.engine.group_commit import set_based
from storage.engine.statements import Append
from storage.rules import attribution, keys, settlement
from storage.rules.attribution import PartnerStatus
from storage.rules.contact import Contact
from storage.rules.errors import (
    AttributionWindowExpired,
    CustomerNotFound,
    CustomerWrongProgram,
    IdentifierConflict,
    ProgramNotFound,
    ServiceError,
)
from storage.rules.settlement import CustomerStatus, LeadAuthPolicy, Move, Settlement
from storage.tables import leads
from storage.tables.columns import to_millis
from storage.tracking import customers, ledger, program_terms, rollups
from storage.tracking.customers import Customer, CustomerQuery, Registry
from storage.tracking.ledger import Earned
from storage.tracking.program_terms import ProgramTerms


class Lead(NamedTuple):
    """A lead as a call sent it: `key_hash` in server mode, None from a browser."""

    click_id: str | None
    customer_key: str | None
    at: datetime
    key_hash: str | None = None
    program_id: int | None = None
    contact: Contact | None = None
    event_name: str | None = None


class LeadResult(NamedTuple):
    """The lead's state after the call; `recorded` is False when it was so before. `key` is None from a browser."""

    settlement: Settlement
    recorded: bool
    key: ProgramKey | None


class _Change(NamedTuple):
    """What one lead changed; `settlement` is None when it only gave a settled customer their key."""

    lead_id: int
    lead: Lead
    customer: Customer
    program: ProgramTerms
    settlement: Settlement | None


@set_based
def record(connection: Connection, batch: Sequence[Lead]) -> list[LeadResult | ServiceError]:
    """Record a batch of leads; each result is a Led or the refusal.

    Refusals: InvalidKey, ApiKeyRotationRequired, ProgramNotFound, CustomerNotFound, CustomerWrongProgram,
    IdentifierConflict, StatusTransitionRefused, AttributionWindowExpired.
    """
    at = max(lead.at for lead in batch)
    presented = program_keys.identify(connection, [lead.key_hash for lead in batch if lead.key_hash], at=at)
    claimed = [_claimed_program(lead, presented) for lead in batch]
    mentioned = {*claimed, *(lead.program_id for lead in batch)}
    known = program_terms.in_force(connection, (program_id for program_id in mentioned if program_id is not None))
    wanted = [_wanted(lead, program_id) for lead, program_id in zip(batch, claimed, strict=True)]
    registry = Registry(connection, wanted, at=at)
    results: list[LeadResult | ServiceError] = []
    changes: list[_Change] = []
    for lead, want, lead_id in zip(batch, wanted, ids.after(at, len(batch)), strict=True):
        try:
            key = program_keys.working(presented[lead.key_hash]) if lead.key_hash else None
            program = _program(lead, want, known, registry)
            customer = _customer(lead, want, program, registry)
            moved = _move(lead, customer, program)
            named = _name(lead, customer, program, registry)
            results.append(LeadResult(moved.settlement, moved.changed or named, key))
            if moved.changed or named:
                state = moved.settlement if moved.changed else None
                changes.append(_Change(lead_id, lead, customer, program, state))
        except ServiceError as refusal:
            results.append(refusal)
    _store(connection, changes, at=at)
    return results


def _claimed_program(lead: Lead, presented: dict[str, ProgramKey | ServiceError]) -> int | None:
    key = presented[lead.key_hash] if lead.key_hash else None
    if isinstance(key, ProgramKey):
        return key.program_id
    return keys.click_program(lead.click_id or "") if lead.program_id is None else lead.program_id


def _wanted(lead: Lead, program_id: int | None) -> CustomerQuery:
    return CustomerQuery(program_id, lead.customer_key, keys.click_program(lead.click_id or ""), lead.click_id)


def _program(lead: Lead, want: CustomerQuery, known: dict[int, ProgramTerms], registry: Registry) -> ProgramTerms:
    """Return the lead's program: the key's, else the one it names, else its click's."""
    if lead.program_id is not None and lead.program_id not in known:
        raise ProgramNotFound
    if lead.program_id is not None and lead.program_id != want.program_id:
        raise CustomerWrongProgram
    program = known.get(want.program_id or 0)
    if program is None:
        raise CustomerNotFound
    if registry.by_click(want.click_program_id, want.click_id) and want.click_program_id != program.id:
        raise CustomerWrongProgram
    return program


def _customer(lead: Lead, want: CustomerQuery, program: ProgramTerms, registry: Registry) -> Customer:
    """Return whom the identifiers name: the key's holder, else whom the click became or becomes."""
    holder = registry.by_key(program.id, lead.customer_key)
    clicked = registry.by_click(want.click_program_id, want.click_id)
    if holder is None and clicked is None:
        raise CustomerNotFound
    if clicked is None or (holder is not None and clicked.is_new):
        customer = holder
    else:
        customer = clicked
        other_key = lead.customer_key and clicked.customer_key not in {None, lead.customer_key}
        if other_key or (holder is not None and holder is not clicked):
            raise IdentifierConflict
    assert customer is not None  # noqa: S101 - one of the two was found
    if customer.is_new and not attribution.is_within(customer.clicked_at, lead.at, program.attribution_window_days):
        raise AttributionWindowExpired
    return customer


def _move(lead: Lead, customer: Customer, program: ProgramTerms) -> Move:
    before = None if customer.is_new else customer.status
    moved = settlement.move(
        customer.settlement, before, with_key=lead.key_hash is not None, policy=program.lead_auth_policy
    )
    if moved.changed:
        customer.settlement = moved.settlement
        if lead.contact:
            customer.email_hash, customer.email_mask = lead.contact
        if moved.settlement == Settlement.SETTLED:
            customer.status, customer.signup_at = CustomerStatus.LEAD, lead.at
    return moved


def _name(lead: Lead, customer: Customer, program: ProgramTerms, registry: Registry) -> bool:
    """Save the customer_key, which only a call that may settle is trusted to do; say whether that changed anything."""
    trusted = lead.key_hash is not None or program.lead_auth_policy == LeadAuthPolicy.BROWSER_ALLOWED
    new = trusted and lead.customer_key is not None and customer.customer_key is None
    if new:
        registry.name(customer, str(lead.customer_key))
    return new


def _store(connection: Connection, changes: Sequence[_Change], *, at: datetime) -> None:
    customers.save(connection, {change.customer.id: change.customer for change in changes}.values())
    events = [change for change in changes if change.settlement]
    if events:
        _insert(connection, [_row(change) for change in events])
    settled = [change for change in events if change.settlement == Settlement.SETTLED]
    earned = [_earned(change) for change in settled]
    ledger.append(connection, earned, at=at)
    rollups.add(connection, [_step(change, item) for change, item in zip(settled, earned, strict=True)])


def _earned(change: _Change) -> Earned:
    """Return what a settled lead earns: the program's per-lead commission, unless its partner has left."""
    left = change.customer.partner_status == PartnerStatus.INACTIVE
    cents = 0 if left else change.program.terms.lead_commission_cents
    return ledger.earn(change.program, change.customer, cents, lead_id=change.lead_id, at=change.lead.at)


def _step(change: _Change, earned: Earned) -> rollups.Increment:
    day = rollups.day_of(change.lead.at)
    partner_id = change.customer.partner_id
    return rollups.Increment(change.program.id, partner_id, day, leads=1, commission_cents=earned.amount_cents)


def _row(change: _Change) -> tuple[Any, ...]:
    lead, customer = change.lead, change.customer
    who = (change.program.id, change.lead_id, customer.id, customer.partner_id)
    return (*who, change.settlement, lead.key_hash is not None, lead.event_name, to_millis(lead.at))


_insert = Append(leads, "program_id", "id", "customer_id", "partner_id", "settlement", "with_key", "event_name", "at")
