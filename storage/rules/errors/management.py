"""Errors about payment webhooks, reports and program changes."""

from storage.rules.errors.service_error import ServiceError


class InvalidSignature(ServiceError):
    code = "invalid_signature"
    message = (
        "The webhook's signature is missing, wrong or more than 5 minutes old, or no payment account is connected."
    )
    hint = "Connect the account with the secret of this webhook, and check the server's clock."


class InvalidPeriod(ServiceError):
    code = "invalid_period"
    message = "period must be one of 7d, 30d, 90d, all."
    hint = "Send one of them, or dateFrom and dateTo."


class InvalidRange(ServiceError):
    code = "invalid_range"
    message = "dateFrom and dateTo must be ISO 8601, in order, and at most 1,830 days apart."
    hint = "Send both, with dateFrom before dateTo."


class PreconditionFailed(ServiceError):
    code = "precondition_failed"
    message = "The program has changed since the version in If-Match."
    hint = "Get the program again and repeat the change with its new ETag."


class ProgramHasEvents(ServiceError):
    code = "program_has_events"
    message = "The program has events, so it cannot be deleted: partners may have earned with them."
    hint = "Set its status to paused instead. Its sandbox can always be deleted."


class CommissionOnHold(ServiceError):
    code = "commission_on_hold"
    message = "The commission is on hold, so it cannot be approved yet."
    hint = "Approve it after its hold_until. An owner can approve it earlier in the dashboard, with a reason."


class OverCap(ServiceError):
    code = "over_cap"
    message = "The change exceeds what the program's owner allows agent keys."
    hint = "Send a smaller change, or ask an owner of the workspace to make it. error.cap names the cap."


class SecondKeyRequired(ServiceError):
    code = "second_key_required"
    message = "This key approved the commission, and the owner wants another key to pay it."
    hint = "Pay it with another agent key, or ask an owner to pay it in the dashboard."


class CommissionFlagged(ServiceError):
    code = "commission_flagged"
    message = "The commission is held for review, because of a sign of fraud."
    hint = (
        "Dismiss the flag to release the commission, or confirm it to reject the commission: PATCH .../flags/:flagId."
    )


class IdempotencyKeyReused(ServiceError):
    code = "idempotency_key_reused"
    message = "This Idempotency-Key was already used with another body."
    hint = "Use a new Idempotency-Key. Send the same key only to repeat the same body."


class LastOwner(ServiceError):
    code = "last_owner"
    message = "A workspace always keeps an active owner, and this is its last one."
    hint = "Make another active member an owner first."
