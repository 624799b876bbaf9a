"""What the dashboard's calls answer, operation by operation: the OpenAPI side of its routes."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from presentation import changes, diagnosis, lists, report, resources
from presentation.openapi import Operation, refusing
from storage.rules.errors import (
    AccessDenied,
    AuthorizationPending,
    CurrencyNotSupported,
    ExpiredToken,
    Forbidden,
    InternalError,
    InvalidCredentials,
    InvalidJson,
    InvalidPeriod,
    InvalidRange,
    NotFound,
    Overloaded,
    OwnerRequired,
    PayloadTooLarge,
    RateLimited,
    ServiceError,
    SlowDown,
    UnsupportedMediaType,
    ValidationError,
)
from tracking_api.dashboard import responses
from tracking_api.dashboard.assistants import ConnectedAssistants
from tracking_api.dashboard.device_login import DeviceLogin, DeviceToken
from tracking_api.dashboard.sessions import Credentials

ALWAYS = (InternalError, Overloaded)
SENT = (InvalidJson, ValidationError, PayloadTooLarge, UnsupportedMediaType)
PROGRAM = "/api/programs/{program_id}"
PAGED = {"limit": "Rows on a page, 1 to 200; 50 unless told.", "cursor": "`next_cursor` of the page before."}
COOKIE = "The cookie `svc_session` of our own pages is accepted in place of the header."


def _call(
    method: str,
    path: str,
    name: str,
    summary: str,
    answer: type[BaseModel],
    *refusals: type[ServiceError],
    status: int = 200,
    **options: Any,
) -> Operation:
    """Return an operation that needs a session."""
    refused = refusing(Forbidden, *refusals, *ALWAYS)
    options = {"security": ("session",), "tag": "dashboard", "description": COOKIE, **options}
    return Operation(method, path, name, summary, {status: (answer,)}, refused, **options)


def _list(path: str, name: str, summary: str, answer: type[BaseModel], **filters: str) -> Operation:
    query: Mapping[str, str] = {**PAGED, **filters}
    return _call("GET", path, name, summary, answer, ValidationError, query=query)


OPERATIONS = (
    _call(
        "GET",
        "/api/tracking/performance/{program_id}",
        "readPerformance",
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
    Operation(
        "POST",
        "/api/auth/login",
        "signIn",
        "Sign in with an e-mail address and a password",
        {200: (responses.NewSession,)},
        refusing(InvalidCredentials, RateLimited, *SENT, *ALWAYS),
        Credentials,
        tag="dashboard",
    ),
    Operation(
        "POST",
        "/api/auth/logout",
        "signOut",
        "End the session that is presented, if any",
        {200: (responses.SignedOut,)},
        refusing(*ALWAYS),
        security=("session", None),
        tag="dashboard",
    ),
    Operation(
        "POST",
        "/api/auth/device",
        "askDeviceLogin",
        "Start a login of a device without a browser (RFC 8628)",
        {200: (responses.DeviceAsked,)},
        refusing(RateLimited, *SENT, *ALWAYS),
        DeviceLogin,
        tag="dashboard",
    ),
    Operation(
        "POST",
        "/api/auth/device/token",
        "pollDeviceLogin",
        "The session's token, once a member has approved the login",
        {200: (responses.NewSession,)},
        refusing(AuthorizationPending, SlowDown, AccessDenied, ExpiredToken, *SENT, *ALWAYS),
        DeviceToken,
        tag="dashboard",
    ),
    _call("GET", "/api/auth/me", "readSession", "Who is signed in", responses.SignedIn),
    _list("/api/programs", "listPrograms", "The programs of your workspaces", lists.Programs),
    _call(
        "POST",
        "/api/programs",
        "createProgram",
        "Create a program",
        resources.Program,
        *(OwnerRequired, CurrencyNotSupported, *SENT),
        status=201,
        body=changes.NewProgram,
    ),
    _call("GET", PROGRAM, "readProgram", "A program; of its key only the mask", resources.Program),
    _call(
        "PATCH",
        PROGRAM,
        "changeProgram",
        "Change a program's settings",
        resources.Program,
        *(OwnerRequired, CurrencyNotSupported, *SENT),
        body=changes.ProgramChange,
    ),
    _call(
        "POST",
        f"{PROGRAM}/regenerate-api-token",
        "regenerateProgramKey",
        "Replace the program's key: the old one is dead when this is answered",
        responses.Regenerated,
        OwnerRequired,
    ),
    _list(f"{PROGRAM}/partners", "listPartners", "The partners", lists.Partners, status="active, paused or inactive."),
    _call(
        "POST",
        f"{PROGRAM}/partners",
        "enrolPartner",
        "Enrol a partner",
        resources.Partner,
        *(OwnerRequired, *SENT),
        status=201,
        body=changes.NewPartner,
    ),
    _call(
        "PATCH",
        f"{PROGRAM}/partners/{{partner_id}}",
        "changePartner",
        "Change a partner",
        resources.Partner,
        *(OwnerRequired, NotFound, *SENT),
        body=changes.PartnerChange,
    ),
    _list(
        f"{PROGRAM}/customers",
        "listCustomers",
        "The customers",
        lists.Customers,
        status="provisional, lead or conversion.",
        partner_id="Of one partner.",
        customer_key="The one with this key.",
    ),
    _call(
        "GET",
        f"{PROGRAM}/customers/{{customer_id}}",
        "readCustomer",
        "One customer with their whole trail",
        resources.CustomerTimeline,
        NotFound,
    ),
    _list(
        f"{PROGRAM}/commissions",
        "listCommissions",
        "The commissions",
        lists.Commissions,
        status="pending, approved, rejected, paid or reversed.",
        partner_id="Of one partner.",
    ),
    _call(
        "PATCH",
        f"{PROGRAM}/commissions",
        "decideCommissions",
        "Approve, reject or pay several commissions",
        responses.Decided,
        *(OwnerRequired, *SENT),
        body=changes.CommissionChanges,
    ),
    _call(
        "PATCH",
        f"{PROGRAM}/commissions/{{commission_id}}",
        "decideCommission",
        "Approve, reject or pay a commission",
        resources.Commission,
        *(OwnerRequired, NotFound, *SENT),
        body=changes.CommissionChange,
    ),
    _list(
        f"{PROGRAM}/events",
        "listEvents",
        "Clicks, leads, sales, refunds and test events",
        lists.Events,
        kind="click, lead, sale, refund or test.",
    ),
    _list(
        f"{PROGRAM}/refused-calls",
        "listRefusedCalls",
        "Keyed calls that were refused in the last 30 days",
        lists.RefusedCalls,
        code="Of one error code.",
    ),
    _list(f"{PROGRAM}/audit-log", "readAuditLog", "Who changed what", lists.AuditLog),
    _call("GET", "/api/assistants", "listAssistants", "The assistants that members connected", ConnectedAssistants),
    _call("DELETE", "/api/assistants/{assistant_id}", "disconnectAssistant", "End one", responses.SignedOut, NotFound),
    _call("GET", f"{PROGRAM}/integration", "readIntegration", "What `svc init` writes", responses.Integration),
    _call(
        "GET",
        f"{PROGRAM}/explain",
        "explain",
        "Why a sale was credited or not; exactly one identifier",
        diagnosis.Explanation,
        ValidationError,
        query={
            "transaction_id": "Of the sale.",
            "customer_key": "Of a customer: their newest sale.",
            "click_id": "Of a click.",
        },
    ),
)
