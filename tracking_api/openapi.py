"""What the tracking surface answers, operation by operation: the OpenAPI side of the route table."""

from presentation.openapi import Operation, refusing
from storage.rules.errors import (
    AffiliateUrlRequired,
    AffMissing,
    ApiKeyRotationRequired,
    AttributionWindowExpired,
    CurrencyNotSupported,
    CustomerNotAttributed,
    CustomerNotFound,
    CustomerWrongProgram,
    DuplicateTransaction,
    IdentifierConflict,
    IdentifierRequired,
    InternalError,
    InvalidAffiliateUrl,
    InvalidJson,
    InvalidKey,
    NotFound,
    Overloaded,
    PartnerNotFound,
    PayloadTooLarge,
    ProgramIdRequired,
    ProgramNotFound,
    RateLimited,
    RefundExceedsSale,
    StatusTransitionRefused,
    TransactionNotFound,
    UnsupportedMediaType,
    ValidationError,
)
from tracking_api import responses
from tracking_api.calls.click import ClickBody
from tracking_api.calls.lead import LeadBody
from tracking_api.calls.refund import RefundBody
from tracking_api.calls.sale import SaleBody
from tracking_api.dashboard import openapi as dashboard
from tracking_api.payments import openapi as payments

TEST_MODE = "`additional_data.test_mode` true stores a test event, which touches no attribution and no commission."
KEY = "programKey"
ROTATION = ("Deprecation", "Sunset", "Link")
CORS = "Access-Control-Allow-Origin"
PREFLIGHT = (CORS, "Access-Control-Allow-Methods", "Access-Control-Allow-Headers", "Access-Control-Max-Age")
PREFETCH = dict.fromkeys(("Sec-Purpose", "Purpose", "X-Moz"), "`prefetch`: stored, never counted.")
ALWAYS = (InternalError, Overloaded)
KEYED = (InvalidKey, ApiKeyRotationRequired)
SENT = (InvalidJson, ValidationError, PayloadTooLarge, UnsupportedMediaType)
CLICK = Operation(
    "POST",
    "/api/v1/track/click",
    "trackClick",
    "Record a click and give the visitor a click_id",
    {200: (responses.Accepted, responses.PartnerInactive, responses.TestRecorded)},
    refusing(
        *(ProgramIdRequired, ProgramNotFound, AffiliateUrlRequired, InvalidAffiliateUrl, AffMissing, PartnerNotFound),
        *(CustomerWrongProgram, RateLimited, *SENT, *KEYED, *ALWAYS),
    ),
    ClickBody,
    f"Public. Known bots and prefetches get an answer and are never counted. {TEST_MODE} Only there is a key read.",
    security=(None, KEY),
    headers=PREFETCH,
    answer_headers=(CORS, *ROTATION),
)
LEAD = Operation(
    "POST",
    "/api/v1/track/lead",
    "trackLead",
    "Record a lead: settled with the program key, otherwise by the program's policy",
    {200: (responses.LeadRecorded, responses.TestRecorded)},
    refusing(
        *(IdentifierRequired, CustomerNotFound, CustomerWrongProgram, StatusTransitionRefused, IdentifierConflict),
        *(AttributionWindowExpired, ProgramNotFound, RateLimited, *SENT, *KEYED, *ALWAYS),
    ),
    LeadBody,
    f"An Authorization header that is not a valid program key is 401, never browser mode. {TEST_MODE}",
    security=(KEY, None),
    answer_headers=(CORS, *ROTATION),
)
SALE = Operation(
    "POST",
    "/api/v1/track/sale",
    "trackSale",
    "Record a sale and the commission it earns",
    {200: (responses.SaleRecorded, responses.TestRecorded)},
    refusing(
        *(CustomerNotFound, CustomerNotAttributed, CustomerWrongProgram, AttributionWindowExpired),
        *(CurrencyNotSupported, ProgramNotFound, DuplicateTransaction, *SENT, *KEYED, *ALWAYS),
    ),
    SaleBody,
    f"A sale needs transaction_id, amount_cents, and customer_key or click_id. {TEST_MODE}",
    security=(KEY,),
    answer_headers=ROTATION,
)
REFUND = Operation(
    "POST",
    "/api/v1/track/refund",
    "trackRefund",
    "Record a refund and reverse its share of the commission",
    {200: (responses.RefundRecorded,)},
    refusing(RefundExceedsSale, TransactionNotFound, *SENT, *KEYED, *ALWAYS),
    RefundBody,
    "Without refund_amount_cents it takes all that remains. additional_data.test_mode true refunds a test sale.",
    security=(KEY,),
    answer_headers=ROTATION,
)
STATUS = Operation(
    "GET",
    "/api/v1/cli/status",
    "readStatus",
    "How the key's program is doing, and its integration checklist",
    {200: (responses.Status,)},
    refusing(*KEYED, *ALWAYS),
    security=(KEY,),
    answer_headers=ROTATION,
)
OPERATIONS = (
    CLICK,
    CLICK._replace(
        method="HEAD",
        name="prefetchClick",
        summary="As POST, without a body in the answer; never counted. Without a click in the request: nothing stored",
    ),
    Operation("OPTIONS", CLICK.path, "preflightClick", "CORS preflight", {204: ()}, answer_headers=PREFLIGHT),
    SALE,
    LEAD,
    Operation("OPTIONS", LEAD.path, "preflightLead", "CORS preflight", {204: ()}, answer_headers=PREFLIGHT),
    REFUND,
    STATUS,
    Operation(
        "GET",
        "/js/{name}",
        "readTracker",
        "The browser tracker: `svc-tracker.js`, or one version of it for ever, `svc-tracker.<version>.js`",
        {200: (), 304: ()},
        refusing(NotFound),
        tag="browser",
        headers={"If-None-Match": "The ETag of the copy that the browser has."},
        answer_headers=(CORS, "ETag", "Cache-Control", "Content-Location", "Vary"),
        media="text/javascript",
    ),
    Operation("GET", "/healthz", "readHealth", "The process is up", {200: (responses.Up,)}, tag="probes"),
    Operation(
        "GET",
        "/readyz",
        "readReadiness",
        "Storage is reachable and its migrations are applied",
        {200: (responses.Up,)},
        {503: (InternalError,)},
        tag="probes",
    ),
    Operation(
        "GET",
        "/docs/{name}",
        "readGuide",
        "A guide for integrators, as Markdown",
        {200: ()},
        refusing(NotFound),
        tag="documents",
        media="text/markdown",
    ),
    Operation("GET", "/openapi.json", "readOpenapi", "This document", {200: (responses.Document,)}, tag="documents"),
    *dashboard.OPERATIONS,
    *payments.OPERATIONS,
)
