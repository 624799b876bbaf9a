"""Rejected sales and refunds by what was wrong, with the money of each cause as sent, credited later and lost."""

from typing import Any

from storage.diagnosis import lost_sales
from storage.rules import errors
from tests.storage.databases import both_databases
from tests.world import World


@both_databases
async def test_causes_are_split_across_codes_with_what_was_credited_later(acme: World):
    async def reject(error: errors.ServiceError, name: str, key: str | None = None, **sent: Any) -> None:
        money = {"amount_cents": 1_000, "currency": "EUR"}
        await acme.reject(error, **{"transaction_id": name, "customer_key": key, **money, **sent})

    await acme.customer("User-1")
    await acme.customer("User-2")
    for _ in range(2):
        await reject(errors.CustomerNotFound(), "case-1", "user-1")
    await reject(errors.IdentifierConflict(), "case-2", "user-2")
    await reject(errors.CustomerNotFound(), "id-1", "cus_9xZ")
    await reject(errors.CustomerNotFound(), "id-2", "cus_9xZ")
    await reject(errors.CustomerNotFound(), "organic-1", "User-9")
    await reject(errors.CustomerWrongProgram(), "foreign-1")
    await acme.sale("case-1", 1_000, customer_key="User-1")
    await acme.sale("id-1", 1_000, customer_key="User-2")
    over: Any = {"call": "refund", "amount_cents": 11_000, "currency": None}
    await reject(errors.RefundExceedsSale(), "case-1", **over)

    found = await acme.store.read(lost_sales.split, acme.program_id)

    amounts = {
        (each.call, each.cause): (each.transactions, each.first_sent, each.credited, each.lost) for each in found
    }
    one, two = {"EUR": 1_000}, {"EUR": 2_000}
    assert amounts == {
        ("sale", "letter_case"): (2, two, one, one),
        ("sale", "processor_id"): (2, two, one, one),
        ("sale", "organic"): (1, one, {}, one),
        ("sale", "wrong_program"): (1, one, {}, one),
        ("refund", "refund_exceeds_sale"): (1, {"USD": 11_000}, {}, {"USD": 11_000}),
    }
    by_cause = {each.cause: each for each in found}
    assert by_cause["letter_case"].codes == {"customer_not_found": 2, "identifier_conflict": 1}
    assert by_cause["letter_case"].likely == {"user-1": "User-1", "user-2": "User-2"}
    assert by_cause["processor_id"].likely == {"cus_9xZ": "User-2"}
    assert by_cause["processor_id"].lost_transaction_ids == ["id-2"]
