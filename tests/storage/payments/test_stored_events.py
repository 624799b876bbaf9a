"""What the database keeps of a payment event: literal rows of this release and of the ones before it."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import update

from storage.payments import received_events, stored_events
from storage.rules.payment import Introduced, Linked, Paid, Returned, ReturnKind
from storage.tables import payment_events, sales
from tests import stripe_events as stripe
from tests.storage.payments.paying import named, take
from tests.world import World, stored

AT = datetime(2026, 5, 20, 12, tzinfo=UTC)
PAID = Paid("in_1", ("in_1", "pi_1"), 10_000, "USD", AT, customer_key="user-1", processor_customer="cus_1")
RETURNED = Returned("pi_1", "re_1", ReturnKind.REFUND, 500, stands=True, told_at=AT)
LINKED = Linked(("in_1", "pi_1"))
INTRODUCED = Introduced("cus_1", None, "user-1", "1")
WITHOUT_VERSION = {
    '{"Paid": {"transaction_id": "in_1", "references": ["in_1", "pi_1"], "amount_cents": 10000, "currency": "USD",'
    ' "occurred_at": "2026-05-20T12:00:00+00:00", "first": false, "click_id": null, "customer_key": "user-1",'
    ' "program_id": null, "processor_customer": "cus_1"}}': PAID,
    '{"Returned": {"reference": "pi_1", "return_id": "re_1", "kind": "refund", "amount_cents": 500, "stands": true,'
    ' "told_at": "2026-05-20T12:00:00+00:00"}}': RETURNED,
    '{"Linked": {"references": ["in_1", "pi_1"]}}': LINKED,
}
VERSION_1 = {
    '{"version": 1, "type": "paid", "transaction_id": "in_1", "references": ["in_1", "pi_1"], "amount_cents": 10000,'
    ' "currency": "USD", "occurred_at": "2026-05-20T12:00:00+00:00", "click_id": null,'
    ' "customer_key": "user-1", "program_id": null, "processor_customer": "cus_1"}': PAID,
    '{"version": 1, "type": "returned", "reference": "pi_1", "return_id": "re_1", "kind": "refund",'
    ' "amount_cents": 500, "stands": true, "told_at": "2026-05-20T12:00:00+00:00"}': RETURNED,
    '{"version": 1, "type": "linked", "references": ["in_1", "pi_1"]}': LINKED,
    '{"version": 1, "type": "introduced", "processor_customer": "cus_1", "click_id": null, "customer_key": "user-1",'
    ' "program_id": "1"}': INTRODUCED,
}


def test_an_event_is_read_whichever_release_stored_it_and_stored_by_named_fields_and_a_version():
    for text, content in (*WITHOUT_VERSION.items(), *VERSION_1.items()):
        assert stored_events.load(text) == content
    contents: dict[str, Any] = VERSION_1
    for text, content in contents.items():
        assert json.loads(stored_events.dump(content)) == json.loads(text)
    with pytest.raises(ValueError, match="version 2"):
        stored_events.load('{"version": 2, "type": "paid"}')


async def test_a_payment_stored_by_an_earlier_release_is_listed_and_tried_again(acme: World):
    await take(acme, stripe.invoice(renewal=True, metadata={"svc_click_id": "nonsense"}))
    [(payment,)] = await stored(acme, payment_events.c.payment)
    fields = {name: value for name, value in json.loads(payment).items() if name not in {"version", "type"}}
    earlier = json.dumps({"Paid": fields})
    await acme.store.write(lambda connection: connection.execute(update(payment_events).values(payment=earlier)))
    [listed] = (await acme.store.read(received_events.list_events, acme.program_id)).data

    await take(acme, stripe.checkout(metadata=await named(acme)))

    assert (listed.outcome, listed.amount_cents, listed.currency) == ("waiting", 10_000, "USD")
    assert len(await stored(acme, sales.c.transaction_id)) == 2
