"""Errors about clicks, leads, sales and refunds."""

from storage.rules.errors.service_error import ServiceError


class ProgramIdRequired(ServiceError):
    message = "program_id is missing."
    hint = "Send program_id, or additional_data.program_id."


class ProgramNotFound(ServiceError):
    message = "No program has this program_id."
    hint = "Use the program's id as the dashboard shows it."


class AffiliateUrlRequired(ServiceError):
    message = "affiliate_url is missing."
    hint = "Send the URL of the landing page, with its ?aff=<partner code>."


class InvalidAffiliateUrl(ServiceError):
    message = "affiliate_url is not an absolute http or https URL."
    hint = "Send the whole URL of the landing page, with its scheme and host."


class AffMissing(ServiceError):
    message = "affiliate_url has no partner code."
    hint = "Send the URL of the landing page with its ?aff=<partner code>, and keep the parameter through redirects."


class PartnerNotFound(ServiceError):
    message = "No partner of this program has this code."
    hint = "Compare the code with the partner's link. Upper and lower case differ."


class OriginNotAllowed(ServiceError):
    message = "The page that sent the request is not on a domain of the program."
    hint = "Add the page's domain to the program's further domains, on the page Settings."


class InvalidHandover(ServiceError):
    message = "The hand-over token is malformed, used, expired or not of this program."
    hint = "A token works once and for five minutes. Decorate the link when the visitor clicks it."


class IdentifierRequired(ServiceError):
    message = "Neither click_id nor customer_key was sent."
    hint = "Send both, or the one that you have."


class IdentifierConflict(ServiceError):
    message = "click_id and customer_key belong to different customers."
    hint = (
        "If they are one person, send the customer_key that the click's customer has, or the click_id alone. A second "
        "account in one browser needs a click of its own."
    )


class CustomerNotFound(ServiceError):
    message = "No customer of this program has this click_id or customer_key."
    hint = "Send the customer_key of a settled lead, unchanged, or add the click_id from the cookie."


class CustomerWrongProgram(ServiceError):
    message = "The click or program_id belongs to another program than the key."
    hint = "Use the key of the program that recorded the click."


class CustomerNotAttributed(ServiceError):
    message = "The customer has no attribution, because their partner has left the program."
    hint = (
        "Set the partner to active or paused and send the request again. If you removed the partner on "
        "purpose, do nothing."
    )


class StatusTransitionRefused(ServiceError):
    message = "The customer has already converted and cannot become a lead again."
    hint = (
        "Send the lead before the first sale. For this customer, send click_id and customer_key with the next sale: "
        "later ones are then found by the customer_key."
    )


class SaleBeforeClick(ServiceError):
    message = "The sale happened before the customer's click, so it earns nothing."
    hint = "Check occurred_at and its time zone. If the sale did come first, do nothing."


class AttributionWindowExpired(ServiceError):
    message = "The click is older than the program's attribution window."
    hint = "Do nothing, or extend the program's attribution_window_days and send the request again."


class CurrencyNotSupported(ServiceError):
    message = "No exchange rate is loaded for this currency."
    hint = (
        "Send the amount in the program's currency, or load the ECB's rates: Settings, Exchange rates, or "
        "`svc admin rates import FILE`."
    )


class DuplicateTransaction(ServiceError):
    message = "A sale with this transaction_id is already recorded."
    hint = (
        "If error.same_payload is true, the sale is already recorded: do nothing. If it is false, the hint says "
        "what differs. Another purchase has its own transaction_id."
    )


class TransactionNotFound(ServiceError):
    message = "No sale of this program has this transaction_id."
    hint = "Send the transaction_id of a recorded sale. Refund a test sale in test mode."


class RefundExceedsSale(ServiceError):
    message = "The refund is larger than the remaining amount of the sale."
    hint = "Refund at most the remaining amount. Without refund_amount_cents, all of it is refunded."
