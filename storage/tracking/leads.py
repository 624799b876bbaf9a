"""Leads: a customer signed up; settled with a program key (or a policy that trusts browsers), otherwise provisional."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.engine import feed, ids
from storage.engine.feed import Note
from storage.engine.group_commit import set_based
from storage.engine.statements import Statement
from storage.rules import errors
from storage.rules.attribution import PartnerStatus
from storage.rules.contact import Contact
from storage.rules.errors import ServiceError
from storage.rules.settlement import CustomerStatus, LeadAuthPolicy, Settlement, move
from storage.tables.columns import to_millis
from storage.tracking import ledger, outranking, program_terms, rollups
from storage.tracking.coupons import Coupons
from storage.tracking.customers import Customer, CustomerQuery, NamedCustomers, Registry
from storage.tracking.ledger import Earned
from storage.tracking.outranking import Outranked
from storage.tracking.program_terms import ProgramTerms

_insert = Statement("lead_insert")


class Lead(NamedTuple):
    click_id: str | None
    customer_key: str | None
    at: datetime
    is_trusted: bool = True  # it did not come from a browser
    has_paid: bool = False  # a payment through the connected account settles it
    program_id: int | None = None  # in the call
    contact: Contact | None = None
    event_name: str | None = None
    address_hash: str | None = None
    coupon_code: str | None = None


class LeadResult(NamedTuple):
    """The lead's state as its sender may know it: a browser whose customer_key is another customer's learns nothing."""

    settlement: Settlement
    recorded: bool  # False: nothing changed
    coupon_unknown: bool = False


class LeadChange(NamedTuple):
    id: int  # of the lead
    lead: Lead
    program: ProgramTerms
    result: LeadResult
    customer: Customer  # as they are afterwards
    settlement: Settlement | None  # None: the lead only names or confirms a customer, and is not recorded
    rival: Customer | None  # who has the key that a browser claims for this one
    outranked: Outranked | None
    changed: list[Customer]  # the new values of all, also of one who is no longer known by a key that is this one's now


@set_based
def record(connection: Connection, batch: Sequence[tuple[ProgramTerms, Lead]]) -> list[LeadResult | ServiceError]:
    """Record a batch of leads; each result is a LeadResult or the error."""
    at = max(lead.at for _, lead in batch)
    registry = Registry(connection, [_identifiers(program, lead) for program, lead in batch], at=at)
    coupons = Coupons(connection, batch, of_leads=True)
    others = {lead.program_id for program, lead in batch if lead.program_id not in {None, program.id}}
    elsewhere = program_terms.load(connection, [each for each in others if each is not None]) if others else {}
    changes: list[LeadChange] = []
    results: list[LeadResult | ServiceError] = []
    for (program, lead), lead_id in zip(batch, ids.after(at, len(batch)), strict=True):
        try:
            if lead.program_id not in {None, program.id}:
                raise errors.CustomerWrongProgram if lead.program_id in elsewhere else errors.ProgramNotFound
            change = decide(lead_id, lead, program, coupons.name(registry, program, lead, lead.at))
        except ServiceError as error:
            results.append(error)
        else:
            is_unknown = lead.coupon_code is not None and coupons.find(program.id, lead.coupon_code, lead.at) is None
            results.append(change.result._replace(coupon_unknown=is_unknown))
            registry.change(*change.changed)
            changes.append(change)
    _store(connection, changes, registry, at=at)
    coupons.save(connection, [each.customer for each in changes if each.settlement])
    return results


def _identifiers(program: ProgramTerms, lead: Lead) -> CustomerQuery:
    """Return what to look up: no customer_key of a browser that may not settle, or that sends no click."""
    claims = program.lead_auth_policy == LeadAuthPolicy.BROWSER_ALLOWED and lead.click_id
    return program.id, lead.customer_key if lead.is_trusted or claims else None, lead.click_id


def decide(lead_id: int, lead: Lead, program: ProgramTerms, named: NamedCustomers) -> LeadChange:
    """Return what a lead changes, given the customers whom it names. Raises the errors of `record`."""
    clicked, holder = named
    carries = clicked is None or holder is None or holder.id == clicked.id or holder.customer_key == lead.customer_key
    known = None if carries else holder  # as said by a sale alone, which a lead outranks
    carrier = holder if carries and lead.is_trusted else None
    before, claimant = _customer_of(lead, program, (clicked, carrier))
    claims = program.lead_auth_policy == LeadAuthPolicy.BROWSER_ALLOWED
    rival = holder if claims and not lead.is_trusted and holder is not None and holder.id != before.id else None
    policy = program.lead_auth_policy
    moved = move(before.settlement, before.status, with_key=lead.is_trusted, policy=policy, has_paid=lead.has_paid)
    moves = moved != before.settlement
    settled = _settled(before, lead, Settlement.OUTRANKED if rival else moved) if moves else before
    may_name = lead.is_trusted or (claims and settled.is_claimed and holder is None)
    after = _named(settled, lead, may_name=may_name)
    recorded = moves or after.customer_key != before.customer_key
    outranked = Outranked(claimant, after) if claimant else None
    changed = [outranked.loser] if outranked else []
    if known and known.known_as == after.customer_key:
        changed.append(known._replace(known_as=None))
    if recorded or after.confirmed != before.confirmed:
        changed.append(after)
    recorded_as, rival = (after.settlement, rival) if moves else (None, None)
    result = LeadResult(moved, recorded)
    priced = program.for_partner(after.partner_id, after.partner_terms)
    return LeadChange(lead_id, lead, priced, result, after, recorded_as, rival, outranked, changed)


def _customer_of(lead: Lead, program: ProgramTerms, named: NamedCustomers) -> tuple[Customer, Customer | None]:
    """Return the lead's customer, who may be new, and the one from whom the lead takes the customer_key."""
    clicked, holder = named
    if clicked is not None and clicked.program_id != program.id:
        raise errors.CustomerWrongProgram
    in_time = clicked and clicked.is_in_time(lead.at, program.attribution_window_days)
    if clicked is None:
        customer = holder
    elif holder is None or holder.id == clicked.id:
        customer = clicked
    elif holder.is_claimed and clicked.customer_key is None and (in_time or not clicked.is_new):
        return clicked, holder
    elif clicked.is_unnamed and not lead.has_paid:
        customer = holder
    else:
        raise errors.IdentifierConflict
    if customer is None:
        without_key = "Without the program key, a lead needs a click_id of this program."
        raise errors.CustomerNotFound(None if lead.is_trusted else without_key)
    keys = {customer.customer_key, customer.known_as if lead.is_trusted else None} - {None}
    if customer is clicked and lead.customer_key and keys - {lead.customer_key}:
        raise errors.IdentifierConflict
    if customer.is_new and not in_time:
        raise errors.AttributionWindowExpired
    return customer, None


def _settled(customer: Customer, lead: Lead, new: Settlement) -> Customer:
    """Return the customer with the lead's new state, and with what the lead says of them."""
    settles = new == Settlement.SETTLED
    has_bought = customer.status == CustomerStatus.CONVERSION
    signup_at = lead.at if settles else customer.signup_at
    status = CustomerStatus.LEAD if settles and not has_bought else customer.status
    contact = lead.contact._asdict() if lead.contact else {}
    return customer._replace(settlement=new, signup_at=signup_at, status=status, **contact)


def _named(customer: Customer, lead: Lead, *, may_name: bool) -> Customer:
    """Return the customer with the lead's customer_key, if they have none and it may name them."""
    customer_key = customer.customer_key or (lead.customer_key if may_name else None)
    # A lead with the key confirms a customer whom it names by click and by what they carry.
    names = lead.click_id == customer.click_id and customer_key in {None, lead.customer_key}
    confirmed = customer.confirmed or (lead.is_trusted and names)
    if (customer_key, confirmed) == (customer.customer_key, customer.confirmed):
        return customer
    known_as = None if customer_key == customer.known_as else customer.known_as
    return customer._replace(customer_key=customer_key, confirmed=confirmed, known_as=known_as)


def _store(connection: Connection, changes: Sequence[LeadChange], registry: Registry, *, at: datetime) -> None:
    registry.save(connection)
    events = [each for each in changes if each.settlement]
    if events:
        _insert(connection, [_row(each) for each in events])
        new = (Note(each.program.id, "lead.record", each.lead.at, each.id, str(each.settlement)) for each in events)
        feed.note(connection, new)
    settled = [earned(each) for each in events if each.settlement == Settlement.SETTLED]
    ledger.append(connection, settled, at=at)
    steps = [rollups.Increment(*each.key[:2], each.at.date(), leads=1, commission_cents=each.cents) for each in settled]
    outranked = [each.outranked for each in changes if each.outranked]
    rollups.add(connection, [*steps, *outranking.store(connection, outranked, at=at)])


def earned(change: LeadChange) -> Earned:
    """Return what a settled lead earns: the program's per-lead commission, unless its partner has left."""
    at = change.lead.at
    left = change.customer.partner_status == PartnerStatus.INACTIVE
    cents = 0 if left else change.program.terms.lead_commission_cents
    return Earned(change.program, change.customer, cents, at, at, lead_id=change.id)


def _row(change: LeadChange) -> tuple[Any, ...]:
    lead, at = change.lead, to_millis(change.lead.at)
    who = (change.program.id, change.id, change.customer.id, change.customer.partner_id)
    lost = (change.rival.id, at) if change.rival else (None, None)
    return (*who, change.settlement, lead.is_trusted, lead.event_name, lead.address_hash, *lost, at)
