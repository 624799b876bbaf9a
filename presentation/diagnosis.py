"""Explanations, readiness and identifier health: why sales are not credited."""

from datetime import datetime
from typing import Any, Self

from presentation.resources import RefusedCallView
from presentation.view import View
from storage.diagnosis.explanation import Explanation
from storage.diagnosis.identifier_health import HealthState
from storage.rules.key_format import Difference, KeyFormat
from storage.rules.outcome import SaleOutcome
from storage.rules.state import State


class SubjectView(View):
    """The identifier of the query, one of three."""

    transaction_id: str | None
    customer_key: str | None
    click_id: str | None


class TraceStepView(View):
    """One step of the trace; `facts` are the values behind it, money in cents."""

    step: str
    state: State
    text: str
    facts: dict[str, Any]


class ExplanationView(View):
    """Why a sale was credited or not; `smallest_change` is null when it is credited.

    `transaction_id` names the sale, recorded or rejected, that the verdict and the trace are about;
    `payment_event_id` the payment processor's event of a payment that is no sale.
    """

    verdict: SaleOutcome
    message: str
    smallest_change: str | None
    subject: SubjectView
    transaction_id: str | None
    sale_id: int | None
    commission_id: int | None
    terms_version: int | None
    payment_event_id: str | None
    trace: list[TraceStepView]
    refused_calls: list[RefusedCallView]

    @classmethod
    def of(cls, row: Explanation) -> Self:
        """Return the view of an explanation."""
        refused_calls = [RefusedCallView.of(call) for call in row.rejected_calls]
        named = {"verdict": row.outcome, "message": row.text, "trace": row.steps, "refused_calls": refused_calls}
        return super().of(row._asdict() | named)


class RejectedKeysView(View):
    """Events that were rejected because of their program key; `is_ongoing`: the last is less than a day old."""

    calls: int
    first_at: datetime
    last_at: datetime
    is_ongoing: bool


class GateView(View):
    """One gate; `next_action` says how to pass it and is null if it is passed."""

    gate: str
    state: State
    verified_at: datetime | None
    next_action: str | None
    rejected: RejectedKeysView | None


class KeyExampleView(View):
    """A sale's key, and the lead's key that it probably means."""

    sale_key: str
    lead_key: str | None


class KeyGroupView(View):
    """Sale keys of one format that match no lead."""

    difference: Difference
    shape: KeyFormat
    keys: int
    lead_shapes: list[KeyFormat]
    likely_mapping: str
    examples: list[KeyExampleView]


class IdentifierHealthView(View):
    """Whether recent sales carry the keys of the leads.

    `matched` keys belong to a lead or to a credited sale; `not_referred` keys look right, but no partner sent those
    customers.
    """

    state: HealthState
    sale_keys: int
    matched: int
    not_referred: int
    groups: list[KeyGroupView]


class ReadinessView(View):
    """All gates in order, the one that blocks first, and the identifiers' health."""

    ready: bool
    blocker: str | None
    gates: list[GateView]
    identifier_health: IdentifierHealthView
