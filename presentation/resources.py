"""Response models of the dashboard API and the agent API: programs, partners, customers, commissions, events."""

from datetime import date, datetime
from typing import Any, Literal, Self

from pydantic import Field

from presentation.settings_models import shown, with_settings
from presentation.view import View, with_fields_of
from storage.management import commissions, program_settings
from storage.management.balances import NO_BALANCE, PartnerBalance
from storage.management.partners import Partner
from storage.reading import customer_timelines, event_kinds, rejected_calls
from storage.rules import errors, settings
from storage.rules.attribution import PartnerStatus
from storage.rules.commission import CommissionStatus
from storage.rules.fraud.flag import FlagKind
from storage.rules.settlement import CustomerStatus, Settlement
from web.errors import STATUS


@with_settings(shown)
class _ProgramSettingsView(View):
    id: int


class ProgramView(_ProgramSettingsView):
    """A program; `commission_rate` is percent, or cents when `commission_type` is flat."""

    api_token_masked: str
    rotate_by: datetime | None
    sandbox_of: int | None = Field(description="The live program of this sandbox; null for a live program.")
    created_at: datetime

    @classmethod
    def of(cls, row: program_settings.Program) -> Self:
        """Return the view of a program: its settings and its other fields."""
        return cls(**row._asdict() | settings.published(row.settings))


class BalanceView(View):
    """A partner's balance in cents of the program's currency: earnings are the first four less `owed_back_cents`.

    `owed_back_cents` is what refunds of paid commissions left owing. The next payouts are reduced by it: `to_pay_cents`
    is what to pay for all approved commissions.
    """

    pending_cents: int
    on_hold_cents: int
    approved_cents: int
    paid_cents: int
    owed_back_cents: int
    to_pay_cents: int


class PartnerView(View):
    """A partner of a program; their links have `code` as `?aff=`."""

    id: int
    name: str
    email: str | None
    code: str
    status: PartnerStatus
    created_at: datetime
    open_flags: int
    balance: BalanceView

    @classmethod
    def of(cls, row: Partner, balance: PartnerBalance = NO_BALANCE) -> Self:
        """Return the view of a partner; a new one has no balance."""
        return cls(**row._asdict(), balance=BalanceView.of(balance))


class PartnerNameView(View):
    """The partner who sent a customer."""

    id: int
    name: str
    code: str

    @classmethod
    def of(cls, row: Any) -> Self:
        """Return the view of the partner in a customer's or a commission's row."""
        return cls(id=row.partner_id, name=row.partner_name, code=row.partner_code)


class CustomerView(View):
    """A customer; their e-mail address is masked."""

    program_id: int
    id: int
    customer_key: str | None
    click_id: str
    email_masked: str | None
    status: CustomerStatus
    settlement: Settlement
    partner: PartnerNameView
    clicked_at: datetime
    signup_date: date | None
    first_purchase_date: date | None
    created_at: datetime

    @classmethod
    def of(cls, row: customer_timelines.CustomerRecord, **others: Any) -> Self:
        """Return the view of a customer."""
        return cls(
            **row._asdict(),
            **others,
            email_masked=row.email_mask,
            partner=PartnerNameView.of(row),
            signup_date=row.signup_at.date() if row.signup_at else None,
            first_purchase_date=row.first_purchase_at.date() if row.first_purchase_at else None,
        )


class CommissionView(View):
    """A commission: `amount_cents` as it was earned, `net_cents` after refunds and a rejection.

    When it was paid, `set_off_cents` were kept because the partner owed them back.
    `flags` are the signs of fraud that hold it: it cannot be approved or paid.
    """

    id: int
    partner: PartnerNameView
    customer_id: int
    customer_key: str | None
    sale_id: int | None
    lead_id: int | None
    transaction_id: str | None
    amount_cents: int
    net_cents: int
    set_off_cents: int
    currency: str
    status: CommissionStatus
    created_at: datetime
    hold_until: datetime
    paid_at: datetime | None
    flags: list[FlagKind]

    @classmethod
    def of(cls, row: commissions.Commission, **others: Any) -> Self:
        """Return the view of a commission."""
        return cls(**row._asdict(), **others, partner=PartnerNameView.of(row))


@with_fields_of(event_kinds.Event)
class EventView(View):
    """An event. Fields other than `kind`, `id`, `at` and `is_test` depend on the kind. A click's id is its click_id."""

    @classmethod
    def of(cls, row: event_kinds.Event) -> Self:
        """Return the view of an event, without the fields that its kind does not have."""
        return cls(**{name: value for name, value in row._asdict().items() if value is not None})


class CommissionStepView(CommissionView):
    """A commission as a step of a customer's timeline."""

    kind: Literal["commission"]
    at: datetime


class CustomerTimelineView(CustomerView):
    """A customer with their timeline, oldest first."""

    trail: list[CommissionStepView | EventView]

    @classmethod
    def timeline(cls, timeline: customer_timelines.CustomerTimeline) -> Self:
        """Return the view of a customer with their steps."""
        return cls.of(timeline.customer, trail=[_step(step) for step in timeline.steps])


class RefusedCallView(View):
    """A call with the program key that was rejected, why, and what to do."""

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
    amount_cents: int | None
    currency: str | None
    same_payload: bool | None
    request_id: str | None

    @classmethod
    def of(cls, row: rejected_calls.LoggedRejection) -> Self:
        """Return the view of a rejected call, with the hint of its code."""
        derived = {"hint": errors.hint_of(row.code), "status": STATUS[row.code], "fields": list(row.fields)}
        return cls(**row._asdict() | derived)


class LogEntryView(View):
    """One test-mode call, and the test event that it stored."""

    id: int
    at: datetime
    call: str
    event_id: int | None
    message: str


class ActorView(View):
    """Who made a change."""

    type: str
    id: str
    name: str


class AuditEntryView(View):
    """One change: who, when, what, and the old and new value of a field."""

    id: int
    at: datetime
    actor: ActorView
    action: str
    subject_id: str | None
    field: str | None
    before: Any
    after: Any


def _step(step: event_kinds.Event | commissions.Commission) -> CommissionStepView | EventView:
    if isinstance(step, commissions.Commission):
        return CommissionStepView.of(step, kind="commission", at=step.created_at)
    return EventView.of(step)
