"""Set-based means set-based: a batch runs the same statements, whatever its size, currencies and rejections."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, event

from storage.rules import keys
from storage.tracking import clicks, currencies, leads, sales
from storage.tracking.clicks import Click
from storage.tracking.lead_decisions import Lead
from storage.tracking.principals import Call, staged
from storage.tracking.rejection_log import CallDetails
from storage.tracking.sale_decisions import Sale, SaleResult
from tests.storage.payments.paying import connect
from tests.world import LANDING_PAGE, NOW, World

SIZES = (1, 32, 256)
CURRENCIES = ("USD", "EUR", "GBP", "JPY")


@contextmanager
def counted(connection: Connection) -> Iterator[list[str]]:
    """Collect the statements that run; the rows that one INSERT of the driver's loop takes are one statement."""
    statements: list[str] = []

    def collect(statement: str) -> None:
        head = statement.partition(" VALUES ")[0]
        if not statements or head == statement or statements[-1] != head:
            statements.append(head)

    if connection.dialect.name == "sqlite":
        driver = connection.connection.driver_connection
        assert driver is not None
        driver.set_trace_callback(collect)
        yield statements
        driver.set_trace_callback(None)
    else:

        @event.listens_for(connection, "before_cursor_execute")
        def _(*arguments: Any) -> None:
            collect(arguments[2])

        yield statements


def call(acme: World, item: Any) -> Call:
    return Call(acme.principal, item, CallDetails("sale", "request-1", NOW, customer_key="user-1"))


async def statements(acme: World, operation: Any, batch: list[Any]) -> tuple[int, list[Any]]:
    """Run a batch as the writer does; return how many statements it took, and the results."""

    def run(connection: Connection) -> tuple[int, list[Any]]:
        with counted(connection) as seen:
            results = operation(connection, batch)
        return len(seen), results

    return await acme.store.write(run)


async def customers(acme: World, count: int) -> list[str]:
    """Make settled customers; return their keys."""
    ids = [keys.click_id(acme.program_id, NOW) for _ in range(count)]
    visits = [Click(acme.program_id, "anna", LANDING_PAGE, NOW, each) for each in ids]
    made = (await statements(acme, clicks.record, visits))[1]
    signups = [call(acme, Lead(visit.click_id, f"user-{n}", NOW)) for n, visit in enumerate(made)]
    await statements(acme, staged(leads.record), signups)
    return [f"user-{n}" for n in range(count)]


async def test_a_batch_of_sales_needs_at_most_twelve_statements_however_mixed_it_is(acme: World):
    days = [NOW.date() - timedelta(days=n) for n in range(4)]
    rates = zip(CURRENCIES, ("1.1", "1", "0.8", "160"), strict=True)
    await acme.store.write(currencies.load, [(day, *rate) for rate in rates for day in days])
    await connect(acme)
    keys = await customers(acme, max(SIZES))
    await statements(acme, staged(sales.record), [call(acme, Sale(f"first-{key}", 1, NOW, key)) for key in keys])
    taken: dict[int, int] = {}
    for size in SIZES:
        mixed = [
            Sale(
                f"{size}-{n % (size - size // 8)}",  # an eighth repeats a transaction_id
                1_000 + n,
                NOW,
                customer_key="stranger" if size > 1 and n % 9 == 0 else keys[n % len(keys)],
                currency=CURRENCIES[(n + 1) % len(CURRENCIES)],
                occurred_at=NOW - timedelta(days=n % 4),
            )
            for n in range(size)
        ]
        taken[size], results = await statements(acme, staged(sales.record), [call(acme, sale) for sale in mixed])
        assert any(isinstance(outcome.result, SaleResult) for outcome in results)

    assert taken[32] == taken[256] <= 12
    assert taken[1] <= taken[32]
