"""A lead as it was reported, and the customer whom it names."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from storage.rules import attribution, keys
from storage.rules.contact import Contact
from storage.rules.errors import (
    AttributionWindowExpired,
    CustomerNotFound,
    CustomerWrongProgram,
    IdentifierConflict,
    ProgramNotFound,
)
from storage.rules.settlement import LeadAuthPolicy
from storage.tracking import program_terms
from storage.tracking.customers import Customer, CustomerQuery, Registry
from storage.tracking.program_terms import ProgramTerms

WITHOUT_KEY = "Without the program key, a lead needs a click_id of this program."


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


def identifiers(program: ProgramTerms, lead: Lead) -> CustomerQuery:
    """Return what to look up: no customer_key of a browser that may not settle, or that sends no click."""
    claims = program.lead_auth_policy == LeadAuthPolicy.BROWSER_ALLOWED and lead.click_id
    customer_key = lead.customer_key if lead.is_trusted or claims else None
    return CustomerQuery(program.id, customer_key, keys.click_program(lead.click_id or ""), lead.click_id)


def named_elsewhere(connection: Connection, batch: Sequence[tuple[ProgramTerms, Lead]]) -> dict[int, ProgramTerms]:
    """Return the programs that calls name with another program's key."""
    named = {lead.program_id for program, lead in batch if lead.program_id not in {None, program.id}}
    return program_terms.load(connection, [each for each in named if each is not None]) if named else {}


def require_program(lead: Lead, program: ProgramTerms, registry: Registry, elsewhere: dict[int, ProgramTerms]) -> None:
    """Raise ProgramNotFound or CustomerWrongProgram for a lead that names another program, or another one's click."""
    if lead.program_id not in {None, program.id}:
        raise CustomerWrongProgram if lead.program_id in elsewhere else ProgramNotFound
    click_program_id = keys.click_program(lead.click_id or "")
    if click_program_id != program.id and registry.by_click(click_program_id, lead.click_id):
        raise CustomerWrongProgram


def customer_of(lead: Lead, program: ProgramTerms, registry: Registry) -> tuple[Customer, Customer | None]:
    """Return the lead's customer, who may be new, and the one from whom the lead takes the customer_key.

    A browser's lead finds its customer by the click alone; one with the key also by the customer_key.
    """
    clicked = registry.by_click(keys.click_program(lead.click_id or ""), lead.click_id)
    holder = registry.by_key(program.id, lead.customer_key) if lead.is_trusted else None
    in_time = clicked and attribution.is_within(clicked.clicked_at, lead.at, program.attribution_window_days)
    if clicked is None:
        customer = holder
    elif holder is None or holder is clicked:
        customer = clicked
    elif holder.is_claimed and clicked.customer_key is None and (in_time or not clicked.is_new):
        return clicked, holder
    elif clicked.is_unnamed and not lead.has_paid:
        customer = holder
    else:
        raise IdentifierConflict
    if customer is None:
        raise CustomerNotFound if lead.is_trusted else CustomerNotFound(WITHOUT_KEY)
    if customer is clicked and lead.customer_key and clicked.customer_key not in {None, lead.customer_key}:
        raise IdentifierConflict
    if customer.is_new and not in_time:
        raise AttributionWindowExpired
    return customer, None


def holder_of(lead: Lead, customer: Customer, program: ProgramTerms, registry: Registry) -> Customer | None:
    """Return the other customer who has the key that a browser claims."""
    if lead.is_trusted or program.lead_auth_policy != LeadAuthPolicy.BROWSER_ALLOWED:
        return None
    holder = registry.by_key(program.id, lead.customer_key)
    return None if holder is customer else holder
