"""What the dashboard and the agent API show: programs, partners, customers, commissions, events as JSON objects."""

from collections.abc import Callable
from datetime import date, datetime
from typing import Any, TypeVar

from pydantic import BaseModel, JsonValue

from presentation.settings_models import shown, with_settings
from storage.engine import audit
from storage.engine.pagination import Page
from storage.management import commissions, partners, program_settings
from storage.reading import customer_timelines, event_kinds, rejected_calls
from storage.rules import errors, settings
from storage.rules.attribution import PartnerStatus
from storage.rules.commission import CommissionStatus
from storage.rules.settlement import CustomerStatus, Settlement

Value = TypeVar("Value")


@with_settings(shown)
class _ProgramSettings(BaseModel):
    id: int


class Program(_ProgramSettings):
    """A program; `commission_rate` is percent, or cents when `commission_type` is flat."""

    api_token_masked: str
    rotate_by: datetime | None
    created_at: datetime


class Partner(BaseModel):
    """A partner of a program; `code` is what their links carry."""

    id: int
    name: str
    email: str | None
    code: str
    status: PartnerStatus
    created_at: datetime


class PartnerName(BaseModel):
    """The partner who sent a customer."""

    id: int
    name: str
    code: str


class Customer(BaseModel):
    """A customer; of their e-mail address only the mask is known."""

    id: int
    customer_key: str | None
    click_id: str
    email_masked: str | None
    status: CustomerStatus
    settlement: Settlement
    partner: PartnerName
    clicked_at: datetime
    signup_date: date | None
    first_purchase_date: date | None
    created_at: datetime


class Commission(BaseModel):
    """A commission: `amount_cents` as it was earned, `net_cents` after refunds and a rejection."""

    id: int
    partner: PartnerName
    customer_id: int
    customer_key: str | None
    sale_id: int | None
    lead_id: int | None
    transaction_id: str | None
    amount_cents: int
    net_cents: int
    currency: str
    status: CommissionStatus
    created_at: datetime
    hold_until: datetime
    paid_at: datetime | None


class Event(BaseModel):
    """An event. `kind`, `id`, `at` are always there; the rest where the kind has it. A click's id is its click_id."""

    kind: event_kinds.EventKind
    id: int | str
    at: datetime
    partner_id: int | None = None
    partner_code: str | None = None
    customer_id: int | None = None
    customer_key: str | None = None
    click_id: str | None = None
    filtered: str | None = None
    settlement: Settlement | None = None
    with_key: bool | None = None
    event_name: str | None = None
    sale_id: int | None = None
    transaction_id: str | None = None
    refund_id: str | None = None
    amount_cents: int | None = None
    currency: str | None = None
    program_cents: int | None = None
    refunded_cents: int | None = None
    reason: str | None = None
    occurred_at: datetime | None = None
    test_of: str | None = None
    landing_url: str | None = None
    page_url: str | None = None
    page_title: str | None = None
    referrer_url: str | None = None


class CustomerTimeline(Customer):
    """A customer with what led to and followed from them, in time order; a commission is a step of that kind."""

    trail: list[dict[str, JsonValue]]


class RefusedCall(BaseModel):
    """A keyed call that was refused, why, and what to do about it."""

    id: int
    at: datetime
    call: str
    code: str
    status: int
    message: str
    hint: str | None
    fields: list[str]
    customer_key: str | None
    click_id: str | None
    transaction_id: str | None
    request_id: str | None


class Actor(BaseModel):
    """Who made a change."""

    type: str
    id: str
    name: str


class AuditEntry(BaseModel):
    """One change: who, when, what, and of a field the value before and after."""

    id: int
    at: datetime
    actor: Actor
    action: str
    subject_id: str | None
    field: str | None
    before: JsonValue
    after: JsonValue


def page(found: Page[Value], shown: Callable[[Value], dict[str, Any]]) -> dict[str, Any]:
    """Return a page as the body of a list."""
    return {"data": [shown(value) for value in found.data], "next_cursor": found.next_cursor}


def program(value: program_settings.Program) -> dict[str, Any]:
    """Return a program as its JSON object."""
    return _shown(Program, value._asdict() | settings.published(value.settings))


def partner(value: partners.Partner) -> dict[str, Any]:
    """Return a partner as their JSON object."""
    return _shown(Partner, value._asdict())


def customer(value: customer_timelines.CustomerRecord) -> dict[str, Any]:
    """Return a customer as their JSON object."""
    return _shown(
        Customer,
        value._asdict(),
        email_masked=value.email_mask,
        partner=_partner_name(value),
        signup_date=value.signup_at.date() if value.signup_at else None,
        first_purchase_date=value.first_purchase_at.date() if value.first_purchase_at else None,
    )


def trail(value: customer_timelines.CustomerTimeline) -> dict[str, Any]:
    """Return a customer with their trail as a JSON object."""
    return {**customer(value.customer), "trail": [_step(step) for step in value.steps]}


def commission(value: commissions.Commission) -> dict[str, Any]:
    """Return a commission as its JSON object."""
    return _shown(Commission, value._asdict(), partner=_partner_name(value))


def event(value: event_kinds.Event) -> dict[str, Any]:
    """Return an event as its JSON object, without the fields that its kind does not have."""
    return {name: content for name, content in value._asdict().items() if content is not None}


def refused_call(value: rejected_calls.LoggedRejection) -> dict[str, Any]:
    """Return a refused call as its JSON object."""
    return _shown(RefusedCall, value._asdict(), hint=errors.hint_of(value.code), fields=list(value.fields))


def audit_entry(value: audit.Entry) -> dict[str, Any]:
    """Return an audit entry as its JSON object."""
    return _shown(AuditEntry, value._asdict(), actor=value.actor._asdict())


def _step(step: event_kinds.Event | commissions.Commission) -> dict[str, Any]:
    if isinstance(step, commissions.Commission):
        return {"kind": "commission", "at": step.created_at, **commission(step)}
    return event(step)


def _partner_name(value: Any) -> dict[str, Any]:
    return {"id": value.partner_id, "name": value.partner_name, "code": value.partner_code}


def _shown(model: type[BaseModel], values: dict[str, Any], **others: Any) -> dict[str, Any]:
    """Return the model's fields of a value: what it does not name is not shown."""
    values = values | others
    return {name: values[name] for name in model.model_fields}
