"""Explanations, readiness and identifier health as JSON: what agents read to find out why something is not credited."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, JsonValue
from starlette.requests import Request

from presentation import queries, resources
from presentation.resources import RefusedCall
from storage.diagnosis.explanation import Explanation as Explained
from storage.diagnosis.identifier_health import HealthState
from storage.diagnosis.identifier_health import IdentifierHealth as Compared
from storage.diagnosis.readiness import Readiness as Checked
from storage.rules.key_format import Difference, KeyFormat
from storage.rules.outcome import Verdict
from storage.rules.state import State


class Subject(BaseModel):
    """The identifier that was asked about; one of the three."""

    transaction_id: str | None
    customer_key: str | None
    click_id: str | None


class TraceStep(BaseModel):
    """One step of the trace; `facts` are the values behind it, money in cents."""

    step: str
    state: State
    text: str
    facts: dict[str, JsonValue]


class Explanation(BaseModel):
    """Why a sale was credited or not; `smallest_change` is null when it is credited."""

    verdict: Verdict
    message: str
    smallest_change: str | None
    subject: Subject
    sale_id: int | None
    commission_id: int | None
    terms_version: int | None
    trace: list[TraceStep]
    refused_calls: list[RefusedCall]


class Gate(BaseModel):
    """One gate; `next_action` says what passes it, null once it is passed."""

    gate: str
    state: State
    verified_at: datetime | None
    next_action: str | None


class KeyExample(BaseModel):
    """A sale's key, and the lead's key that it was likely meant to be."""

    sale_key: str
    lead_key: str | None


class KeyGroup(BaseModel):
    """Sale keys that match no lead and look alike."""

    difference: Difference
    shape: KeyFormat
    keys: int
    lead_shapes: list[KeyFormat]
    likely_mapping: str
    examples: list[KeyExample]


class IdentifierHealth(BaseModel):
    """Whether recent sales carry the keys of the leads; `not_referred` look right and belong to nobody's customers."""

    state: HealthState
    sale_keys: int
    matched: int
    not_referred: int
    groups: list[KeyGroup]


class Readiness(BaseModel):
    """All gates in order, the one that blocks first, and the identifiers' health."""

    ready: bool
    blocker: str | None
    gates: list[Gate]
    identifier_health: IdentifierHealth


def asked(request: Request) -> dict[str, str | None]:
    """Return the identifiers that a query asks about. Raises ValidationError for one that cannot be any."""
    return {name: queries.text(request, name) for name in Subject.model_fields}


def explanation(found: Explained) -> dict[str, Any]:
    """Return an explanation as its JSON object."""
    return {
        "verdict": found.verdict,
        "message": found.text,
        "smallest_change": found.smallest_change,
        "subject": found.subject._asdict(),
        "sale_id": found.sale_id,
        "commission_id": found.commission_id,
        "terms_version": found.terms_version,
        "trace": [step._asdict() for step in found.trace],
        "refused_calls": [resources.refused_call(call) for call in found.refused_calls],
    }


def readiness(found: Checked) -> dict[str, Any]:
    """Return a program's readiness as its JSON object."""
    return {
        "ready": found.ready,
        "blocker": found.blocker,
        "gates": [gate._asdict() for gate in found.gates],
        "identifier_health": identifier_health(found.identifier_health),
    }


def identifier_health(found: Compared) -> dict[str, Any]:
    """Return a program's identifier health as its JSON object."""
    groups = [
        {**group._asdict(), "examples": [example._asdict() for example in group.examples]} for group in found.groups
    ]
    return {**found._asdict(), "groups": groups}
