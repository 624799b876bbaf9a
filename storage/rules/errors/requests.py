"""Errors about any request, its key and its session; about payment webhooks, reports and program changes."""

from typing import Self

from storage.rules.errors.service_error import FieldError, ServiceError, declared


class InvalidJson(ServiceError): ...


class ValidationError(ServiceError):
    @classmethod
    def of(cls, field: str, message: str) -> Self:
        """Return the error of one field."""
        return cls(fields=[FieldError(field, message)])


class Overloaded(ServiceError): ...


class StorageUnavailable(ServiceError):
    is_partial = False  # one node of a cluster is down or one table is locked: the rest works


class OutcomeUnknown(ServiceError):
    is_partial = False


class InsufficientScope(ServiceError): ...


class Forbidden(ServiceError): ...


class OverCap(ServiceError): ...


class SecondKeyRequired(ServiceError): ...


NotFound = declared("NotFound")
MethodNotAllowed = declared("MethodNotAllowed")
PayloadTooLarge = declared("PayloadTooLarge")
UnsupportedMediaType = declared("UnsupportedMediaType")
RateLimited = declared("RateLimited")
InternalError = declared("InternalError")
InvalidKey = declared("InvalidKey")
ApiKeyRotationRequired = declared("ApiKeyRotationRequired")
WrongKeyType = declared("WrongKeyType")
ProgramNotAllowed = declared("ProgramNotAllowed")
InvalidCredentials = declared("InvalidCredentials")
OwnerRequired = declared("OwnerRequired")
AuthorizationPending = declared("AuthorizationPending")
SlowDown = declared("SlowDown")
AccessDenied = declared("AccessDenied")
ExpiredToken = declared("ExpiredToken")
LinkExpired = declared("LinkExpired")
SecondFactorRequired = declared("SecondFactorRequired")
InvalidSecondFactor = declared("InvalidSecondFactor")
SecondFactorExists = declared("SecondFactorExists")
InvalidSignature = declared("InvalidSignature")
InvalidPeriod = declared("InvalidPeriod")
InvalidRange = declared("InvalidRange")
CursorExpired = declared("CursorExpired")
PlanExpired = declared("PlanExpired")
PreconditionFailed = declared("PreconditionFailed")
ProgramHasEvents = declared("ProgramHasEvents")
CommissionOnHold = declared("CommissionOnHold")
CommissionFlagged = declared("CommissionFlagged")
IdempotencyKeyReused = declared("IdempotencyKeyReused")
LastOwner = declared("LastOwner")
PayoutOpen = declared("PayoutOpen")
PayoutSent = declared("PayoutSent")
PayoutChanged = declared("PayoutChanged")
SecondPersonRequired = declared("SecondPersonRequired")
