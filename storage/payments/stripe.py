"""Parses Stripe's events, in the old and new formats, into payments and returns."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from storage.rules.money import half_even
from storage.rules.payment import Content, Introduced, Linked, Paid, ProcessorEvent, Returned, ReturnKind

TWO_EXTRA_DIGITS = ("ISK", "UGX")  # have no minor unit, but Stripe counts them in hundredths
LONGEST = 255
MOST_CENTS = 10**12  # as much as the API takes
UNDER_WAY = ("pending", "requires_action")
Fields = Mapping[str, Any]
MOST_REFERENCES = 50  # one payment has a handful of names; each costs a row


def parse_event(event: Fields) -> ProcessorEvent:
    """Return the content of a Stripe event. Raises ValueError for any other format."""
    try:
        kind = _text(event["type"]) or _missing("type")
        created = _time(event["created"])
        event_id = _text(event["id"]) or _missing("id")
        is_test = event.get("livemode") is False
        if kind not in READERS:
            return ProcessorEvent(event_id, kind[:64], created, None, is_test)
        found = event["data"]["object"]
        return ProcessorEvent(event_id, kind[:64], created, READERS[kind](found, created), is_test, _names(found))
    except (KeyError, TypeError, OverflowError, OSError, AttributeError) as problem:
        raise ValueError(f"not in the processor's shape: {problem!r}") from problem


def _names(found: Fields) -> tuple[str, ...]:
    """Return every id of the processor's in an object: its own, and those of what it belongs to."""
    details = (found.get("parent") or {}).get("subscription_details") or {}
    payments = [found.get("payment") or {}, *_payments(found)]
    values = [found.get("id"), found.get("subscription"), details.get("subscription"), found.get("customer")]
    linked = ("invoice", "payment_intent", "charge", "latest_charge")
    values += [each.get(name) for each in (found, *payments) for name in linked]
    names = tuple(dict.fromkeys(name for name in map(_id, values) if name))
    if len(names) > MOST_REFERENCES:
        raise ValueError("an event has fewer names")
    return names


def _checkout(session: Fields, created: datetime) -> Paid | Introduced | None:
    paid = None
    if session.get("payment_status") == "paid":
        names = (_id(session.get("invoice")), _id(session.get("payment_intent")), _text(session["id"]))
        paid = _paid(session, names, session["amount_total"], session.get("metadata"), created)
    return paid or _introduced(session)


def _introduced(session: Fields) -> Introduced | None:
    customer = _id(session.get("customer"))
    named = _named(session.get("metadata"))
    return Introduced(customer, **named) if customer and (named["click_id"] or named["customer_key"]) else None


def _customer(customer: Fields, _: datetime) -> Introduced | None:
    return _introduced({**customer, "customer": customer["id"]})


def _invoice(invoice: Fields, created: datetime) -> Paid | None:
    details = (invoice.get("parent") or {}).get("subscription_details") or invoice.get("subscription_details") or {}
    metadata = {**(details.get("metadata") or {}), **(invoice.get("metadata") or {})}
    intents = [_id(payment.get("payment_intent")) for payment in _payments(invoice)]
    names = (_text(invoice["id"]), _id(invoice.get("payment_intent")), _id(invoice.get("charge")), *intents)
    paid_at = (invoice.get("status_transitions") or {}).get("paid_at")
    occurred_at = _time(paid_at) if paid_at else created
    return _paid(invoice, names, invoice["amount_paid"], metadata, occurred_at)


def _intent(intent: Fields, created: datetime) -> Paid | Linked | None:
    """Return a payment of an intent or a charge; only the link if it says which invoice it paid."""
    names = tuple(map(_id, (intent.get("payment_intent"), intent["id"], intent.get("latest_charge"))))
    invoice, name = _id(intent.get("invoice")), names[0] or names[1]
    if invoice and name:
        return Linked((invoice, name))
    amount = intent["amount_captured" if intent["object"] == "charge" else "amount_received"]
    paid = _paid(intent, names, amount, intent.get("metadata"), created)
    return paid and paid._replace(is_bare=True)


def _payments(invoice: Fields) -> list[Fields]:
    return [each.get("payment") or {} for each in (invoice.get("payments") or {}).get("data", ())]


def _invoice_payment(fields: Fields, _: datetime) -> Linked | None:
    payment = fields["payment"]
    names = (_id(fields.get("invoice")), _id(payment.get("payment_intent")) or _id(payment.get("charge")))
    return Linked((names[0], names[1])) if names[0] and names[1] else None


def _paid(
    fields: Fields, names: Sequence[str | None], amount: Any, metadata: Fields | None, occurred_at: datetime
) -> Paid | None:
    """Return a payment under its first name; None for a zero amount."""
    references = tuple(dict.fromkeys(name for name in names if name))
    if len(references) > MOST_REFERENCES:
        raise ValueError("a payment has fewer names")
    currency = _currency(fields["currency"])
    cents = _cents(amount, currency)
    if cents == 0:
        return None
    tax_cents, shipping_cents = _parts(fields, cents, currency)
    transaction_id = references[0] if references else _missing("id")
    customer = _id(fields.get("customer"))
    about: dict[str, Any] = {"processor_customer": customer, "tax_cents": tax_cents, "shipping_cents": shipping_cents}
    about["coupon_code"] = _text((metadata or {}).get("svc_coupon")) or _promotion_code(fields)
    return Paid(transaction_id, references, cents, currency, occurred_at, **_named(metadata), **about)


def _promotion_code(fields: Fields) -> str | None:
    """Return the promotion code of a checkout or an invoice: its text where the event carries it, else its id."""
    discounts = [*(fields.get("discounts") or ()), fields.get("discount")]
    for discount in discounts:
        promotion = discount.get("promotion_code") if isinstance(discount, Mapping) else None  # else its id alone
        if found := _text(promotion.get("code") if isinstance(promotion, Mapping) else promotion):
            return found
    return None


def _parts(fields: Fields, paid_cents: int, currency: str) -> tuple[int, int]:
    """Return the tax and the shipping in a payment: in proportion, if it paid only a part of its invoice."""
    details = fields.get("total_details") or {}
    cost = fields.get("shipping_cost") or {}
    taxes = fields.get("total_taxes") or fields.get("total_tax_amounts") or ()
    # Invoices have `tax`, later `total_tax_amounts`, now `total_taxes`.
    tax = details.get("amount_tax") or fields.get("tax") or sum(each["amount"] for each in taxes)
    before_tax = cost["amount_total"] - (cost.get("amount_tax") or 0) if cost else details.get("amount_shipping") or 0
    tax_cents, shipping_cents = (_cents(max(each, 0), currency) for each in (tax, before_tax))
    whole_cents = max(_cents(fields.get("total") or 0, currency), paid_cents, tax_cents + shipping_cents)
    both_cents = half_even(Fraction(paid_cents * (tax_cents + shipping_cents), whole_cents))
    tax_cents = half_even(Fraction(paid_cents * tax_cents, whole_cents))
    return tax_cents, both_cents - tax_cents


def _named(metadata: Fields | None) -> dict[str, Any]:
    sent = metadata or {}
    names = {"click_id": "svc_click_id", "customer_key": "svc_customer_key", "program_id": "program_id"}
    return {ours: _text(sent.get(theirs)) for ours, theirs in names.items()}


def _charge_refunded(charge: Fields, created: datetime) -> Returned:
    """Return the total; older versions list the charge's refunds in it."""
    named = {**charge, "charge": charge["id"]}
    of_charge = {name: named.get(name) for name in ("charge", "payment_intent", "currency")}
    listed = ((charge.get("refunds") or {}).get("data") or ())[:MOST_REFERENCES]
    refunds = (_refund({**each, **of_charge}, created) for each in listed)
    total = _returned(named, ReturnKind.TOTAL, charge["amount_refunded"], created)
    return total._replace(listed=tuple(each for each in refunds if each))


def _refund(refund: Fields, created: datetime) -> Returned | None:
    """Return a refund that ended; None while it is under way."""
    if refund.get("status") in UNDER_WAY:
        return None
    stands = refund.get("status") == "succeeded"
    return _returned(refund, ReturnKind.REFUND, refund["amount"], created, stands=stands)


def _dispute(dispute: Fields, created: datetime) -> Returned:
    stands = dispute.get("status") not in {"won", "warning_closed", "prevented"}
    return _returned(dispute, ReturnKind.DISPUTE, dispute["amount"], created, stands=stands)


def _returned(fields: Fields, kind: ReturnKind, amount: Any, occurred_at: datetime, *, stands: bool = True) -> Returned:
    payment = _id(fields.get("payment_intent")) or _id(fields.get("charge"))
    cents = _cents(amount, _currency(fields["currency"]))
    name = _text(fields["id"]) or _missing("id")
    return Returned(payment or _missing("payment_intent"), name, kind, cents, stands, occurred_at)


def _cents(amount: Any, currency: str) -> int:
    if isinstance(amount, bool) or not isinstance(amount, int) or not 0 <= amount <= MOST_CENTS:
        raise ValueError(f"an amount is an integer from 0 to {MOST_CENTS}")
    return amount // 100 if currency in TWO_EXTRA_DIGITS else amount


def _time(seconds: Any) -> datetime:
    if isinstance(seconds, bool) or not isinstance(seconds, int):
        raise TypeError("a time is an integer of seconds")
    return datetime.fromtimestamp(seconds, UTC)


def _currency(fields: Any) -> str:
    if not isinstance(fields, str) or len(fields) != len("USD") or not fields.isascii() or not fields.isalpha():
        raise ValueError("a currency has three letters")
    return fields.upper()


def _id(fields: Any) -> str | None:
    """Return an object's id, whether it is expanded or not."""
    return _text(fields.get("id") if isinstance(fields, Mapping) else fields)


def _text(fields: Any) -> str | None:
    """Return a name as text for storage; None for any other value."""
    text = str(fields) if isinstance(fields, str | int) and not isinstance(fields, bool) else ""
    return text if 0 < len(text) <= LONGEST and text.isprintable() else None


def _missing(name: str) -> Any:
    raise ValueError(f"without {name}")


READERS: dict[str, Callable[[Fields, datetime], Content | None]] = {
    "checkout.session.completed": _checkout,
    "checkout.session.async_payment_succeeded": _checkout,
    "invoice.paid": _invoice,
    "invoice_payment.paid": _invoice_payment,
    "payment_intent.succeeded": _intent,
    "charge.succeeded": _intent,
    "customer.created": _customer,
    "customer.updated": _customer,
    "charge.refunded": _charge_refunded,
    "refund.created": _refund,
    "refund.updated": _refund,
    "charge.refund.updated": _refund,
    "charge.dispute.created": _dispute,
    "charge.dispute.closed": _dispute,
}
EVENTS = tuple(READERS)  # what an account's webhook sends to the service
