"""What members and agents read besides lists and reports: a customer, why sales are missing, what changed, and rows."""

from datetime import datetime
from typing import Literal, Self

from pydantic import Field

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.operations import PAGING, operation
from presentation.settings_models import shown, with_settings
from presentation.view import OfPartnerView, View, viewed, with_fields_of
from storage.diagnosis.explanation import Explanation, explain
from storage.diagnosis.facts import Subject
from storage.diagnosis.readiness import Readiness, check_readiness
from storage.diagnosis.steps import ExplanationStep
from storage.engine.audit import Actor
from storage.lists.audit_log import Entry
from storage.lists.commissions import Commission
from storage.lists.customers import ListedCustomer, get_timeline
from storage.lists.declaration import DEFAULT_LIMIT, MOST
from storage.lists.event_kinds import Event
from storage.lists.partners import FIGURES, Partner
from storage.lists.programs import Program, read_program
from storage.lists.rejected_calls import RejectedCall
from storage.management import referrals
from storage.reports.changes import FeedPage, read_changes
from storage.rules import errors, settings
from storage.rules.outcome import SaleOutcome
from web.errors import STATUS
from web.response import ModelResponse


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


@with_fields_of(
    Explanation,
    leave_out={"program_id", "outcome", "text", "steps", "rejected_calls", "likely_customer_key", "partner_name"},
    trace=viewed(list[ExplanationStep]),
)
class ExplanationView(View):
    """Why a sale was credited or not; `smallest_change` is null when it is credited. A rejection is its error code.

    `transaction_id` names the sale, recorded or rejected, that the verdict and the trace are about;
    `payment_event_id` the payment processor's event of a payment that is no sale.
    """

    verdict: SaleOutcome | str
    message: str
    refused_calls: list[RefusedCallView]

    @classmethod
    def of(cls, row: Explanation) -> Self:
        refused_calls = [RefusedCallView.of(call) for call in row.rejected_calls]
        named = {"verdict": row.outcome, "message": row.text, "trace": row.steps, "refused_calls": refused_calls}
        return super().of(row._asdict() | named)


@operation(response_headers=("ETag",))
async def get_program(call: ApiRequest) -> ModelResponse[ProgramView]:
    """Return a program, with its key masked; its ETag guards a change."""
    return tagged(await call.read(read_program))


def tagged(program: Program) -> ModelResponse[ProgramView]:
    """Return the response that has a program, with its ETag."""
    return ModelResponse(ProgramView.of(program), {"ETag": f'"{program.revision}"'})


IDENTIFIERS = {
    "transaction_id": "The sale's, or any id of the payment processor. Send exactly one of the three identifiers.",
    "customer_key": "The customer's; their newest sale is explained.",
    "click_id": "The click's.",
}


@operation()
async def get_customer(call: ApiRequest) -> CustomerTimelineView:
    """Return one customer with their timeline: click, lead, sales, refunds and commissions."""
    customer, steps = await call.storage.report(get_timeline, call.scope, call.path_id("customer_id"))
    trail = [
        CommissionStepView.of(step, kind="commission", at=step.created_at)
        if isinstance(step, Commission)
        else EventView.of(step)
        for step in steps
    ]
    return CustomerTimelineView.of(customer, trail=trail)


@operation(query=IDENTIFIERS)
async def explain_sale(call: ApiRequest) -> ExplanationView:
    """Explain why a sale was credited or not, also when there is no such sale."""
    subject = {name: queries.text(call.request.query_params, name) for name in IDENTIFIERS}
    subject["click_id"] = referrals.click_of(subject["click_id"], lambda: call.sealer)
    return ExplanationView.of(await call.report(explain, Subject(**subject), at=call.at))


@operation(errors.CursorExpired, query=PAGING)
async def get_changes(call: ApiRequest) -> FeedPage:
    """Return what changed since a cursor, in the order of the commits."""
    sent = call.request.query_params
    limit = queries.number(sent, "limit", least=1, most=MOST) or DEFAULT_LIMIT
    return await call.read(read_changes, cursor=sent.get("cursor"), limit=limit, at=call.at)


@operation()
async def get_readiness(call: ApiRequest) -> Readiness:
    """Return what the program still lacks for its first credited sale."""
    return await call.report(check_readiness, at=call.at, base_url=call.base_url)
