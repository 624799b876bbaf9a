"""get_readiness and check_identifier_health: whether the integration works and its customer keys match."""

from typing import NamedTuple

from mcp_server.tools.tool import ToolRequest, tool
from storage.diagnosis import identifier_health, readiness
from storage.diagnosis.identifier_health import HealthState, IdentifierHealth
from storage.diagnosis.readiness import ReadinessGate
from storage.rules.scope import Scope


class ReadinessSummary(NamedTuple):
    """The readiness of a program with the state of its keys alone."""

    ready: bool
    blocker: str | None
    gates: list[ReadinessGate]
    identifier_state: HealthState


@tool("Check a program's readiness", Scope.PROGRAMS_READ)
def get_readiness(request: ToolRequest, *, program_id: int) -> ReadinessSummary:
    """What is missing before a program's first credited sale: gates in order (pass, fail, unknown = waits for real
    traffic), each with a next_action, and the blocker to fix first. Use it before setup advice.
    """
    report = readiness.check_readiness(request.connection, program_id, at=request.at, base_url=request.base_url)
    return ReadinessSummary(report.ready, report.blocker, report.gates, report.identifier_health.state)


@tool("Check customer keys", Scope.PROGRAMS_READ)
def check_identifier_health(request: ToolRequest, *, program_id: int) -> IdentifierHealth:
    """Do sales have the customer_key of the leads? Use it when many sales get customer_not_found.
    Counts of different keys in recent sales; groups of keys that match no lead, with the likely mapping.
    """
    return identifier_health.check_keys(request.connection, program_id)
