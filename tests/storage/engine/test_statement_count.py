"""Statements: in files that a person can run, and as many for a batch whatever its size, currencies and rejections."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from sqlalchemy import Connection, event, insert
from sqlalchemy.engine import make_url

from storage.engine.audit import AGENT_KEY, OPERATOR, Actor, By
from storage.engine.statements import FOLDER, Statement, named_statement
from storage.management import agent_caps, commission_decisions, coupons
from storage.rules import keys
from storage.rules.commission import CommissionStatus
from storage.rules.errors import ServiceError
from storage.tables import payment_references
from storage.tracking import clicks, currencies, leads, refunds, sales
from storage.tracking.clicks import Click
from storage.tracking.leads import Lead
from storage.tracking.received_calls import Call, Repeatable, staged
from storage.tracking.refunds import Refund
from storage.tracking.sale_decisions import Sale
from tests import postgres
from tests.storage.payments.paying import connect
from tests.world import LANDING_PAGE, NOW, World

SIZES = (1, 32, 256)
KEYED = 3  # the first responses, the new ones, and those of calls that another process performed meanwhile
requests = count(1)
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


def call(acme: World, item: Any, key: str | None = None) -> Call:
    repeatable = Repeatable(key, f"hash of {item}", str) if key else None
    return Call(acme.principal, item, "sale", f"request-{next(requests)}", NOW, repeatable=repeatable)


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


def sale(size: int, n: int, keys: list[str]) -> Sale:
    """Return one of a batch of sales, of which an eighth repeat a transaction_id and a ninth name a stranger."""
    return Sale(
        f"{size}-{n % (size - size // 8)}",
        1_000 + n,
        NOW,
        customer_key="stranger" if size > 1 and n % 9 == 0 else keys[n % len(keys)],
        currency=CURRENCIES[(n + 1) % len(CURRENCIES)],
        occurred_at=NOW - timedelta(days=n % 4),
    )


def lead(size: int, n: int, keys: list[str]) -> Lead:
    """Return one of a batch of leads, of which some come again and a ninth name nobody."""
    known = Lead(None, keys[n % len(keys)] if n % 9 else "stranger", NOW)
    return known if n % 3 == 0 and size > 1 else Lead(keys[-size - n], f"{size}-{n}", NOW)


def refund(size: int, n: int, keys: list[str]) -> Refund:
    """Return one of a batch of refunds of many days, some of one sale or of none, some full or too much."""
    del keys
    of = f"first-user-{n % (size - size // 8)}" if n % 9 != 8 else "unknown"
    return Refund(of, NOW, [None, 10, 20, 10**9][n % 4], refund_id=f"{size}-{n}")


def possible_duplicate(size: int, n: int, keys: list[str]) -> Sale:
    """Return a sale beside one that stands for a payment of the account."""
    return Sale(f"{size}-{n}", 100, NOW, keys[n], occurred_at=NOW - timedelta(days=n % 20))


def pair(size: int, n: int, keys: list[str]) -> Sale:
    """Return a sale that names a new click, and a key that no customer has; some name them twice, or one of them."""
    named = n - 1 if n % 8 == 7 else n
    return Sale(f"pair-{size}-{n}", 1_000 + n, NOW, f"pair-{size}-{named}", keys[-1 - named if n % 5 else -1 - n])


def coupon(size: int, n: int, keys: list[str]) -> Sale:
    """Return a sale with a coupon, by a customer of another partner, or by a new one, whom some name twice."""
    buyer = keys[n % len(keys)] if n % 5 == 0 else f"coupon-{size}-{n - 1 if n % 8 == 7 else n}"
    return Sale(f"coupon-{size}-{n}", 1_000 + n, NOW, buyer, coupon_code="SPRING20" if n % 9 else "unknown")


CALLS = {
    "coupons": (sales.record, coupon, 15),
    "sales": (sales.record, sale, 12),
    "pairs": (sales.record, pair, 12),
    "leads": (leads.record, lead, 15),
    "refunds": (refunds.record, refund, 11),
    "possible duplicates": (sales.record, possible_duplicate, 12),
    "rejected": (sales.record, lambda *which: sale(*which)._replace(customer_key="stranger"), 6),
}


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize("keyed", ["plain", "keyed", "mixed"])
async def test_a_batch_takes_as_many_statements_whatever_its_size_and_however_mixed(acme: World, kind: str, keyed: str):
    operation, item, most = CALLS[kind]
    days = [NOW.date() - timedelta(days=n) for n in range(4)]
    rates = zip(CURRENCIES, ("1.1", "1", "0.8", "160"), strict=True)
    await acme.store.write(currencies.load, [(day, *rate) for rate in rates for day in days])
    await connect(acme)
    await acme.do(coupons.create, partner_id=acme.ben, code="SPRING20")
    await acme.change(coupon_wins="coupon")
    keys = await customers(acme, max(SIZES))
    if kind in {"leads", "pairs"}:
        keys += [await acme.visitor() for _ in range(2 * max(SIZES))]
    if kind == "leads":  # some take their key from a browser's claim
        await acme.change(lead_auth_policy="browser_allowed", lead_commission_cents=500)
        claimed = [f"{size}-{n}" for size in SIZES for n in range(1, size, 9)]
        claims = [Lead(await acme.visitor(), key, NOW, is_trusted=False) for key in claimed]
        await statements(acme, staged(leads.record), [call(acme, each) for each in claims])
    first = [
        Sale(f"first-{key}", 100, NOW, key, occurred_at=NOW - timedelta(days=n % 20)) for n, key in enumerate(keys)
    ]
    await statements(acme, staged(sales.record), [call(acme, each) for each in first])
    if kind == "possible duplicates":
        paid = [{"program_id": acme.program_id, "reference": each[0], "transaction_id": each[0]} for each in first]
        await acme.store.write(lambda connection: connection.execute(insert(payment_references), paid).rowcount)
    taken: dict[int, int] = {}
    for size in SIZES:
        items = [item(size, n, keys) for n in range(size)]
        names = [f"{size}-{n % (size - size // 4)}" for n in range(size)]  # a quarter repeats a key
        with_key = {"plain": [], "keyed": range(size), "mixed": range(0, size, 2)}[keyed]
        batch = [call(acme, each, names[n] if n in with_key else None) for n, each in enumerate(items)]
        taken[size], results = await statements(acme, staged(operation), batch)
        assert kind == "rejected" or any(not isinstance(outcome.result, ServiceError) for outcome in results)

    assert taken[32] == taken[256] <= most + (0 if keyed == "plain" else KEYED)
    assert taken[1] <= taken[32]


DECISIONS = {"approved": 25, "undone": 5, "paid": 45, "rejected": 10}


@pytest.mark.parametrize("actor", [OPERATOR, Actor(AGENT_KEY, "7", "Nightly")])
async def test_a_decision_on_many_takes_as_many_statements_as_one_on_some(acme: World, actor: Actor):
    keys = await customers(acme, max(SIZES))
    by = By(actor, NOW + timedelta(days=30))
    caps = {"amount_in_a_day_cents": 10**9, "commissions_in_a_day": 10**6}
    await acme.do(agent_caps.change, caps)
    taken: dict[int, dict[str, int]] = {size: {} for size in SIZES}

    def undo(connection: Connection, _: list[int]) -> Any:
        millis = commission_decisions.millis_of(NOW + timedelta(days=30))
        return commission_decisions.undo_approvals(connection, acme.program_id, millis=millis, by=by)

    async def decide(status: str, ids: list[int]) -> None:
        def run(connection: Connection, ids: list[int]) -> list[Any]:
            chosen = (acme.program_id, ids, CommissionStatus(status))
            return list(commission_decisions.decide_each(connection, *chosen, by=by).values())

        taken[size][status], decided = await statements(acme, run, ids)
        assert not any(isinstance(each, ServiceError) for each in decided)

    for size in SIZES:
        sold = [Sale(f"{size}-{n}", 1_000 + n, NOW, keys[n % len(keys)]) for n in range(2 * size)]
        results = (await statements(acme, staged(sales.record), [call(acme, each) for each in sold]))[1]
        for each in sold[::7]:
            await acme.refund(each.transaction_id, 10)
        ids = [each.result.commission_id for each in results]
        await decide("approved", ids[:size])
        taken[size]["undone"], _ = await statements(acme, undo, [])
        await decide("approved", ids[:size])
        await decide("paid", ids[:size])
        await decide("rejected", ids[size:])

    assert taken[32] == taken[256]
    assert [name for name, number in taken[256].items() if number > DECISIONS[name]] == []


NAMES = sorted(path.stem for path in FOLDER.glob("*.sql"))


@pytest.mark.not_on_citus("a cluster runs each statement for one program at a time")
async def test_each_file_is_postgresql_as_it_stands(postgres_url: str):
    dialect = make_url(postgres_url).get_dialect()()
    async with postgres.connected(postgres_url) as connection:
        for name in NAMES:
            sql = str(named_statement(name).compile(dialect=dialect))
            assert await connection.prepare(re.sub(r"__\[POSTCOMPILE_\w+\]", "NULL", sql)), name

    assert len(NAMES) > 15


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(("_insert", "_add", "_save"))])
def test_an_insert_names_its_columns_in_the_order_of_its_rows(name: str):
    statement = Statement(name)

    named = re.search(r"INSERT INTO \w+ \(([^)]*)\)", statement.text)

    assert named is not None
    assert [each.strip() for each in named[1].split(",")] == list(statement.columns)
