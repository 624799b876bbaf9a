"""Why a processor's event does not count, and the one thing to do about it."""

from typing import NamedTuple

from storage.diagnosis.messages import MESSAGES
from storage.lists.payment_events import PaymentEvent
from storage.rules.outcome import of_payment
from storage.rules.payment import PaymentOutcome

TO_DO = "to_do"
COUNTED = {
    *(PaymentOutcome.RECORDED, PaymentOutcome.REPEATED, PaymentOutcome.SAME),
    *(PaymentOutcome.SETTLING, PaymentOutcome.TEST),
}


class PaymentFix(NamedTuple):
    """Why an event does not count, what to do, and the form for it (empty: none).

    The forms compare a payment with the sale that the API reported, name its customer, dismiss it and, less likely,
    name its customer, or name the sale of a refund.
    """

    text: str
    change: str
    form: str


UNKNOWN_CUSTOMER = PaymentFix(
    "The customer key in the payment's metadata belongs to no lead. Most likely no partner sent this customer.",
    "Dismiss it, and later payments of this customer. If a partner did send them, send the customer's lead with this "
    "key: the payment is recorded within an hour.",
    "dismiss",
)
UNKNOWN_CLICK = PaymentFix(
    "The payment's metadata names a click that this program has not recorded, and no customer who is known.",
    "Name the customer, or dismiss it. It is also recorded within an hour after the customer's lead arrives.",
    "name_customer",
)
UNKNOWN_PAYMENT = PaymentFix(
    "Money went back for a payment that the account has not reported: it was made before the account was connected, or "
    "no partner sent its customer.",
    "If your server reported it as a sale, enter the sale's transaction id. Else dismiss it.",
    "name_sale",
)

HELD_REFUND = PaymentFix(
    "The account reported more returned money than your server, and one may include the other. Only what went back for "
    "certain was taken from the commission.",
    "Decide whether your server's refund is a part of what the account reported.",
    "compare",
)


def of(event: PaymentEvent) -> PaymentFix | None:
    """Return why an event does not count and what to do; None for one that counts or is no payment."""
    is_payment, is_return = event.currency is not None, event.currency is None and event.amount_cents is not None
    if is_return and event.outcome in {PaymentOutcome.WAITING, PaymentOutcome.NOT_REFERRED}:
        fix: PaymentFix | None = UNKNOWN_PAYMENT
    elif is_return and event.outcome == PaymentOutcome.HELD:
        fix = HELD_REFUND
    elif event.outcome in COUNTED or not (is_payment or event.outcome == PaymentOutcome.WAITING):
        fix = None
    elif event.outcome == PaymentOutcome.UNKNOWN_CUSTOMER:
        fix = UNKNOWN_CUSTOMER
    elif is_payment and event.outcome == PaymentOutcome.WAITING:
        fix = UNKNOWN_CLICK
    else:
        message, form = MESSAGES[of_payment(event.outcome, is_payment=is_payment)], "name_customer"
        if event.outcome == PaymentOutcome.HELD:
            form = "compare"
        elif not is_payment:
            form = "dismiss"
        elif event.outcome == PaymentOutcome.IGNORED:
            form = ""
        fix = PaymentFix(message.text, message.change or "", form)
    return fix
