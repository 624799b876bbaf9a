"""What the payment operations answer: the OpenAPI side of their routes."""

from presentation.openapi import Operation, refusing
from storage.rules.errors import (
    AttributionWindowExpired,
    CurrencyNotSupported,
    CustomerNotAttributed,
    DuplicateTransaction,
    Forbidden,
    InternalError,
    InvalidJson,
    InvalidSignature,
    NotFound,
    Overloaded,
    OwnerRequired,
    PayloadTooLarge,
    UnsupportedMediaType,
    ValidationError,
)
from tracking_api.dashboard.payment_account import NewPaymentAccount, PaymentAccount
from tracking_api.dashboard.payment_events import PaymentDecision
from tracking_api.dashboard.reconciliation import Export, Reconciliation
from tracking_api.dashboard.responses import SignedOut
from tracking_api.payments.responses import PaymentEvents, Received

ACCOUNT = "/api/programs/{program_id}/payment-account"
OWNED = (Forbidden, OwnerRequired, InternalError, Overloaded)
SALE = (CustomerNotAttributed, AttributionWindowExpired, CurrencyNotSupported)
READ = (InvalidJson, PayloadTooLarge, UnsupportedMediaType)

OPERATIONS = (
    Operation(
        "POST",
        "/api/v1/payments/stripe/{program_id}",
        "stripeWebhook",
        "What a program's connected Stripe account reports, signed by it",
        {200: (Received,)},
        refusing(InvalidSignature, *READ, InternalError, Overloaded),
        tag="payments",
        headers={"Stripe-Signature": "Of the raw body, at most 300 seconds old."},
    ),
    Operation(
        "PUT",
        ACCOUNT,
        "connectPaymentAccount",
        "Connect a payment account, or roll its webhook secret over",
        {200: (PaymentAccount,)},
        refusing(*OWNED, ValidationError, *READ),
        NewPaymentAccount,
        security=("session",),
        tag="payments",
    ),
    Operation(
        "GET",
        ACCOUNT,
        "readPaymentAccount",
        "The connected payment account; never its secrets",
        {200: (PaymentAccount,)},
        refusing(*OWNED, NotFound),
        security=("session",),
        tag="payments",
    ),
    Operation(
        "GET",
        "/api/programs/{program_id}/payment-events",
        "listPaymentEvents",
        "What the payment account reported and what became of it, possible duplicates included",
        {200: (PaymentEvents,)},
        refusing(Forbidden, ValidationError, InternalError, Overloaded),
        security=("session",),
        tag="payments",
        query={
            "limit": "Rows on a page, 1 to 200; 50 unless told.",
            "cursor": "`next_cursor` of the page before.",
            "outcome": "recorded, repeated, waiting, held_as_duplicate, ignored, or an error code.",
        },
    ),
    Operation(
        "PATCH",
        "/api/programs/{program_id}/payment-events/{event_id}",
        "decidePaymentEvent",
        "Decide a payment that is held as a possible duplicate",
        {200: (SignedOut,)},
        refusing(*OWNED, NotFound, ValidationError, DuplicateTransaction, *SALE, *READ),
        PaymentDecision,
        security=("session",),
        tag="payments",
    ),
    Operation(
        "DELETE",
        ACCOUNT,
        "disconnectPaymentAccount",
        "Disconnect the payment account; what it reported stays",
        {200: (SignedOut,)},
        refusing(*OWNED, NotFound),
        security=("session",),
        tag="payments",
    ),
    Operation(
        "POST",
        "/api/programs/{program_id}/reconciliation",
        "reconcilePayments",
        "What is wrong about payments of the processor's export, and the calls that mend it; nothing is changed",
        {200: (Reconciliation,)},
        refusing(Forbidden, ValidationError, *READ, InternalError, Overloaded),
        Export,
        security=("session",),
        tag="payments",
    ),
)
