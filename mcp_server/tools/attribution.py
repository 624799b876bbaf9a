"""explain_attribution and list_refused_calls: why a sale was not credited, and what is refused most."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import Field, JsonValue

from mcp_server.arguments import Identifier, OfProgram, Paged
from mcp_server.results import Listed, Model, Result, fitting, page
from mcp_server.sanitize import Untrusted, clean
from mcp_server.tools.tool import Tool, ToolRequest
from storage.diagnosis import explanation
from storage.reading import rejected_calls
from storage.rules import errors
from storage.rules.scope import Scope


class View(StrEnum):
    """How refused calls are shown."""

    CAUSES = "causes"
    CALLS = "calls"


class RefusedQuery(Paged, OfProgram):
    """Which refused calls are wanted, and how."""

    view: View = Field(default=View.CAUSES, strict=False)
    code: Identifier | None = None


class SaleQuery(OfProgram):
    """The sale, customer or click that is asked about: exactly one identifier."""

    transaction_id: Identifier | None = None
    customer_key: Identifier | None = None
    click_id: Identifier | None = None


class Cause(Model):
    """All refusals of one code in the 30 days kept."""

    code: str
    calls: int
    first_at: datetime
    last_at: datetime
    hint: str | None = None


class CallRow(Model):
    """One refused call; `fields` names those at fault."""

    id: int
    at: datetime
    call: str
    code: str
    status: int
    fields: list[Untrusted]
    customer_key: Untrusted | None = None
    click_id: Untrusted | None = None
    transaction_id: Untrusted | None = None
    request_id: str | None = None


class RefusedCalls(Listed):
    """Causes, most frequent first; or single calls, newest first."""

    causes: list[Cause]
    data: list[CallRow]


class Step(Model):
    """One step of the trace; `facts` are the values behind it."""

    step: str
    state: str
    text: str
    facts: dict[str, JsonValue]


class Explanation(Result):
    """Why a sale was credited or not."""

    verdict: str
    message: str
    smallest_change: str | None = None
    likely_customer_key: Untrusted | None = None
    sale_id: int | None = None
    commission_id: int | None = None
    terms_version: int | None = None
    trace: list[Step]
    refused_calls: list[CallRow]
    truncated: bool


def _refused(call: ToolRequest, arguments: RefusedQuery) -> RefusedCalls:
    if arguments.view == View.CAUSES:
        found = rejected_calls.by_cause(call.connection, arguments.program_id)
        wanted = [cause for cause in found if arguments.code in {None, cause.code}]
        causes = [Cause(**cause._asdict(), hint=errors.hint_of(cause.code)) for cause in wanted]
        return RefusedCalls(**call.says(arguments), truncated=False, next_cursor=None, causes=causes, data=[])
    listed = rejected_calls.list_calls(call.connection, arguments.program_id, arguments.paging, code=arguments.code)
    return RefusedCalls(**call.says(arguments), causes=[], **page(listed, CallRow.model_validate))


def _explain(call: ToolRequest, arguments: SaleQuery) -> Explanation:
    found = explanation.explain(call.connection, at=call.at, **arguments.model_dump())
    calls = [CallRow.model_validate(refused) for refused in found.refused_calls]
    count = fitting(calls, budget=9_000)
    likely = found.likely_customer_key
    meant = "Send the customer_key in likely_customer_key with the sale: the lead carried that one."
    return Explanation(
        **call.says(arguments),
        verdict=found.verdict,
        message=found.text,
        smallest_change=meant if likely else found.smallest_change,
        likely_customer_key=likely,
        sale_id=found.sale_id,
        commission_id=found.commission_id,
        terms_version=found.terms_version,
        trace=[Step(**step._replace(facts=_inert(step.facts))._asdict()) for step in found.trace],
        refused_calls=calls[:count],
        truncated=count < len(calls),
    )


def _inert(facts: dict[str, Any]) -> dict[str, Any]:
    """Return a step's facts with every text in them cleaned, moments in ISO 8601, and nothing that is None."""
    shown = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in facts.items()}
    return {
        name: clean(value) if isinstance(value, str) else value for name, value in shown.items() if value is not None
    }


EXPLAIN_ATTRIBUTION = Tool(
    name="explain_attribution",
    title="Explain a sale's attribution",
    scope=Scope.EVENTS_READ,
    description=(
        "Why a sale was credited or not, also if none was recorded. Give exactly one of transaction_id, customer_key, "
        "click_id. Returns a verdict, the trace (partner, click, window, lead, program, rate, hold, refunds, "
        "arithmetic in cents), refused calls about it, and the smallest_change that would have credited it."
    ),
    arguments=SaleQuery,
    result=Explanation,
    answer=_explain,
)
LIST_REFUSED_CALLS = Tool(
    name="list_refused_calls",
    title="List refused calls",
    scope=Scope.EVENTS_READ,
    description=(
        "Keyed tracking calls refused in the last 30 days. view causes (default): one row per error code, most "
        "frequent first, with what to do. view calls: single calls, newest first, paged; code narrows either."
    ),
    arguments=RefusedQuery,
    result=RefusedCalls,
    answer=_refused,
)
