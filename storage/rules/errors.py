"""Every refusal the service can give: one class for each fact, with its stable code. The list is closed."""

from storage.rules.service_error import FieldError, ServiceError

__all__ = ["CODES", "FieldError", "ServiceError"]


class InvalidJson(ServiceError):
    code = "invalid_json"
    message = "The body is not a JSON object."
    hint = "Send one JSON object, encoded as UTF-8."


class ValidationError(ServiceError):
    code = "validation_error"
    message = "Some fields are missing or wrong."


class NotFound(ServiceError):
    code = "not_found"
    message = "There is nothing at this address."


class MethodNotAllowed(ServiceError):
    code = "method_not_allowed"
    message = "This address does not answer to that method."


class PayloadTooLarge(ServiceError):
    code = "payload_too_large"
    message = "The body is larger than this call accepts."
    hint = "Tracking calls accept 64 KiB."


class UnsupportedMediaType(ServiceError):
    code = "unsupported_media_type"
    message = "The body must be sent as application/json."
    hint = "Set the header Content-Type: application/json."


class RateLimited(ServiceError):
    code = "rate_limited"
    message = "Too many calls from this address."
    hint = "Wait as long as Retry-After says, then try again."


class Overloaded(ServiceError):
    code = "overloaded"
    message = "The service has more writes waiting than it can hold; this one was not stored."
    hint = "Try again after Retry-After seconds; nothing was recorded."


class InternalError(ServiceError):
    code = "internal_error"
    message = "Something went wrong on our side; nothing was stored for this call."
    hint = "Try again; if it persists, give the operator the request_id."


class InvalidKey(ServiceError):
    code = "invalid_key"
    message = "The key is malformed or matches no program."
    hint = "Send Authorization: Bearer <program key>. A regenerated key replaces the old one at once."


class ApiKeyRotationRequired(ServiceError):
    code = "api_key_rotation_required"
    message = "This program key is past its rotation deadline."
    hint = "An owner regenerates it under Settings, Developers, API keys; then deploy the new value."


class ProgramIdRequired(ServiceError):
    code = "program_id_required"
    message = "program_id is missing."
    hint = "Send program_id, or additional_data.program_id."


class ProgramNotFound(ServiceError):
    code = "program_not_found"
    message = "There is no program with this program_id."


class AffiliateUrlRequired(ServiceError):
    code = "affiliate_url_required"
    message = "affiliate_url is missing."
    hint = "Send the address of the landing page, with its ?aff=<partner code>."


class InvalidAffiliateUrl(ServiceError):
    code = "invalid_affiliate_url"
    message = "affiliate_url is not an absolute http or https address."


class AffMissing(ServiceError):
    code = "aff_missing"
    message = "affiliate_url carries no partner code."
    hint = "The landing page's address must carry ?aff=<partner code>."


class PartnerNotFound(ServiceError):
    code = "partner_not_found"
    message = "No partner of this program has this code."


class IdentifierRequired(ServiceError):
    code = "identifier_required"
    message = "Neither click_id nor customer_key was sent."
    hint = "Send both when you have both."


class IdentifierConflict(ServiceError):
    code = "identifier_conflict"
    message = "click_id and customer_key name different customers."
    hint = "Send the customer_key that was used at the customer's lead."


class CustomerNotFound(ServiceError):
    code = "customer_not_found"
    message = "No customer of this program has this click_id or customer_key."
    hint = "A customer_key is known after a settled lead; send the click_id of the cookie as well."


class CustomerWrongProgram(ServiceError):
    code = "customer_wrong_program"
    message = "This click or program_id belongs to another program than the key."
    hint = "Use the key of the program that recorded the click."


class CustomerNotAttributed(ServiceError):
    code = "customer_not_attributed"
    message = "This customer carries no attribution: the partner who sent them has left the program."


class StatusTransitionRefused(ServiceError):
    code = "status_transition_refused"
    message = "This customer has already converted and cannot become a lead again."


class AttributionWindowExpired(ServiceError):
    code = "attribution_window_expired"
    message = "The click is older than the program's attribution window."


class CurrencyNotSupported(ServiceError):
    code = "currency_not_supported"
    message = "No exchange rate is loaded for this currency."
    hint = "The operator loads rates with `svc admin rates import FILE`; USD always works."


class DuplicateTransaction(ServiceError):
    code = "duplicate_transaction"
    message = "A sale with this transaction_id is already recorded."
    hint = "error.same_payload true: a repeat of the same sale, nothing to do. False: use another transaction_id."


class TransactionNotFound(ServiceError):
    code = "transaction_not_found"
    message = "No sale of this program has this transaction_id."


class RefundExceedsSale(ServiceError):
    code = "refund_exceeds_sale"
    message = "The refund is larger than what remains of the sale."


class InvalidCredentials(ServiceError):
    code = "invalid_credentials"
    message = "The e-mail address or the password is wrong."


class Forbidden(ServiceError):
    code = "forbidden"
    message = "You must be signed in as an active member of this program's workspace."


class OwnerRequired(ServiceError):
    code = "owner_required"
    message = "Only an owner of the workspace may do this."


class AuthorizationPending(ServiceError):
    code = "authorization_pending"
    message = "Nobody has decided about this login yet."
    hint = "Ask again after `interval` seconds."


class SlowDown(ServiceError):
    code = "slow_down"
    message = "This login is asked about too often."
    hint = "Wait `interval` seconds between two questions."


class AccessDenied(ServiceError):
    code = "access_denied"
    message = "The member refused this login."


class ExpiredToken(ServiceError):
    code = "expired_token"
    message = "This login has expired, was used already, or never existed."
    hint = "Start another: `svc login`."


class InvalidSignature(ServiceError):
    code = "invalid_signature"
    message = "The signature is missing, wrong or too old, or no payment account is connected."


class InvalidPeriod(ServiceError):
    code = "invalid_period"
    message = "period must be one of 7d, 30d, 90d, all."


class InvalidRange(ServiceError):
    code = "invalid_range"
    message = "dateFrom and dateTo must be ISO 8601, in order, and at most 1,830 days apart."


class WrongKeyType(ServiceError):
    code = "wrong_key_type"
    message = "This is not an agent key."
    hint = "Agent endpoints and the MCP server take a key that starts with agt_."


class InsufficientScope(ServiceError):
    code = "insufficient_scope"
    message = "The key lacks the scope that this call needs."


class ProgramNotAllowed(ServiceError):
    code = "program_not_allowed"
    message = "This key does not reach a program with this id."


class PreconditionFailed(ServiceError):
    code = "precondition_failed"
    message = "The program has changed since the version that If-Match names."
    hint = "Read it again and repeat the change with the new ETag."


class IdempotencyKeyReused(ServiceError):
    code = "idempotency_key_reused"
    message = "This Idempotency-Key was used with another body."


CODES = sorted(refusal.code for refusal in ServiceError.__subclasses__())
