"""Imports that contradict themselves or what is there, and imports that are undone."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, select

from storage.checks import books
from storage.engine.audit import OPERATOR
from storage.management import imports
from storage.management import partners as partner_changes
from storage.management.import_report import OnConflict
from storage.rules.errors import NotFound, ValidationError
from storage.tables import (
    clicks,
    commissions,
    customers,
    leads,
    ledger_entries,
    partners,
    payment_customers,
    rollups,
    sales,
)
from tests.storage.databases import both_databases
from tests.storage.management.importing import COMMISSIONS, CUSTOMERS, GENERIC, PARTNERS, counts, imported
from tests.world import NOW, World, stored

TWO_OF_ONE_ADDRESS = f"{PARTNERS}2,nora2,Nora Two,nora@blogs.example,active,\n"
BY_ADDRESS = COMMISSIONS.replace("partner_code", "partner_email").replace("nora", "nora@blogs.example")
CONFLICTS = {
    "a code that someone else has": ((PARTNERS, COMMISSIONS), "the code 'nora' belongs to 'Zoe'", 4, "nora"),
    "a code of another address, without the partners' file": (
        (COMMISSIONS.replace("currency", "currency,partner_email").replace("USD", "USD,nora@blogs.example"),),
        *("the code 'nora' belongs to 'Zoe' zoe@zoe.example", 3, "nora"),
    ),
    "a customer who came through another partner": (
        (PARTNERS.replace("nora", "liz"), COMMISSIONS.replace("nora", "liz")),
        *("the customer 'user-7' came through another partner", 3, "liz"),
    ),
    "one address of two partners": (
        (TWO_OF_ONE_ADDRESS.replace("nora,", "liz,").replace("nora2", "liz2"), BY_ADDRESS),
        *("it names several partners: liz, liz2", 3, "liz"),
    ),
}


@pytest.mark.parametrize(("files", "message", "lines", "credited"), CONFLICTS.values(), ids=CONFLICTS)
async def test_a_conflict_stops_an_import_until_it_is_decided(
    files: Sequence[str], message: str, lines: int, credited: str, acme: World
):
    zoe: dict[str, Any] = {"name": "Zoe", "code": "nora", "email": "zoe@zoe.example", "at": NOW}
    await acme.store.write(partner_changes.enrol, acme.program_id, **zoe)
    await acme.customer("user-7")
    before = await acme.store.read(counts)

    stopped = await imported(acme, files)
    nothing = await acme.store.read(counts)
    skipped = await imported(acme, files, on_conflict=OnConflict.SKIP)
    left_out = await stored(acme, commissions.c.id)
    await imported(acme, files, on_conflict=OnConflict.ACCEPT)

    assert ({each["message"][: len(message)] for each in stopped.conflicts}, len(stopped.conflicts)) == (
        {message},
        lines,
    )
    assert (nothing, stopped.import_id, left_out) == (before, None, [])
    assert skipped.conflicts == stopped.conflicts
    owner = dict(await stored(acme, partners.c.id, partners.c.code))
    assert [owner[each] for (each,) in await stored(acme, commissions.c.partner_id)] == [credited] * 3
    assert ("user-7", acme.anna) in await stored(acme, customers.c.customer_key, customers.c.partner_id)
    assert await acme.store.read(books.run) == []


async def undo(acme: World, import_id: int, at: datetime = NOW) -> None:
    await acme.store.write(imports.undo, acme.program_id, import_id, actor=OPERATOR, at=at)


def everything(connection: Connection) -> dict[str, list[Any]]:
    """Return all that an import may change, but not daily totals of 0."""
    tables = (partners, customers, leads, sales, commissions, ledger_entries, clicks, payment_customers, rollups)
    rows = {each.name: sorted(tuple(row) for row in connection.execute(select(each))) for each in tables}
    return rows | {"rollups": [row[:-1] for row in rows["rollups"] if any(row[2:-1])]}


@both_databases
async def test_an_import_can_be_undone_for_an_hour_and_done_again(acme: World):
    await acme.customer("user-8")
    files = (
        PARTNERS.replace("active", "inactive"),
        CUSTOMERS,
        f"{COMMISSIONS}inv-4,user-8,anna,9.00,1.00,USD,,2025-05-04,\n",
    )
    before = await acme.store.read(everything)

    report = await imported(acme, files)
    with pytest.raises(NotFound):
        await undo(acme, report.import_id, NOW + timedelta(minutes=61))
    await undo(acme, report.import_id)

    restored = await acme.store.read(everything)
    assert [row[:12] for row in restored["customers"]] == [row[:12] for row in before["customers"]]
    assert restored | {"customers": []} == before | {"customers": []}
    assert await acme.store.read(books.run) == []
    again = await imported(acme, files)
    assert (again.added, again.totals) == (report.added, report.totals)


async def test_an_import_on_which_something_was_built_cannot_be_undone(acme: World):
    report = await imported(acme, GENERIC)
    await acme.sale("inv-9", 10_000, customer_key="user-7")

    with pytest.raises(ValidationError, match="have changed since"):
        await undo(acme, report.import_id)
