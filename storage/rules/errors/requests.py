"""Errors about any request, its key and its session; about payment webhooks, reports and program changes."""

from storage.rules.errors.service_error import ServiceError


class InvalidJson(ServiceError):
    message = "The body is not a JSON object."
    hint = "Send one JSON object, encoded as UTF-8."


class ValidationError(ServiceError):
    message = "Some fields are missing or wrong."
    hint = "Fix the fields that error.fields names, then send the request again."


class NotFound(ServiceError):
    message = "Nothing exists at this URL."
    hint = "Check the URL and its ids against /openapi.json."


class MethodNotAllowed(ServiceError):
    message = "This URL does not accept this method."
    hint = "Use a method that the Allow header names."


class PayloadTooLarge(ServiceError):
    message = "The body is larger than this endpoint accepts."
    hint = "Send at most 64 KiB, and at most 16 KiB of line_items."


class UnsupportedMediaType(ServiceError):
    message = "The body must be sent as application/json."
    hint = "Set the header Content-Type: application/json."


class RateLimited(ServiceError):
    message = "Too many requests were sent."
    hint = "Wait as many seconds as Retry-After says, then try again."


class Overloaded(ServiceError):
    message = "The service is too busy to handle this request."
    hint = "Wait as many seconds as Retry-After says, then try again."


class StorageUnavailable(ServiceError):
    is_partial = False  # one node of a cluster is down or one table is locked: the rest works
    message = "The service cannot reach its database at the moment."
    hint = "Wait as many seconds as Retry-After says, then send the same request again, with the same ids."


class OutcomeUnknown(ServiceError):
    is_partial = False
    message = "The database did not say whether it stored this request."
    hint = (
        "Wait as many seconds as Retry-After says, then send the same request again, with the same ids: "
        "what was stored is not stored twice."
    )


class InternalError(ServiceError):
    message = "The service failed."
    hint = (
        "Send the same request again, with the same ids. If it fails again, give the request_id to the operator "
        "of the service."
    )


class InvalidKey(ServiceError):
    message = "The key is malformed or belongs to no program."
    hint = "Send Authorization: Bearer <program key>. A regenerated key replaces the old one at once."


class ApiKeyRotationRequired(ServiceError):
    message = "The rotation deadline of this program key has passed."
    hint = "Ask an owner to regenerate the key under Settings, Developers, API keys. Then deploy the new key."


class WrongKeyType(ServiceError):
    message = "This is not an agent key."
    hint = "Send a key that starts with agt_."


class InsufficientScope(ServiceError):
    message = "The key lacks the scope that this request needs."
    hint = "Ask the operator of the service for a key with the scope in error.required_scope."


class ProgramNotAllowed(ServiceError):
    message = "This key cannot reach a program with this id."
    hint = "List the programs that this key can reach: GET /api/agent/v1/programs, or list_programs over MCP."


class InvalidCredentials(ServiceError):
    message = "The e-mail address or the password is wrong."
    hint = "Check both and try again."


class Forbidden(ServiceError):
    message = "You must be signed in as an active member of this program's workspace."
    hint = "Sign in with an account that is an active member of the workspace."


class OwnerRequired(ServiceError):
    message = "Only an owner of the workspace may do this."
    hint = "Ask an owner of the workspace."


class AuthorizationPending(ServiceError):
    message = "No member has approved this login yet."
    hint = "Wait `interval` seconds, then send the request again."


class SlowDown(ServiceError):
    message = "The status of this login is requested too often."
    hint = "Wait `interval` seconds between two requests."


class AccessDenied(ServiceError):
    message = "A member rejected this login."
    hint = "If it was your login, start another one with `svc login`."


class ExpiredToken(ServiceError):
    message = "This login has expired, was already used, or never existed."
    hint = "Start another login with `svc login`."


class LinkExpired(ServiceError):
    message = "This link was already used, has expired, or never existed."
    hint = (
        "Ask an owner of your workspace, or the operator of this server (svc admin member reset-link), for a new one."
    )


class SecondFactorRequired(ServiceError):
    message = "The password is right, and this account also needs a code of its authenticator app."
    hint = "Send the code, or a recovery code, as totp beside the e-mail address and the password."


class InvalidSecondFactor(ServiceError):
    message = "The code is wrong, or was used before."
    hint = "Wait for the app's next code, or use a recovery code."


class SecondFactorExists(ServiceError):
    message = "This account has a second factor."
    hint = "Turn it off before you start another one."


class InvalidSignature(ServiceError):
    message = (
        "The webhook's signature is missing, wrong or more than 5 minutes old, or no payment account is connected."
    )
    hint = "Connect the account with the secret of this webhook, and check the server's clock."


class InvalidPeriod(ServiceError):
    message = "period must be one of 7d, 30d, 90d, all."
    hint = "Send one of them, or dateFrom and dateTo."


class InvalidRange(ServiceError):
    message = "The dates must be ISO 8601, in order, and at most 1,830 days apart."
    hint = "Write 2026-01-31 or 2026-01-31T00:00:00Z; in a query string, + is sent as %2B."


class PreconditionFailed(ServiceError):
    message = "The program has changed since the version in If-Match."
    hint = "Get the program again and repeat the change with its new ETag."


class ProgramHasEvents(ServiceError):
    message = "The program has events, so it cannot be deleted: partners may have earned with them."
    hint = "Set its status to paused instead. Its sandbox can always be deleted."


class CommissionOnHold(ServiceError):
    message = "The commission is on hold, so it cannot be approved yet."
    hint = "Approve it after its hold_until. An owner can approve it earlier in the dashboard, with a reason."


class OverCap(ServiceError):
    message = "The change exceeds what the program's owner allows agent keys."
    hint = "Send a smaller change, or ask an owner of the workspace to make it. error.cap names the cap."


class SecondKeyRequired(ServiceError):
    message = "This key approved the commission, and the owner wants another key to pay it."
    hint = "Use another agent key, or ask an owner to decide in the dashboard."


class CommissionFlagged(ServiceError):
    message = "The commission is held for review, because of a sign of fraud or of a duplicate."
    hint = (
        "Dismiss the flag to release the commission, or confirm it to reject the commission: PATCH .../flags/:flagId."
    )


class IdempotencyKeyReused(ServiceError):
    message = "This Idempotency-Key was already used with another body."
    hint = "Use a new Idempotency-Key. Send the same key only to repeat the same body."


class LastOwner(ServiceError):
    message = "A workspace always keeps an active owner, and this is its last one."
    hint = "Make another active member an owner first."
