"""Response models of the dashboard API and the agent API: programs, partners, customers, commissions, events."""

from datetime import datetime
from typing import Literal, Self

from pydantic import Field

from presentation.settings_models import shown, with_settings
from presentation.view import OfPartnerView, View, with_fields_of
from storage.engine.audit import Actor
from storage.lists import customers
from storage.lists.audit_log import Entry
from storage.lists.commissions import Commission
from storage.lists.customers import ListedCustomer
from storage.lists.event_kinds import Event
from storage.lists.partners import FIGURES, Partner
from storage.lists.programs import Program
from storage.lists.rejected_calls import RejectedCall
from storage.rules import errors, settings
from web.errors import STATUS


@with_settings(shown)
class ProgramView(View):
    """A program; `commission_rate` is percent, or cents when `commission_type` is flat."""

    id: int
    api_token_masked: str
    rotate_by: datetime | None
    sandbox_of: int | None = Field(description="The live program of this sandbox; null for a live program.")
    created_at: datetime

    @classmethod
    def of(cls, row: Program) -> Self:
        return cls(**row._asdict() | settings.published(row.settings))


@with_fields_of(Partner, leave_out={"to_pay_cents", *FIGURES})
class PartnerView(View):
    """A partner of a program; their `link` has `code` as `?aff=`."""


@with_fields_of(Partner, leave_out={"to_pay_cents"})
class ListedPartnerView(View):
    """A partner, and what they brought in the period; money is in cents of the program's currency."""


@with_fields_of(Event)
class EventView(View):
    """An event. Fields other than `kind`, `id`, `at` and `is_test` depend on the kind. A click's id is its click_id."""

    @classmethod
    def of(cls, row: Event) -> Self:
        return cls(**{name: value for name, value in row._asdict().items() if value is not None})


@with_fields_of(Commission)
class CommissionStepView(OfPartnerView):
    """A commission as a step of a customer's timeline."""

    kind: Literal["commission"]
    at: datetime


@with_fields_of(ListedCustomer)
class CustomerTimelineView(OfPartnerView):
    """A customer with their timeline, oldest first."""

    trail: list[CommissionStepView | EventView]

    @classmethod
    def timeline(cls, timeline: customers.CustomerTimeline) -> Self:
        trail = [
            CommissionStepView.of(step, kind="commission", at=step.created_at)
            if isinstance(step, Commission)
            else EventView.of(step)
            for step in timeline.steps
        ]
        return cls.of(timeline.customer, trail=trail)


@with_fields_of(RejectedCall)
class RefusedCallView(View):
    """A call with the program key that was rejected, why, and what to do."""

    status: int
    hint: str | None

    @classmethod
    def of(cls, row: RejectedCall) -> Self:
        return cls(**row._asdict(), hint=errors.hint_of(row.code), status=STATUS[row.code])


@with_fields_of(Actor, leave_out={"may_pay"})
class ActorView(View):
    """Who made a change."""


@with_fields_of(Entry, leave_out={"actor_type", "actor_id", "actor_name", "subject"})
class AuditEntryView(View):
    """One change: who, when, what, and the old and new value of a field."""

    actor: ActorView
