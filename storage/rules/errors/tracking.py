"""Errors about clicks, leads, sales and refunds."""

from storage.rules.errors.service_error import ServiceError, declared


class DuplicateTransaction(ServiceError): ...


ProgramIdRequired = declared("ProgramIdRequired")
ProgramNotFound = declared("ProgramNotFound")
AffiliateUrlRequired = declared("AffiliateUrlRequired")
InvalidAffiliateUrl = declared("InvalidAffiliateUrl")
AffMissing = declared("AffMissing")
PartnerNotFound = declared("PartnerNotFound")
OriginNotAllowed = declared("OriginNotAllowed")
InvalidHandover = declared("InvalidHandover")
IdentifierRequired = declared("IdentifierRequired")
IdentifierConflict = declared("IdentifierConflict")
CustomerNotFound = declared("CustomerNotFound")
CustomerWrongProgram = declared("CustomerWrongProgram")
CustomerNotAttributed = declared("CustomerNotAttributed")
StatusTransitionRefused = declared("StatusTransitionRefused")
SaleBeforeClick = declared("SaleBeforeClick")
AttributionWindowExpired = declared("AttributionWindowExpired")
CurrencyNotSupported = declared("CurrencyNotSupported")
TransactionNotFound = declared("TransactionNotFound")
RefundExceedsSale = declared("RefundExceedsSale")
