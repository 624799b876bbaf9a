"""Stripe's events as its API publishes them: of an older version, and of the one with parent.subscription_details."""

import json
from datetime import datetime
from typing import Any

from stripe import WebhookSignature

from tests.tables import table
from tests.world import NOW

SECRET = "whsec_of_acme_0123456789"


def event(kind: str, found: dict[str, Any], *, event_id: str, at: datetime = NOW) -> dict[str, Any]:
    about = {"id": event_id, "created": int(at.timestamp()), "type": kind, "data": {"object": found}}
    return _read("event") | about


def _read(kind: str) -> dict[str, Any]:
    """Return what every object of a kind has."""
    return dict(table(f"stripe/{kind}.json"))


def checkout(
    event_id: str = "evt_checkout", *, amount: int = 10_000, metadata: Any = None, at: datetime = NOW, **changed: Any
) -> dict[str, Any]:
    """Return a checkout that was paid, in dollars unless another `currency` is given."""
    session = _read("checkout.session") | {"amount_subtotal": amount, "amount_total": amount, "currency": "usd"}
    session |= {"created": int(at.timestamp()), "metadata": metadata or {}, **changed}
    return event("checkout.session.completed", session, event_id=event_id, at=at)


def invoice(
    event_id: str = "evt_invoice",
    *,
    amount: int = 10_000,
    name: str = "in_1",
    metadata: dict[str, str] | None = None,
    renewal: bool = False,
    old_shape: bool = False,
    at: datetime = NOW,
    **changed: Any,
) -> dict[str, Any]:
    """Return an invoice that was paid: of a subscription's first period, or of a renewal."""
    intent, paid_at = f"pi_{name}", int(at.timestamp())
    found = _read("invoice") | {"id": name, "amount_due": amount, "amount_paid": amount, "created": paid_at}
    found["billing_reason"] = "subscription_cycle" if renewal else "subscription_create"
    found["status_transitions"] = {"paid_at": paid_at}
    if old_shape:
        found |= {"subscription_details": {"metadata": metadata or {}}, "subscription": "sub_1"}
        found |= {"payment_intent": intent, "charge": f"ch_{name}", "paid": True}
    else:
        parent = {"metadata": metadata or {}, "subscription": "sub_1"}
        found["parent"] = {"type": "subscription_details", "quote_details": None, "subscription_details": parent}
        payment = {"type": "payment_intent", "payment_intent": intent}
        found["payments"] = {"object": "list", "data": [{"id": "inpay_1", "payment": payment, "status": "paid"}]}
    return event("invoice.paid", found | changed, event_id=event_id, at=at)


def invoice_payment(
    event_id: str = "evt_invoice_payment", *, invoice: str = "in_1", intent: str = "pi_in_1", at: datetime = NOW
) -> dict[str, Any]:
    """Return what says that an invoice was paid by a payment intent, as versions tell it whose invoices do not."""
    payment = {"type": "payment_intent", "payment_intent": intent}
    found = _read("invoice_payment") | {"id": f"inpay_{invoice}", "invoice": invoice, "payment": payment}
    return event("invoice_payment.paid", found, event_id=event_id, at=at)


def intent(name: str = "pi_1", *, kind: str = "payment_intent", at: datetime = NOW, **changed: Any) -> dict[str, Any]:
    """Return a payment intent that succeeded, or the charge of it, which names neither its invoice nor its checkout."""
    charge = f"ch_{name}"
    names = {"id": charge, "payment_intent": name} if kind == "charge" else {"id": name, "latest_charge": charge}
    return event(f"{kind}.succeeded", _read(kind) | names | changed, event_id=f"evt_{kind}_{name}", at=at)


def customer(metadata: dict[str, str], *, event_id: str = "evt_customer") -> dict[str, Any]:
    """Return a customer of the account who was created."""
    return event("customer.created", {"id": "cus_1", "object": "customer", "metadata": metadata}, event_id=event_id)


def charge_refunded(
    event_id: str = "evt_charge", *, total: int, intent: str = "pi_1", at: datetime = NOW, refunds: Any = None
) -> dict[str, Any]:
    """Return a charge of which `total` has been refunded so far; older versions list the `refunds`, cents by name."""
    ids = {"id": f"ch_{intent}", "payment_intent": intent}
    charge = _read("refunded_charge") | ids | {"amount_refunded": total, "refunded": total == 10_000}
    if refunds is not None:
        about = {"object": "refund", "currency": "usd", "status": "succeeded"}
        listed = [{"id": name, "amount": cents, **about} for name, cents in refunds.items()]
        charge["refunds"] = {"object": "list", "data": listed}
    return event("charge.refunded", charge, event_id=event_id, at=at)


def refund_updated(
    event_id: str = "evt_refund",
    *,
    amount: int,
    name: str = "re_1",
    status: str = "succeeded",
    intent: str = "pi_1",
    at: datetime = NOW,
    kind: str = "refund.updated",
) -> dict[str, Any]:
    return event(kind, _of_charge("refund", name, amount, intent, status), event_id=event_id, at=at)


def dispute(
    event_id: str = "evt_dispute", *, amount: int = 10_000, intent: str = "pi_1", name: str = "dp_1"
) -> dict[str, Any]:
    status = "needs_response"
    return event("charge.dispute.created", _of_charge("dispute", name, amount, intent, status), event_id=event_id)


def dispute_closed(
    status: str, *, amount: int = 10_000, intent: str = "pi_1", name: str = "dp_1", at: datetime = NOW
) -> dict[str, Any]:
    found = _of_charge("dispute", name, amount, intent, status)
    return event("charge.dispute.closed", found, event_id="evt_closed", at=at)


def _of_charge(kind: str, name: str, amount: int, intent: str, status: str) -> dict[str, Any]:
    about = {"charge": f"ch_{intent}", "payment_intent": intent}
    return {"id": name, "object": kind, "amount": amount, "currency": "usd", "status": status, **about}


def signed(body: dict[str, Any], *, secret: str = SECRET, at: datetime | None = None) -> tuple[bytes, dict[str, str]]:
    """Return an event's bytes and the headers with which Stripe delivers them, signed now by default."""
    content = json.dumps(body)
    moment = None if at is None else int(at.timestamp())
    header = WebhookSignature.generate_signature_header(content, secret, moment)
    return content.encode(), {"Stripe-Signature": header, "Content-Type": "application/json; charset=utf-8"}
