"""Errors about refunds."""

from storage.rules.errors.service_error import ServiceError


class TransactionNotFound(ServiceError):
    code = "transaction_not_found"
    message = "No sale of this program has this transaction_id."
    hint = "Send the transaction_id of a recorded sale. Refund a test sale in test mode."


class RefundExceedsSale(ServiceError):
    code = "refund_exceeds_sale"
    message = "The refund is larger than the remaining amount of the sale."
    hint = "Refund at most the remaining amount. Without refund_amount_cents, all of it is refunded."
