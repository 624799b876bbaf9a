"""What a payment processor's events mean, how they are stored, and how payments find their sales."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from storage.engine.sealing import Sealer
from storage.lists.payment_events import PAYMENT_EVENTS
from storage.payments import accounts, event_log, reconciliation
from storage.payments.reconciliation import Reconciliation
from storage.payments.stripe import parse_event
from storage.rules.payment import Introduced, Linked, Paid, Returned, ReturnKind
from storage.rules.reconciliation import Code, Payment
from storage.rules.returned_money import ReturnedMoney, SaleRefund
from storage.rules.returned_money import returned as returned_money
from storage.tables import payment_events, sales
from tests import stripe_events as stripe
from tests.conftest import ROOT
from tests.storage.payments.paying import named, take
from tests.world import NOW, World, stored

METADATA = {"svc_click_id": "click", "svc_customer_key": "user-1", "program_id": "7"}


def content(event: dict[str, Any]) -> Any:
    return parse_event(event).content


def test_an_invoice_means_the_same_in_both_formats():
    for old_shape in (True, False):
        paid = content(stripe.invoice(metadata=METADATA, old_shape=old_shape))

        assert isinstance(paid, Paid)
        assert (paid.transaction_id, paid.amount_cents, paid.currency) == ("in_1", 10_000, "USD")
        assert {"in_1", "pi_in_1"} <= set(paid.references)
        assert (paid.click_id, paid.customer_key, paid.program_id) == ("click", "user-1", "7")
        assert (paid.processor_customer, paid.occurred_at) == ("cus_1", NOW)


def test_a_payment_has_the_id_of_its_invoice_or_else_its_intent_and_an_amount_in_its_currencys_smallest_unit():
    for invoice, intent, name in (("in_1", None, "in_1"), (None, "pi_1", "pi_1"), ({"id": "in_2"}, "pi_1", "in_2")):
        assert content(stripe.checkout(invoice=invoice, payment_intent=intent)).transaction_id == name
    for currency, cents in {"jpy": 1_200, "kwd": 1_200, "isk": 12, "ugx": 12}.items():
        assert content(stripe.checkout(amount=1_200, currency=currency)).amount_cents == cents, currency


TAXES = [{"amount": 600}, {"amount": 300}]
TAXED = [
    (stripe.checkout(total_details={"amount_shipping": 500, "amount_tax": 900}), (900, 500)),
    (stripe.invoice(total_taxes=TAXES, shipping_cost={"amount_tax": 95, "amount_total": 595}), (900, 500)),
    (stripe.invoice(amount=5_000, total_tax_amounts=TAXES, total=10_000), (450, 0)),  # a credit paid the rest
    (stripe.invoice(amount=12_000, tax=900, total=10_000), (900, 0)),  # with what was owed before
]


def test_tax_and_shipping_are_those_that_stripe_documents():
    found = [(paid.tax_cents, paid.shipping_cents) for paid in (content(event) for event, _ in TAXED)]
    assert found == [parts for _, parts in TAXED]


def returned(kind: ReturnKind, cents: int, *, stands: bool = True) -> Returned:
    return Returned("pi_1", f"{kind}-{cents}", kind, cents, stands, NOW)


@pytest.mark.parametrize(
    ("api", "totals", "cents", "held"),
    [
        ([500], [500], 500, []),
        ([500, 500], [500], 1_000, []),
        ([500, 300], [800], 800, []),  # the account reported both in one total
        ([500], [500, 800], 800, []),  # the account reported another one of 300
        ([900], [500, 800], 1_700, []),
        ([500], [800], 800, [500]),  # it is a part of the 800, or comes on top of them
        ([500, 900], [800], 1_700, [500]),
    ],
)
def test_a_refund_of_the_api_is_one_of_the_same_amount_and_held_where_it_may_be_a_part_of_a_larger_one(
    api: list[int], totals: list[int], cents: int, held: list[int]
):
    calls = [SaleRefund(n, None, each) for n, each in enumerate(api)]

    money = returned_money(calls, [returned(ReturnKind.TOTAL, each) for each in totals])

    assert money == ReturnedMoney(cents, tuple(each for each in calls if each.cents in held))


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


STORED = Paid("in_1", ("in_1", "pi_1"), 10_000, "USD", NOW, customer_key="user-1", processor_customer="cus_1")
RETURNED = Returned("pi_1", "re_1", ReturnKind.REFUND, 500, stands=True, told_at=NOW)
LINKED = Linked(("in_1", "pi_1"))
CONTENTS: list[Any] = [STORED, RETURNED, LINKED, Introduced("cus_1", None, "user-1", "1")]  # as they were stored


def test_an_event_is_read_whichever_release_stored_it_and_stored_by_named_fields_and_a_version():
    texts = (ROOT / "tests/released/payments.jsonl").read_text(encoding="utf-8").splitlines()

    assert [event_log.load(text) for text in texts] == [*CONTENTS[:3], *CONTENTS]  # at first without a version
    assert [json.loads(event_log.dump(each)) for each in CONTENTS] == list(map(json.loads, texts[3:]))
    with pytest.raises(ValueError, match="version 2"):
        event_log.load('{"version": 2, "type": "paid"}')


async def test_a_payment_stored_by_an_earlier_release_is_listed_and_tried_again(acme: World):
    await take(acme, stripe.invoice(renewal=True, metadata={"svc_click_id": "nonsense"}))
    [(payment,)] = await stored(acme, payment_events.c.payment)
    fields = {name: value for name, value in json.loads(payment).items() if name not in {"version", "type"}}
    earlier = json.dumps({"Paid": fields})
    await acme.store.write(lambda connection: connection.execute(update(payment_events).values(payment=earlier)))
    [listed] = (await acme.listed(PAYMENT_EVENTS)).data

    await take(acme, stripe.checkout(metadata=await named(acme)))

    assert (listed.outcome, listed.amount_cents, listed.currency) == ("waiting", 10_000, "USD")
    assert len(await stored(acme, sales.c.transaction_id)) == 2


PAID = Payment(2, ("in_1", "pi_1", "ch_1"), 10_000, 0, "USD", NOW, processor_customer="cus_1")


async def reconcile(acme: World, *payments: Payment, at: datetime = NOW) -> Reconciliation:
    return await acme.store.read(reconciliation.compare, acme.program_id, payments, at=at)


def codes(found: Reconciliation) -> list[Code]:
    return [finding.code for finding in found.findings]


async def test_a_payment_is_found_by_any_id_in_its_events_and_the_processors_customer_names_who_paid_again(acme: World):
    await take(acme, stripe.checkout(metadata=await named(acme)))
    later = NOW + timedelta(days=30)
    renewal = Payment(3, ("in_2",), 10_000, 0, "USD", later, processor_customer="cus_1")

    of_intent, of_session = [PAID._replace(names=(name,)) for name in ("pi_1", "cs_live_1")]
    by_id = [await reconcile(acme, each) for each in (of_intent, of_session, of_intent._replace(returned_cents=1_000))]
    found = await reconcile(acme, renewal, renewal._replace(line=4, processor_customer="cus_2"), at=later)

    assert list(map(codes, by_id)) == [[], [], [Code.REFUND_MISSING]]
    assert codes(found) == [Code.RENEWAL_NOT_REPORTED]
    assert found.unattributed == 1
    (call,) = found.findings[0].calls
    assert (call.path, call.body["transaction_id"]) == ("/api/v1/track/sale", "in_2")


async def test_the_click_of_the_metadata_outranks_the_key(acme: World):
    await acme.customer("user-1")
    click_id = await acme.visitor()
    await acme.lead(click_id, "user-2")

    found = await reconcile(acme, PAID._replace(click_id=click_id, customer_key="user-1"))

    assert codes(found) == [Code.MISSING]
    (call,) = found.findings[0].calls
    assert call.body["click_id"] == click_id


async def test_a_sale_with_the_shops_own_id_is_the_payment_if_similar_and_near_and_another_programs_is_not_read(
    acme: World,
):
    await acme.customer("user-1")
    await acme.sale("order-1")
    paid = PAID._replace(customer_key="user-1")

    near, far = [await reconcile(acme, paid._replace(occurred_at=NOW + timedelta(minutes=late))) for late in (10, 11)]
    await acme.sale("in_1")
    elsewhere = await reconcile(await acme.beside(), paid)

    assert (codes(near), codes(far)) == ([], [Code.RENEWAL_NOT_REPORTED])
    assert (elsewhere.findings, elsewhere.unattributed) == ([], 1)


async def test_the_newest_two_secrets_of_an_account_work_and_none_outlives_its_account(acme: World):
    sealer, worked = Sealer("a key"), []
    for account_id, secret in (("acct_1", "1"), ("acct_1", "2"), ("acct_1", "3"), ("acct_2", "4")):
        about: Any = {"provider": "stripe", "account_id": account_id, "secret": secret, "sealer": sealer}
        await acme.do(accounts.connect, **about)
        account = await acme.store.read(accounts.get_account, acme.program_id)
        worked.append([sealer.open(sealed) for sealed in account.sealed_secrets.splitlines()])

    assert worked[2:] == [["3", "2"], ["4"]]
