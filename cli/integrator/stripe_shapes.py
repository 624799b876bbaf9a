"""What Stripe sends of a shop's payments, shape by shape: one-off, subscription, trial; each refunded at the end."""

import secrets
import time
from enum import StrEnum
from typing import Any, NamedTuple

CENTS = 4900
FREE = {"amount_total": 0, "payment_status": "no_payment_required"}
Event = dict[str, Any]


class ShopShape(StrEnum):
    """How the shop sells."""

    ONE_OFF = "one-off"
    SUBSCRIPTION = "subscription"
    TRIAL = "trial"


class Scene(NamedTuple):
    """A step of a shape: what happens, the event that Stripe sends, and the outcome that is right."""

    title: str
    event: Event
    expected: str


class SampleBuyer:
    """A visitor who pays: makes the events of one sequence, with ids of their own."""

    def __init__(self, click_id: str, program_id: int, *, live: bool) -> None:
        self._name, self._now, self._live = secrets.token_hex(6), int(time.time()), live
        self._metadata = {"svc_click_id": click_id, "program_id": str(program_id)}

    def play(self, shape: ShopShape) -> list[Scene]:
        """Return the sequence of a shape."""
        scenes = {"one-off": self._one_off, "subscription": self._subscription, "trial": self._trial}
        return scenes[shape]()

    def _one_off(self) -> list[Scene]:
        paid = self._checkout(payment_intent=f"pi_{self._name}1", mode="payment")
        return [Scene("the visitor pays once", paid, "recorded"), self._refund(1, "the payment is refunded")]

    def _subscription(self) -> list[Scene]:
        session = self._checkout(invoice=f"in_{self._name}1", mode="subscription")
        return [
            Scene("the visitor subscribes", session, "recorded"),
            Scene("the invoice of that checkout: the same sale", self._invoice(1, "subscription_create"), "repeated"),
            Scene("a renewal", self._invoice(2, "subscription_cycle"), "recorded"),
            self._refund(2, "the renewal is refunded"),
            self._refund(1, "the first payment is refunded"),
        ]

    def _trial(self) -> list[Scene]:
        session = self._checkout(invoice=f"in_{self._name}0", mode="subscription", **FREE)
        free = self._invoice(0, "subscription_create", cents=0)
        return [
            Scene("the visitor starts a trial: nothing is paid", session, "linked"),
            Scene("the trial's invoice of 0", free, "ignored"),
            Scene("the first payment, after the trial", self._invoice(1, "subscription_cycle"), "recorded"),
            Scene("a renewal", self._invoice(2, "subscription_cycle"), "recorded"),
            self._refund(2, "the renewal is refunded"),
            self._refund(1, "the first payment is refunded"),
        ]

    def _checkout(self, **fields: Any) -> Event:
        session = {"id": f"cs_{self._name}", "amount_total": CENTS, "payment_status": "paid", **self._paid()}
        return self._event("checkout.session.completed", session | fields)

    def _invoice(self, number: int, reason: str, *, cents: int = CENTS) -> Event:
        details = {"metadata": self._metadata, "subscription": f"sub_{self._name}"}
        payment = {"type": "payment_intent", "payment_intent": f"pi_{self._name}{number}"}
        invoice: dict[str, Any] = {
            "id": f"in_{self._name}{number}",
            "amount_paid": cents,
            "billing_reason": reason,
            "metadata": {},
        }
        invoice["parent"] = {"type": "subscription_details", "subscription_details": details}
        invoice["payments"] = {"data": [{"payment": payment}]}
        return self._event("invoice.paid", self._paid() | invoice)

    def _refund(self, number: int, title: str) -> Scene:
        charge = {"id": f"ch_{self._name}{number}", "payment_intent": f"pi_{self._name}{number}"}
        back = {"amount_refunded": CENTS, "currency": "usd"}
        return Scene(title, self._event("charge.refunded", {**charge, **back}), "recorded")

    def _paid(self) -> dict[str, Any]:
        return {"currency": "usd", "customer": f"cus_{self._name}", "metadata": self._metadata}

    def _event(self, kind: str, found: dict[str, Any]) -> Event:
        about = {"id": f"evt_{secrets.token_hex(12)}", "type": kind, "created": self._now, "livemode": self._live}
        return {**about, "data": {"object": found}}
