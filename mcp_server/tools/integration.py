"""get_readiness and check_identifier_health: does the integration work, and do its customer keys agree."""

from datetime import datetime

from mcp_server.arguments import OfProgram
from mcp_server.results import Model, Result
from mcp_server.sanitize import Untrusted
from mcp_server.tools.tool import Tool, ToolRequest
from storage.diagnosis import identifier_health, readiness
from storage.rules.scope import Scope


class Gate(Model):
    """One gate; `next_action` is absent once it is passed."""

    gate: str
    state: str
    verified_at: datetime | None = None
    next_action: str | None = None


class Readiness(Result):
    """All gates; `blocker` is absent when all are passed."""

    ready: bool
    blocker: str | None = None
    gates: list[Gate]
    identifier_state: str


class Example(Model):
    """A sale's key, and the lead's key it was likely meant to be."""

    sale_key: Untrusted
    lead_key: Untrusted | None = None


class Group(Model):
    """Sale keys that match no lead and look alike."""

    difference: str
    shape: str
    keys: int
    lead_shapes: list[str]
    likely_mapping: str
    examples: list[Example]


class Health(Result):
    """How the keys of sales fit those of leads."""

    state: str
    sale_keys: int
    matched: int
    not_referred: int
    groups: list[Group]


def _readiness(call: ToolRequest, arguments: OfProgram) -> Readiness:
    found = readiness.check_readiness(call.connection, arguments.program_id, at=call.at)
    gates = [Gate.model_validate(gate) for gate in found.gates]
    return Readiness(
        **call.says(arguments),
        ready=found.ready,
        blocker=found.blocker,
        gates=gates,
        identifier_state=found.identifier_health.state,
    )


def _health(call: ToolRequest, arguments: OfProgram) -> Health:
    found = identifier_health.check_keys(call.connection, arguments.program_id)
    return Health(
        **call.says(arguments),
        **found._replace(groups=[])._asdict() | {"groups": [Group.model_validate(group) for group in found.groups]},
    )


GET_READINESS = Tool(
    name="get_readiness",
    title="Check a program's readiness",
    scope=Scope.PROGRAMS_READ,
    description=(
        "What stands between a program and its first credited sale: gates in order (pass, fail, unknown = waits for "
        "real traffic), each with a next_action, and the blocker to fix first. Use it before setup advice."
    ),
    arguments=OfProgram,
    result=Readiness,
    answer=_readiness,
)
CHECK_IDENTIFIER_HEALTH = Tool(
    name="check_identifier_health",
    title="Check customer keys",
    scope=Scope.PROGRAMS_READ,
    description=(
        "Do sales carry the customer_key of the leads? Use it when many sales are refused with customer_not_found. "
        "Counts of different keys in recent sales; groups of keys that match no lead, with the likely mapping."
    ),
    arguments=OfProgram,
    result=Health,
    answer=_health,
)
