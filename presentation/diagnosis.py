"""Explanations, readiness and identifier health: why sales are not credited."""

from typing import Self

from presentation.resources import RefusedCallView
from presentation.view import View, with_fields_of
from storage.diagnosis.explanation import Explanation
from storage.diagnosis.identifier_health import Example, IdentifierHealth, KeyMismatch
from storage.diagnosis.readiness import Readiness, ReadinessGate
from storage.diagnosis.steps import ExplanationStep
from storage.rules.key_format import KeyFormat
from storage.rules.outcome import SaleOutcome


class SubjectView(View):
    """The identifier of the query, one of three."""

    transaction_id: str | None
    customer_key: str | None
    click_id: str | None


@with_fields_of(ExplanationStep)
class TraceStepView(View):
    """One step of the trace; `facts` are the values behind it, money in cents."""


@with_fields_of(
    Explanation,
    leave_out={"program_id", "outcome", "text", "steps", "rejected_calls", "likely_customer_key", "partner_name"},
    subject=SubjectView,
)
class ExplanationView(View):
    """Why a sale was credited or not; `smallest_change` is null when it is credited.

    `transaction_id` names the sale, recorded or rejected, that the verdict and the trace are about;
    `payment_event_id` the payment processor's event of a payment that is no sale.
    """

    verdict: SaleOutcome
    message: str
    trace: list[TraceStepView]
    refused_calls: list[RefusedCallView]

    @classmethod
    def of(cls, row: Explanation) -> Self:
        """Return the view of an explanation."""
        refused_calls = [RefusedCallView.of(call) for call in row.rejected_calls]
        named = {"verdict": row.outcome, "message": row.text, "trace": row.steps, "refused_calls": refused_calls}
        return super().of(row._asdict() | named)


@with_fields_of(ReadinessGate)
class GateView(View):
    """One gate; `next_action` says how to pass it and is null if it is passed."""


@with_fields_of(Example)
class KeyExampleView(View):
    """A sale's key, and the lead's key that it probably means."""


@with_fields_of(KeyMismatch, lead_shapes=list[KeyFormat], examples=list[KeyExampleView])
class KeyGroupView(View):
    """Sale keys of one format that match no lead."""


@with_fields_of(IdentifierHealth, groups=list[KeyGroupView])
class IdentifierHealthView(View):
    """Whether recent sales carry the keys of the leads.

    `matched` keys belong to a lead or to a credited sale; `not_referred` keys look right, but no partner sent those
    customers.
    """


@with_fields_of(Readiness, gates=list[GateView], identifier_health=IdentifierHealthView)
class ReadinessView(View):
    """All gates in order, the one that blocks first, and the identifiers' health."""
