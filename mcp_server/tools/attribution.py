"""explain_attribution and list_refused_calls: why a sale was not credited, and which calls were rejected."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field

from mcp_server.arguments import Identifier
from mcp_server.results import Result, RowPage, fields_of, fitting, json_of_row
from mcp_server.sanitize import Untrusted
from mcp_server.tools.lists import Asked, list_tool
from mcp_server.tools.tool import ToolRequest, tool
from storage.diagnosis import explanation
from storage.diagnosis.readiness import ONGOING
from storage.diagnosis.steps import ExplanationStep
from storage.lists import rejected_calls
from storage.lists.rejected_calls import REJECTED_CALLS, Cause, RejectedCall
from storage.rules import errors
from storage.rules.scope import Scope
from web.errors import STATUS


class RefusedCallGrouping(StrEnum):
    """Whether to list causes or single calls."""

    CAUSES = "causes"
    CALLS = "calls"


@fields_of(RejectedCall, leave_out={"message"})
class RefusedCallRow(Result):
    """One rejected call; `fields` names the wrong ones."""

    status: Annotated[int, BeforeValidator(STATUS.__getitem__)] = Field(validation_alias="code")
    fields: list[Untrusted]


class RefusedCallPage(RowPage[RefusedCallRow]):
    """Causes, most frequent first, or single calls, newest first."""

    causes: list[dict[str, Any]]


class ExplanationResult(NamedTuple):
    """Why a sale was credited or not; `transaction_id` names the sale that the verdict and the trace are about."""

    verdict: str
    message: str
    smallest_change: str | None
    likely_customer_key: Untrusted | None
    transaction_id: Untrusted | None
    sale_id: int | None
    commission_id: int | None
    terms_version: int | None
    payment_event_id: Untrusted | None
    trace: list[ExplanationStep]
    refused_calls: list[RefusedCallRow]
    truncated: bool


@tool("Explain attribution", Scope.EVENTS_READ)
def explain_attribution(
    request: ToolRequest,
    *,
    program_id: int,
    transaction_id: Identifier | None = None,
    customer_key: Identifier | None = None,
    click_id: Identifier | None = None,
) -> ExplanationResult:
    """Why a sale was credited or not, even if none was recorded. Give one of transaction_id (or a processor's id, such
    as in_, pi_, ch_, cs_, sub_), customer_key, click_id.
    Returns verdict, trace, rejected calls, and the smallest_change that would have credited it.
    """
    explained = explanation.explain(
        request.connection,
        program_id,
        transaction_id=transaction_id,
        customer_key=customer_key,
        click_id=click_id,
        at=request.at,
    )
    calls = [RefusedCallRow.model_validate(call) for call in explained.rejected_calls]
    count = fitting(calls, budget=12_000)
    likely = explained.likely_customer_key
    meant = "Send likely_customer_key, the customer_key of the lead, with the sale."
    return ExplanationResult(
        verdict=explained.outcome,
        message=explained.text,
        smallest_change=meant if likely else explained.smallest_change,
        likely_customer_key=likely,
        transaction_id=explained.transaction_id,
        sale_id=explained.sale_id,
        commission_id=explained.commission_id,
        terms_version=explained.terms_version,
        payment_event_id=explained.payment_event_id,
        trace=explained.steps,
        refused_calls=calls[:count],
        truncated=count < len(calls),
    )


CHOSEN_VIEW = Annotated[RefusedCallGrouping, Field(strict=False)]


@list_tool("Rejected calls", Scope.EVENTS_READ, REJECTED_CALLS, view=(CHOSEN_VIEW, RefusedCallGrouping.CAUSES))
def list_refused_calls(asked: Asked) -> RefusedCallPage:
    """Calls with the program key, rejected in the last 30 days. view causes: by error code, with money
    at stake, first and last time, still_happening, what to do. view calls: one by one, newest first.
    """
    if asked.arguments["view"] == RefusedCallGrouping.CALLS:
        return RefusedCallPage(**dict(asked.page(RefusedCallRow)), causes=[])
    rows = rejected_calls.by_cause(asked.request.connection, asked.scope.program_id, asked.query.span)
    chosen = [cause for cause in rows if asked.query.filters["code"] in {None, cause.code}]
    causes = [_cause(cause, asked.request.at) for cause in chosen]
    return RefusedCallPage(truncated=False, next_cursor=None, data=[], causes=causes)


def _cause(cause: Cause, at: datetime) -> dict[str, Any]:
    """Return a cause, whether it still happens (its last call is less than a day old), and what to do about it."""
    row, hint = json_of_row(cause), errors.hint_of(cause.code)
    at_stake = row.pop("at_stake")
    row |= {"still_happening": cause.last_at >= at - ONGOING, "at_stake": at_stake}
    return row | {"hint": hint} if hint else row
