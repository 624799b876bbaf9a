"""Rejected calls by cause: how much money is at stake, each sale that is not recorded once."""

from datetime import timedelta

from storage.reading import rejected_calls
from storage.rules.errors import CurrencyNotSupported, CustomerNotFound, DuplicateTransaction, InvalidKey
from tests.world import NOW, World


async def at_stake(acme: World) -> dict[str, dict[str, int]]:
    causes = await acme.store.read(rejected_calls.by_cause, acme.program_id)
    return {cause.code: {each.currency: each.amount_cents for each in cause.at_stake} for cause in causes}


async def test_the_amounts_of_rejected_sales_not_of_refunds_are_added_by_cause_and_currency(acme: World):
    await acme.reject(CustomerNotFound(), transaction_id="inv-1", amount_cents=100, currency="USD")
    await acme.reject(CustomerNotFound(), transaction_id="inv-2", amount_cents=200, currency="USD")
    await acme.reject(CustomerNotFound(), transaction_id="inv-3", amount_cents=400, currency="EUR")
    await acme.reject(InvalidKey(), transaction_id="inv-4", amount_cents=800, currency="USD")
    await acme.reject(CurrencyNotSupported())
    await acme.reject(CurrencyNotSupported(), call="refund", transaction_id="inv-1", amount_cents=100)

    assert await at_stake(acme) == {
        "customer_not_found": {"EUR": 400, "USD": 300},
        "invalid_key": {"USD": 800},
        "currency_not_supported": {},
    }


async def test_a_sale_that_was_sent_again_or_recorded_since_is_not_counted_twice(acme: World):
    for transaction_id in ("inv-1", "inv-1", "inv-2"):
        await acme.reject(CustomerNotFound(), transaction_id=transaction_id, amount_cents=100, currency="USD")
    await acme.customer()
    await acme.sale("inv-2", amount_cents=100)
    for same in (True, False):
        error = DuplicateTransaction(same_payload=same)
        await acme.reject(error, transaction_id="inv-2", amount_cents=700 if same else 50, currency="USD")

    assert await at_stake(acme) == {"customer_not_found": {"USD": 100}, "duplicate_transaction": {"USD": 50}}


async def test_rejected_calls_are_grouped_by_cause_the_most_frequent_first(acme: World):
    for n, rejection in enumerate((CustomerNotFound(), DuplicateTransaction(), CustomerNotFound())):
        at = NOW + timedelta(minutes=n)
        await acme.reject(rejection, at=at)

    assert await acme.store.read(rejected_calls.by_cause, acme.program_id) == [
        ("customer_not_found", 2, NOW, NOW + timedelta(minutes=2), ()),
        ("duplicate_transaction", 1, NOW + timedelta(minutes=1), NOW + timedelta(minutes=1), ()),
    ]
