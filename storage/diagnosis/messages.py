"""The message of each outcome: what it means, and the smallest change that would have credited the sale."""

from storage.rules.errors import (
    BY_CODE,
    AttributionWindowExpired,
    CurrencyNotSupported,
    CustomerNotAttributed,
    IdentifierConflict,
    SaleBeforeClick,
)
from storage.rules.outcome import OutcomeMessage, SaleOutcome

MESSAGES: dict[str, OutcomeMessage] = {
    **{code: OutcomeMessage(error.message, error.hint) for code, error in BY_CODE.items()},
    SaleOutcome.CREDITED: OutcomeMessage("The sale is recorded and its commission is credited.", None),
    SaleOutcome.CREDITED_IN_PART: OutcomeMessage(
        "The sale is credited. A refund took back its share of the commission.",
        "Do nothing: the refunded part earns no commission. If the refund was an error, send a new sale.",
    ),
    SaleOutcome.FULLY_REFUNDED: OutcomeMessage(
        "The sale was credited and then fully refunded, so its commission was taken back.",
        "Do nothing. If the refund was an error, send a new sale with its own transaction_id.",
    ),
    SaleOutcome.POSSIBLE_DUPLICATE: OutcomeMessage(
        "The sale is recorded. The payment account reported a payment of this customer and amount within 10 minutes of "
        "it, so its commission is held.",
        "Decide on the page Review whether both are one purchase. Report each sale from one place only.",
    ),
    SaleOutcome.COMMISSION_REJECTED: OutcomeMessage(
        "The sale was credited, and the program then rejected its commission.",
        "Do nothing: a rejection is final. The audit log names who rejected the commission.",
    ),
    SaleOutcome.COMMISSION_RATE_ZERO: OutcomeMessage(
        "The sale is recorded, but the commission rate was 0.",
        "Set commission_rate above 0. The change applies to later sales only.",
    ),
    SaleOutcome.COMMISSION_ROUNDS_TO_ZERO: OutcomeMessage(
        "The sale is recorded, but its commission is less than half a cent.",
        "Check that amount_cents is in cents, or raise commission_rate.",
    ),
    SaleOutcome.BELOW_MINIMUM_ORDER: OutcomeMessage(
        "The sale is recorded, but its amount is below the smallest order that earns commission.",
        "Do nothing, or lower minimum_order_cents. The change applies to later sales only.",
    ),
    SaleOutcome.RECURRING_PERIOD_OVER: OutcomeMessage(
        "The sale is recorded, but the months in which this customer's later sales earn commission are over.",
        "Raise recurring_months (null means for life). The change applies to later sales only.",
    ),
    SaleOutcome.ONLY_A_TEST: OutcomeMessage(
        "Only a test-mode request with this transaction_id was received.",
        "Send the same sale without additional_data.test_mode.",
    ),
    SaleOutcome.NO_SALE: OutcomeMessage(
        "The customer's lead is settled, but the service has received no sale of theirs.",
        "Send POST /api/v1/track/sale with the program key and this customer's customer_key or click_id.",
    ),
    SaleOutcome.LEAD_PROVISIONAL: OutcomeMessage(
        "A browser sent the lead. No server has confirmed it, so it is provisional, and the service has received no "
        "sale.",
        "Send POST /api/v1/track/lead with the program key, the click_id and the customer_key. Then send the sale.",
    ),
    SaleOutcome.LEAD_OUTRANKED: OutcomeMessage(
        "A browser alone sent this click's lead, with the customer_key of another customer. What your server "
        "sent outranks it, so it counts nowhere and earns nothing.",
        "Do nothing. If this click's visitor did sign up, send a lead with its click_id and the program key.",
    ),
    SaleOutcome.NO_LEAD: OutcomeMessage(
        "The click is recorded, but the service has received no lead and no sale with it.",
        "Send a lead with this click_id and the program key at signup, or send the click_id with the sale.",
    ),
    SaleOutcome.CLICK_FILTERED: OutcomeMessage(
        "The click came from a known bot or a prefetch. It is stored but not counted.",
        "Click the link in a browser. A lead or sale with this click_id would still be attributed.",
    ),
    SaleOutcome.PAYMENT_WAITING: OutcomeMessage(
        "The payment processor reported this payment. It waits: no lead has the customer_key in its metadata, and no "
        "click of this program the click_id.",
        "Before the customer's first sale, send their lead with the program key, click_id and this customer_key: the "
        "payment is recorded within an hour, or when you choose Try again under Settings, Payments. Later, name the "
        "customer there by the click_id of their visit, or dismiss the payment.",
    ),
    SaleOutcome.PAYMENT_ORGANIC: OutcomeMessage(
        "The payment processor reported this payment. Its metadata names no customer, so no partner earns on it.",
        "Do nothing if no partner sent the customer. Else put svc_click_id and svc_customer_key into the metadata of "
        "the next checkout, and name this payment's customer under Settings, Payments.",
    ),
    SaleOutcome.PAYMENT_HELD: OutcomeMessage(
        "The payment processor reported this payment. It may be a sale that your server reported, so it does not "
        "count yet.",
        "Decide under Settings, Payments, whether it is the same sale.",
    ),
    SaleOutcome.PAYMENT_NOT_REFERRED: OutcomeMessage(
        "The payment processor reported this payment. An owner decided that no partner sent its customer.",
        "Do nothing. If that was an error, name the customer under Settings, Payments.",
    ),
    SaleOutcome.PAYMENT_NOT_A_SALE: OutcomeMessage(
        "The payment processor reported this object. It is not a payment of this program: its amount is 0, it is not "
        "paid yet, or its metadata names another program.",
        "Do nothing. A later payment of the same subscription is recorded when it is paid.",
    ),
    SaleOutcome.PAYMENT_MISSING: OutcomeMessage(
        "The payment processor reported a refund, a dispute or an invoice of this payment, but the payment itself is "
        "not recorded.",
        "Do nothing if no partner sent the customer. Else name its sale under Settings, Payments, or run "
        "`svc reconcile` with an export of that time.",
    ),
    SaleOutcome.NOT_RECORDED: OutcomeMessage(
        "The service has recorded nothing with this identifier and has rejected no request with it in the last 30 "
        "days.",
        "Send the request. If you did, check that it carries this program's key and exactly this identifier.",
    ),
}
PAYMENT_CHANGES: dict[str, str] = {
    IdentifierConflict.code: "Name the customer under Settings, Payments: by the click_id, if both accounts are one "
    "person. Or dismiss the payment there. A second account in one browser needs a click of its own.",
    AttributionWindowExpired.code: "Do nothing, or extend the program's attribution_window_days and choose Try again "
    "under Settings, Payments.",
    CustomerNotAttributed.code: "Set the partner to active or paused and choose Try again under Settings, Payments. If "
    "you removed the partner on purpose, dismiss the payment there.",
    CurrencyNotSupported.code: "Load the exchange rates under Settings, Exchange rates, and choose Try again under "
    "Settings, Payments.",
    SaleBeforeClick.code: "Do nothing if the payment did come first. Else name the click_id of an earlier visit under "
    "Settings, Payments.",
}
