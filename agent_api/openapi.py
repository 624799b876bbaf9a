"""What the agent API answers, operation by operation: the OpenAPI side of its routes."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from agent_api import responses
from agent_api.app import PROGRAM, SCOPES
from presentation import diagnosis, lists, report, resources
from presentation.changes import AgentProgramChange, CommissionChange, NewPartner, PartnerChange
from presentation.openapi import Operation, refusing
from storage.rules.errors import (
    CurrencyNotSupported,
    IdempotencyKeyReused,
    InsufficientScope,
    InternalError,
    InvalidJson,
    InvalidKey,
    InvalidPeriod,
    InvalidRange,
    NotFound,
    Overloaded,
    PayloadTooLarge,
    PreconditionFailed,
    ProgramNotAllowed,
    ServiceError,
    UnsupportedMediaType,
    ValidationError,
    WrongKeyType,
)

SENT = (InvalidJson, ValidationError, PayloadTooLarge, UnsupportedMediaType)
PAGED = {"limit": "Rows on a page, 1 to 200; 50 unless told.", "cursor": "`next_cursor` of the page before."}


def _call(
    method: str,
    path: str,
    name: str,
    summary: str,
    answer: type[BaseModel],
    *refusals: type[ServiceError],
    **options: Any,
) -> Operation:
    """Return an operation with what its key may be refused for."""
    scope = SCOPES[method, path]
    scoped = (InsufficientScope,) if scope else ()
    reached = (ProgramNotAllowed,) if path.startswith(PROGRAM) else ()
    refused = refusing(InvalidKey, WrongKeyType, *scoped, *reached, *refusals, InternalError, Overloaded)
    status = options.pop("status", 200)
    described = {"description": f"Scope: {scope}." if scope else "Any agent key.", "tag": "agents", **options}
    return Operation(method, path, name, summary, {status: (answer,)}, refused, security=("agentKey",), **described)


def _list(path: str, name: str, summary: str, answer: type[BaseModel], **filters: str) -> Operation:
    query: Mapping[str, str] = {**PAGED, **filters}
    return _call("GET", path, name, summary, answer, ValidationError, query=query)


OPERATIONS = (
    _call("GET", "/api/agent/v1/me", "agentReadKey", "What the presented key is and may do", responses.Me),
    _list("/api/agent/v1/programs", "agentListPrograms", "The programs that the key reaches", lists.Programs),
    _call(
        "GET",
        PROGRAM,
        "agentReadProgram",
        "A program; its ETag guards a change",
        resources.Program,
        answer_headers=("ETag",),
    ),
    _call(
        "PATCH",
        PROGRAM,
        "agentChangeProgram",
        "Change a program's settings; new terms hold for later sales only",
        resources.Program,
        *(CurrencyNotSupported, PreconditionFailed, *SENT),
        body=AgentProgramChange,
        headers={"If-Match": "The ETag of the version that shall be changed: another one is 412."},
        answer_headers=("ETag",),
    ),
    _call(
        "GET",
        f"{PROGRAM}/readiness",
        "agentReadReadiness",
        "What stands between the program and its first credited sale",
        diagnosis.Readiness,
    ),
    _list(f"{PROGRAM}/audit-log", "agentReadAuditLog", "Who changed what", lists.AuditLog),
    _call(
        "GET",
        f"{PROGRAM}/performance",
        "agentReadPerformance",
        "Daily totals, metrics and trends of a program",
        report.Report,
        InvalidPeriod,
        InvalidRange,
        query={
            "period": "7d, 30d, 90d or all; 7d unless told.",
            "dateFrom": "ISO 8601; with dateTo, in place of period.",
            "dateTo": "ISO 8601; with dateFrom, in place of period.",
        },
    ),
    _list(
        f"{PROGRAM}/events",
        "agentListEvents",
        "Clicks, leads, sales, refunds and test events",
        lists.Events,
        kind="click, lead, sale, refund or test.",
    ),
    _list(
        f"{PROGRAM}/refused-calls",
        "agentListRefusedCalls",
        "Keyed calls that were refused in the last 30 days",
        lists.RefusedCalls,
        code="Of one error code.",
    ),
    _call(
        "GET",
        f"{PROGRAM}/explain",
        "agentExplain",
        "Why a sale was credited or not; also when no such sale exists",
        diagnosis.Explanation,
        ValidationError,
        query={
            "transaction_id": "Of the sale. Send exactly one of the three.",
            "customer_key": "Of the customer: their newest sale is explained.",
            "click_id": "Of the click.",
        },
    ),
    _list(
        f"{PROGRAM}/customers",
        "agentListCustomers",
        "The customers",
        lists.Customers,
        status="provisional, lead or conversion.",
        partner_id="Of one partner.",
        customer_key="The one with this key.",
    ),
    _call(
        "GET",
        f"{PROGRAM}/customers/{{customer_id}}",
        "agentReadCustomer",
        "One customer with their whole trail",
        resources.CustomerTimeline,
        NotFound,
    ),
    _list(
        f"{PROGRAM}/commissions",
        "agentListCommissions",
        "The commissions",
        lists.Commissions,
        status="pending, approved, rejected, paid or reversed.",
        partner_id="Of one partner.",
    ),
    _call(
        "PATCH",
        f"{PROGRAM}/commissions/{{commission_id}}",
        "agentDecideCommission",
        "Approve, reject or pay a commission",
        resources.Commission,
        *(NotFound, *SENT),
        body=CommissionChange,
    ),
    _list(
        f"{PROGRAM}/partners",
        "agentListPartners",
        "The partners",
        lists.Partners,
        status="active, paused or inactive.",
    ),
    _call(
        "POST",
        f"{PROGRAM}/partners",
        "agentEnrolPartner",
        "Enrol a partner",
        resources.Partner,
        *(IdempotencyKeyReused, *SENT),
        status=201,
        body=NewPartner,
        headers={"Idempotency-Key": "Repeated with the same body within 30 days: the first answer again, done once."},
        answer_headers=("Idempotency-Replayed",),
    ),
    _call(
        "PATCH",
        f"{PROGRAM}/partners/{{partner_id}}",
        "agentChangePartner",
        "Change a partner",
        resources.Partner,
        *(NotFound, *SENT),
        body=PartnerChange,
    ),
)
