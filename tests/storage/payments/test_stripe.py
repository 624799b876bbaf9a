"""What a payment processor's events mean, in the shapes of its older and its newer API."""

from typing import Any

import pytest

from storage.payments.stripe import parse_event
from storage.rules.payment import Paid, Returned, ReturnKind, returned_cents
from tests import stripe_events as stripe
from tests.world import NOW

METADATA = {"svc_click_id": "click", "svc_customer_key": "user-1", "program_id": "7"}


def content(event: dict[str, Any]) -> Any:
    return parse_event(event).content


@pytest.mark.parametrize("old_shape", [True, False])
def test_an_invoice_means_the_same_in_both_formats(old_shape: bool):  # noqa: FBT001 - the cases
    paid = content(stripe.invoice(metadata=METADATA, old_shape=old_shape))

    assert isinstance(paid, Paid)
    assert (paid.transaction_id, paid.amount_cents, paid.currency) == ("in_1", 10_000, "USD")
    assert {"in_1", "pi_in_1"} <= set(paid.references)
    assert (paid.click_id, paid.customer_key, paid.program_id) == ("click", "user-1", "7")
    assert (paid.processor_customer, paid.occurred_at) == ("cus_1", NOW)


@pytest.mark.parametrize(
    ("invoice", "intent", "expected"),
    [("in_1", None, "in_1"), (None, "pi_1", "pi_1"), ({"id": "in_2"}, "pi_1", "in_2")],
)
def test_a_payment_has_the_id_of_its_invoice_or_else_its_intent(invoice: Any, intent: Any, expected: str):
    assert content(stripe.checkout(invoice=invoice, payment_intent=intent)).transaction_id == expected


@pytest.mark.parametrize(("currency", "cents"), [("jpy", 1_200), ("kwd", 1_200), ("isk", 12), ("ugx", 12)])
def test_amounts_are_in_the_smallest_unit_of_their_currency(currency: str, cents: int):
    assert content(stripe.checkout(amount=1_200, currency=currency)).amount_cents == cents


def returned(kind: ReturnKind, cents: int, *, stands: bool = True) -> Returned:
    return Returned("pi_1", f"{kind}-{cents}", kind, cents, stands, NOW)


@pytest.mark.parametrize(
    ("returns", "gone"),
    [
        ([], 0),
        ([returned(ReturnKind.REFUND, 100), returned(ReturnKind.REFUND, 200)], 300),
        ([returned(ReturnKind.REFUND, 100), returned(ReturnKind.TOTAL, 300)], 300),
        ([returned(ReturnKind.REFUND, 100), returned(ReturnKind.DISPUTE, 500)], 600),
        ([returned(ReturnKind.DISPUTE, 500, stands=False)], 0),
    ],
)
def test_returns_are_counted_once(returns: list[Returned], gone: int):
    assert returned_cents(returns) == gone


@pytest.mark.parametrize(
    "broken",
    [
        {"type": "invoice.paid"},
        stripe.checkout(amount_total=-1),
        stripe.checkout(amount_total=True),
        stripe.checkout(currency="dollars"),
        {**stripe.checkout(), "data": []},
        {**stripe.checkout(), "created": "soon"},
        {**stripe.checkout(), "id": ""},
    ],
)
def test_malformed_values_are_rejected(broken: Any):
    with pytest.raises(ValueError, match=r"."):
        parse_event(broken)
