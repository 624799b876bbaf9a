"""Errors about any request, its key and its session."""

from storage.rules.errors.service_error import ServiceError


class InvalidJson(ServiceError):
    code = "invalid_json"
    message = "The body is not a JSON object."
    hint = "Send one JSON object, encoded as UTF-8."


class ValidationError(ServiceError):
    code = "validation_error"
    message = "Some fields are missing or wrong."
    hint = "Fix the fields that error.fields names, then send the request again."


class NotFound(ServiceError):
    code = "not_found"
    message = "Nothing exists at this URL."
    hint = "Check the URL and its ids against /openapi.json."


class MethodNotAllowed(ServiceError):
    code = "method_not_allowed"
    message = "This URL does not accept this method."
    hint = "Use a method that the Allow header names."


class PayloadTooLarge(ServiceError):
    code = "payload_too_large"
    message = "The body is larger than this endpoint accepts."
    hint = "Send at most 64 KiB, and at most 16 KiB of line_items."


class UnsupportedMediaType(ServiceError):
    code = "unsupported_media_type"
    message = "The body must be sent as application/json."
    hint = "Set the header Content-Type: application/json."


class RateLimited(ServiceError):
    code = "rate_limited"
    message = "Too many requests were sent."
    hint = "Wait as many seconds as Retry-After says, then try again."


class Overloaded(ServiceError):
    code = "overloaded"
    message = "The service is too busy to handle this request."
    hint = "Wait as many seconds as Retry-After says, then try again."


class StorageUnavailable(ServiceError):
    is_of_one_node = False  # of a distributed database: the programs on the others work
    code = "storage_unavailable"
    message = "The service cannot reach its database at the moment."
    hint = "Wait as many seconds as Retry-After says, then send the same request again, with the same ids."


class OutcomeUnknown(ServiceError):
    is_of_one_node = False
    code = "outcome_unknown"
    message = "The database did not say whether it stored this request."
    hint = (
        "Wait as many seconds as Retry-After says, then send the same request again, with the same ids: "
        "what was stored is not stored twice."
    )


class InternalError(ServiceError):
    code = "internal_error"
    message = "The service failed."
    hint = (
        "Send the same request again, with the same ids. If it fails again, give the request_id to the operator "
        "of the service."
    )


class InvalidKey(ServiceError):
    code = "invalid_key"
    message = "The key is malformed or belongs to no program."
    hint = "Send Authorization: Bearer <program key>. A regenerated key replaces the old one at once."


class ApiKeyRotationRequired(ServiceError):
    code = "api_key_rotation_required"
    message = "The rotation deadline of this program key has passed."
    hint = "Ask an owner to regenerate the key under Settings, Developers, API keys. Then deploy the new key."


class WrongKeyType(ServiceError):
    code = "wrong_key_type"
    message = "This is not an agent key."
    hint = "Send a key that starts with agt_."


class InsufficientScope(ServiceError):
    code = "insufficient_scope"
    message = "The key lacks the scope that this request needs."
    hint = "Ask the operator of the service for a key with the scope in error.required_scope."


class ProgramNotAllowed(ServiceError):
    code = "program_not_allowed"
    message = "This key cannot reach a program with this id."
    hint = "List the programs that this key can reach: GET /api/agent/v1/programs, or list_programs over MCP."


class InvalidCredentials(ServiceError):
    code = "invalid_credentials"
    message = "The e-mail address or the password is wrong."
    hint = "Check both and try again."


class Forbidden(ServiceError):
    code = "forbidden"
    message = "You must be signed in as an active member of this program's workspace."
    hint = "Sign in with an account that is an active member of the workspace."


class OwnerRequired(ServiceError):
    code = "owner_required"
    message = "Only an owner of the workspace may do this."
    hint = "Ask an owner of the workspace."


class AuthorizationPending(ServiceError):
    code = "authorization_pending"
    message = "No member has approved this login yet."
    hint = "Wait `interval` seconds, then send the request again."


class SlowDown(ServiceError):
    code = "slow_down"
    message = "The status of this login is requested too often."
    hint = "Wait `interval` seconds between two requests."


class AccessDenied(ServiceError):
    code = "access_denied"
    message = "A member rejected this login."
    hint = "If it was your login, start another one with `svc login`."


class ExpiredToken(ServiceError):
    code = "expired_token"
    message = "This login has expired, was already used, or never existed."
    hint = "Start another login with `svc login`."


class LinkExpired(ServiceError):
    code = "link_expired"
    message = "This link was already used, has expired, or never existed."
    hint = (
        "Ask an owner of your workspace, or the operator of this server (svc admin member reset-link), for a new one."
    )


class SecondFactorRequired(ServiceError):
    code = "second_factor_required"
    message = "The password is right, and this account also needs a code of its authenticator app."
    hint = "Send the code, or a recovery code, as totp beside the e-mail address and the password."


class InvalidSecondFactor(ServiceError):
    code = "invalid_second_factor"
    message = "The code is wrong, or was used before."
    hint = "Wait for the app's next code, or use a recovery code."


class SecondFactorExists(ServiceError):
    code = "second_factor_exists"
    message = "This account has a second factor."
    hint = "Turn it off before you start another one."
