"""Errors about leads and sales."""

from storage.rules.errors.service_error import ServiceError


class IdentifierRequired(ServiceError):
    code = "identifier_required"
    message = "Neither click_id nor customer_key was sent."
    hint = "Send both, or the one that you have."


class IdentifierConflict(ServiceError):
    code = "identifier_conflict"
    message = "click_id and customer_key belong to different customers."
    hint = "Send the customer_key of the customer's lead, or the click_id alone."


class CustomerNotFound(ServiceError):
    code = "customer_not_found"
    message = "No customer of this program has this click_id or customer_key."
    hint = "Send the customer_key of a settled lead, unchanged, or add the click_id from the cookie."


class CustomerWrongProgram(ServiceError):
    code = "customer_wrong_program"
    message = "The click or program_id belongs to another program than the key."
    hint = "Use the key of the program that recorded the click."


class CustomerNotAttributed(ServiceError):
    code = "customer_not_attributed"
    message = "The customer has no attribution, because their partner has left the program."
    hint = (
        "Set the partner to active or paused and send the request again. If you removed the partner on "
        "purpose, do nothing."
    )


class StatusTransitionRefused(ServiceError):
    code = "status_transition_refused"
    message = "The customer has already converted and cannot become a lead again."
    hint = "Send the lead before the first sale. For this customer, do nothing."


class SaleBeforeClick(ServiceError):
    code = "sale_before_click"
    message = "The sale happened before the customer's click, so it earns nothing."
    hint = "Check occurred_at and its time zone. If the sale did come first, do nothing."


class AttributionWindowExpired(ServiceError):
    code = "attribution_window_expired"
    message = "The click is older than the program's attribution window."
    hint = "Do nothing, or extend the program's attribution_window_days and send the request again."


class CurrencyNotSupported(ServiceError):
    code = "currency_not_supported"
    message = "No exchange rate is loaded for this currency."
    hint = (
        "Send the amount in the program's currency, or load the ECB's rates: Settings, Exchange rates, or "
        "`svc admin rates import FILE`."
    )


class DuplicateTransaction(ServiceError):
    code = "duplicate_transaction"
    message = "A sale with this transaction_id is already recorded."
    hint = (
        "If error.same_payload is true, the sale is already recorded: do nothing. If it is false, use "
        "another transaction_id."
    )
