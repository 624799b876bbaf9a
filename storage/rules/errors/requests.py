"""Errors about any request."""

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
