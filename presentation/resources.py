"""Response models of the dashboard API and the agent API: programs, partners, customers, commissions, events."""

from datetime import date, datetime
from typing import Any, Literal, Self

from pydantic import Field

from presentation.settings_models import shown, with_settings
from presentation.view import OF_PARTNER, OfPartnerView, View, with_fields_of
from storage.lists import customers
from storage.lists.audit_log import Entry
from storage.lists.balances import PartnerBalance
from storage.lists.commissions import Commission
from storage.lists.customers import ListedCustomer
from storage.lists.event_kinds import Event
from storage.lists.flags import Flag
from storage.lists.partners import FIGURES, Partner
from storage.lists.programs import Program
from storage.lists.rejected_calls import RejectedCall
from storage.management.by_hand import Adjustment
from storage.rules import errors, settings
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
    def of(cls, row: Program) -> Self:
        return cls(**row._asdict() | settings.published(row.settings))


@with_fields_of(PartnerBalance, leave_out={"next_hold_ends_at", "last_hold_ends_at"})
class BalanceView(View):
    """A partner's balance in cents of the program's currency: earnings are the first four less `owed_back_cents`.

    `pending_cents` is on hold (`on_hold_cents`) or to approve now (`ready_cents`). What flags keep from approval or
    payment is in `flagged_cents` alone. `to_pay_cents` is what is approved, less what refunds of paid commissions left
    owing.
    """

    on_hold_cents: int
    to_pay_cents: int


@with_fields_of(Partner, leave_out={"program_id", "notes", "to_pay_cents", *FIGURES})
class PartnerView(View):
    """A partner of a program; their `link` has `code` as `?aff=`."""

    balance: BalanceView


class ListedPartnerView(PartnerView):
    """A partner; if the list is asked for a period, dates, an order or totals, also what they brought then.

    Money is in cents of the program's currency.
    """

    clicks: int | None = None
    leads: int | None = None
    conversions: int | None = None
    revenue_cents: int | None = None
    commission_cents: int | None = None

    @classmethod
    def plain(cls, row: Any) -> Self:
        """Return the view of a partner without figures."""
        return cls(**dict(PartnerView.of(row)))


@with_fields_of(ListedCustomer, leave_out=OF_PARTNER)
class CustomerView(OfPartnerView):
    """A customer, and what they paid and got back, in cents of the program's currency; days are UTC days."""

    signup_date: date | None
    first_purchase_date: date | None


@with_fields_of(Commission, leave_out=OF_PARTNER | {"program_id"})
class CommissionView(OfPartnerView):
    """A commission: `amount_cents` as it was earned, `net_cents` after refunds and a rejection.

    When it was paid, `set_off_cents` were kept because the partner owed them back.
    `flags` are the signs of fraud or of a duplicate that hold it: it cannot be approved or paid.
    `credited_by` is null unless it was credited by hand.
    """


@with_fields_of(Adjustment)
class AdjustmentView(View):
    """A change of a partner's balance by hand, in cents of `currency`; their next payout settles it."""


@with_fields_of(Flag, leave_out=OF_PARTNER | {"program_id"})
class FlagView(OfPartnerView):
    """A sign of fraud: it holds the commissions of `customer_id`, or without one the partner's since `held_from`.

    A `possible_duplicate` holds `commission_id`, of a sale that may be a payment that the processor reported.
    """


@with_fields_of(Event)
class EventView(View):
    """An event. Fields other than `kind`, `id`, `at` and `is_test` depend on the kind. A click's id is its click_id."""

    @classmethod
    def of(cls, row: Event) -> Self:
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
    def timeline(cls, timeline: customers.CustomerTimeline) -> Self:
        """Return the view of a customer with their steps."""
        return cls.of(timeline.customer, trail=[_step(step) for step in timeline.steps])


@with_fields_of(RejectedCall)
class RefusedCallView(View):
    """A call with the program key that was rejected, why, and what to do."""

    status: int
    hint: str | None

    @classmethod
    def of(cls, row: RejectedCall) -> Self:
        """Return the view of a rejected call, with the hint of its code."""
        return cls(**row._asdict(), hint=errors.hint_of(row.code), status=STATUS[row.code])


class ActorView(View):
    """Who made a change."""

    type: str
    id: str
    name: str


@with_fields_of(Entry, leave_out={"actor_type", "actor_id", "actor_name", "subject"})
class AuditEntryView(View):
    """One change: who, when, what, and the old and new value of a field."""

    actor: ActorView


def _step(step: Event | Commission) -> CommissionStepView | EventView:
    if isinstance(step, Commission):
        return CommissionStepView.of(step, kind="commission", at=step.created_at)
    return EventView.of(step)
