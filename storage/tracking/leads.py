"""Leads: a customer signed up; settled with a program key (or a policy that trusts browsers), otherwise provisional."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection

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
    """A lead as it was reported; `is_trusted` unless it came from a browser. `program_id` is the one in the call.

    `has_paid`: a payment through the connected account settles the lead.
    """

    click_id: str | None
    customer_key: str | None
    at: datetime
    is_trusted: bool = True
    has_paid: bool = False
    program_id: int | None = None
    contact: Contact | None = None
    event_name: str | None = None
    address_hash: str | None = None


class LeadResult(NamedTuple):
    """The lead's state after the call; `recorded` is False if nothing changed."""

    settlement: Settlement
    recorded: bool


class _AcceptedLead(NamedTuple):
    """What one lead changes; `settlement` is None if it only sets a settled customer's key."""

    lead_id: int
    lead: Lead
    customer: Customer
    program: ProgramTerms
    settlement: Settlement | None


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
            _require_program(lead, program, registry, elsewhere)
            customer = _customer(lead, program, registry)
            moved = _move(lead, customer, program)
        except ServiceError as error:
            results.append(error)
        else:
            named = _name(lead, customer, program, registry)
            results.append(LeadResult(moved.settlement, moved.changed or named))
            if moved.changed or named:
                accepted.append(
                    _AcceptedLead(lead_id, lead, customer, program, moved.settlement if moved.changed else None)
                )
    if accepted:
        _store(connection, accepted, at=at)
    return results


def _identifiers(program: ProgramTerms, lead: Lead) -> CustomerQuery:
    return CustomerQuery(program.id, lead.customer_key, keys.click_program(lead.click_id or ""), lead.click_id)


def _named_elsewhere(connection: Connection, batch: Sequence[tuple[ProgramTerms, Lead]]) -> dict[int, ProgramTerms]:
    """Return the programs that calls name with another program's key."""
    named = {lead.program_id for program, lead in batch if lead.program_id not in {None, program.id}}
    return program_terms.load(connection, [each for each in named if each is not None]) if named else {}


def _require_program(lead: Lead, program: ProgramTerms, registry: Registry, elsewhere: dict[int, ProgramTerms]) -> None:
    """Raise ProgramNotFound or CustomerWrongProgram for a lead that names another program, or another one's click."""
    if lead.program_id not in {None, program.id}:
        raise CustomerWrongProgram if lead.program_id in elsewhere else ProgramNotFound
    click_program_id = keys.click_program(lead.click_id or "")
    if click_program_id != program.id and registry.by_click(click_program_id, lead.click_id):
        raise CustomerWrongProgram


def _customer(lead: Lead, program: ProgramTerms, registry: Registry) -> Customer:
    """Return the customer with the key, else the customer created from the click, which may be new."""
    holder = registry.by_key(program.id, lead.customer_key)
    clicked = registry.by_click(keys.click_program(lead.click_id or ""), lead.click_id)
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
        customer.settlement,
        before,
        with_key=lead.is_trusted,
        policy=program.lead_auth_policy,
        has_paid=lead.has_paid,
    )
    if moved.changed:
        customer.settlement = moved.settlement
        if lead.contact:
            customer.email_hash, customer.email_mask = lead.contact
        if moved.settlement == Settlement.SETTLED:
            customer.signup_at = lead.at
            if before != CustomerStatus.CONVERSION:
                customer.status = CustomerStatus.LEAD
    return moved


def _name(lead: Lead, customer: Customer, program: ProgramTerms, registry: Registry) -> bool:
    """Save the customer_key, which only a call that may settle can do; return whether it changed."""
    trusted = lead.is_trusted or program.lead_auth_policy == LeadAuthPolicy.BROWSER_ALLOWED
    new = trusted and lead.customer_key is not None and customer.customer_key is None
    if new:
        registry.name(customer, str(lead.customer_key))
    return new


def _store(connection: Connection, changes: Sequence[_AcceptedLead], *, at: datetime) -> None:
    customers.save(connection, {change.customer.id: change.customer for change in changes}.values())
    events = [change for change in changes if change.settlement]
    if events:
        _insert(connection, [_row(change) for change in events])
    settled = [change for change in events if change.settlement == Settlement.SETTLED]
    earned = [_earned(change) for change in settled]
    ledger.append(connection, earned, at=at)
    rollups.add(connection, [_step(change, item) for change, item in zip(settled, earned, strict=True)])


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
    return (*who, change.settlement, lead.is_trusted, lead.event_name, lead.address_hash, to_millis(lead.at))


_insert = Append(
    leads, "program_id", "id", "customer_id", "partner_id", "settlement", "with_key", "event_name", "address_hash", "at"
)
