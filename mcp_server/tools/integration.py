"""get_readiness and check_identifier_health: whether the integration works and its customer keys match."""

from datetime import datetime

from mcp_server.results import Result
from mcp_server.sanitize import Untrusted
from mcp_server.tools.tool import ToolRequest, tool
from storage.diagnosis import identifier_health, readiness
from storage.rules.scope import Scope


class RejectedKeysRow(Result):
    """Events that were rejected because of their program key; `is_ongoing`: the last is less than a day old."""

    calls: int
    first_at: datetime
    last_at: datetime
    is_ongoing: bool


class GateState(Result):
    """One gate; a passed gate has no `next_action`."""

    gate: str
    state: str
    verified_at: datetime | None = None
    next_action: str | None = None
    rejected: RejectedKeysRow | None = None


class ReadinessResult(Result):
    """All gates; `blocker` is absent when all are passed."""

    ready: bool
    blocker: str | None = None
    gates: list[GateState]
    identifier_state: str


class KeyExample(Result):
    """A sale's key, and the lead's key that it probably means."""

    sale_key: Untrusted
    lead_key: Untrusted | None = None


class UnmatchedKeys(Result):
    """Sale keys of one format that match no lead."""

    difference: str
    shape: str
    keys: int
    lead_shapes: list[str]
    likely_mapping: str
    examples: list[KeyExample]


class IdentifierHealthResult(Result):
    """How the keys of sales match those of leads."""

    state: str
    sale_keys: int
    matched: int
    not_referred: int
    groups: list[UnmatchedKeys]


@tool("Check a program's readiness", Scope.PROGRAMS_READ)
def get_readiness(request: ToolRequest, *, program_id: int) -> ReadinessResult:
    """What is missing before a program's first credited sale: gates in order (pass, fail, unknown = waits for real
    traffic), each with a next_action, and the blocker to fix first. Use it before setup advice.
    """
    report = readiness.check_readiness(request.connection, program_id, at=request.at, base_url=request.base_url)
    gates = [GateState.model_validate(gate) for gate in report.gates]
    state = report.identifier_health.state
    return ReadinessResult(ready=report.ready, blocker=report.blocker, gates=gates, identifier_state=state)


@tool("Check customer keys", Scope.PROGRAMS_READ)
def check_identifier_health(request: ToolRequest, *, program_id: int) -> IdentifierHealthResult:
    """Do sales have the customer_key of the leads? Use it when many sales get customer_not_found.
    Counts of different keys in recent sales; groups of keys that match no lead, with the likely mapping.
    """
    return IdentifierHealthResult.model_validate(identifier_health.check_keys(request.connection, program_id))
