"""What lines of an import say, what contradicts itself or what is there, and imports that are undone."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Connection, select

from storage import tables
from storage.management import imports
from storage.management import partners as partner_changes
from storage.management.import_report import OnConflict
from storage.rules import tool_exports
from storage.rules.errors import NotFound, ValidationError
from storage.rules.tool_exports import AmountUnit, FileKind, ImportTool
from tests.storage.management.importing import COMMISSIONS, CUSTOMERS, FOLDER, GENERIC, PARTNERS, counts, imported
from tests.world import NOW, World, stored

SOLD = {"dub": "amount,earnings", "tapfiliate": "amount,commission_amount"}
ASKED = "which unit?"
UNITS = [
    (ImportTool(tool), unit and AmountUnit(unit), *rest)
    for tool, unit, *rest in (line.split("\t") for line in (FOLDER / "units.tsv").read_text("utf-8").splitlines())
]


@pytest.mark.parametrize(("tool", "unit", "amounts", "expected"), UNITS)
async def test_amounts_are_read_in_their_unit_or_it_is_asked_for(
    tool: ImportTool, unit: AmountUnit, amounts: str, expected: str, acme: World
):
    header = f"id,stripe_customer_id,partner_code,{SOLD.get(tool, 'sale_amount,amount')},unit,currency,created_at"
    line = f"{header}\nco-1,cus_7,nora,{amounts},cash,usd,2025-02-04\n"

    report = await imported(acme, (PARTNERS, line), tool, amounts=unit or None, on_conflict=OnConflict.ACCEPT)

    said = [each["message"] for each in (*report.conflicts, *report.problems)]
    if expected.isdigit():
        assert (await stored(acme, tables.commissions.c.amount_cents), said) == ([(int(expected),)], [])
        assert report.totals == [{"partner": "nora", "status": "pending", "commissions": 1, "cents": int(expected)}]
    else:
        text = imports.ASK_UNIT if expected == ASKED else expected
        assert (await stored(acme, tables.commissions.c.id), len(said), said[0][: len(text)]) == ([], 1, text)
    assert (report.import_id is None) == (expected == ASKED)


WRONG = [  # lines of commissions, each with what is said of it
    *(line.split("\t") for line in (FOLDER / "wrong.tsv").read_text(encoding="utf-8").splitlines()),
    (f"inv-4,user-7,nora,10,1,USD,paid,2025-02-04,{'x' * 131_073}", "no CSV, or a cell of more than 128 KiB"),
    (f"inv-4,{'u' * 256},nora,10,1,USD,paid,2025-02-04,", "customer_id has more than 255 characters"),
    ("inv-4,user\x007,nora,10,1,USD,paid,2025-02-04,", "a text with control characters in it: 'user\\x007'"),
]
WRONG_CODES = ["a b", "ann/", "ünal", "n" * 65, "x\x00", "a&b", ""]


@pytest.mark.both_databases
async def test_a_line_or_code_that_cannot_be_imported_is_reported_and_the_others_are_imported(acme: World):
    codes = "".join(f"{number},{code},Zoe,,active,\n" for number, code in enumerate(WRONG_CODES))
    of_codes = await imported(acme, (f"{PARTNERS}{codes}9,zoe~.-_,Zo\x00e,,active,\n",))
    lines = "".join(f"{line}\n" for line, _ in WRONG)

    report = await imported(acme, (PARTNERS, CUSTOMERS, f"{COMMISSIONS}{lines}"))

    assert [problem["line"] for problem in of_codes.problems] == list(range(3, 11))
    assert all(problem["message"].startswith("a partner's code has 1 to 64") for problem in of_codes.problems[:-1])
    said = [(problem["file"], problem["line"], problem["message"]) for problem in report.problems]
    assert said == [("file-2.csv", number, message) for number, (_, message) in enumerate(WRONG, start=5)]
    assert (of_codes.added[FileKind.PARTNERS], report.added[FileKind.COMMISSIONS]) == (1, 3)


def test_a_file_s_columns_say_what_it_lists_and_those_that_are_not_read_are_named():
    documented = "stripe_customer_id,first_name,last_name,email,paypal_email,token"  # names the affiliate by e-mail

    read = partial(tool_exports.read, "f.csv", tool=ImportTool.REWARDFUL)
    of_customers = read([documented, "cus_7,Nora,Blogs,nora@blogs.example,,nora"])
    of_partners = read(["\ufeffToken,Email,PayPal Email", "nora,n@b.example,x"])

    assert of_customers.kind == FileKind.CUSTOMERS
    named = {"first_name": "Nora", "last_name": "Blogs", "partner_code": "nora", "partner_email": "nora@blogs.example"}
    assert of_customers.rows == [(2, {"customer_id": "cus_7", **named})]
    assert (of_partners.kind, of_partners.unread) == (FileKind.PARTNERS, ["paypal_email"])
    with pytest.raises(ValueError, match="names no column"):
        tool_exports.read("f.csv", ["colour,size", "red,1"], ImportTool.GENERIC)


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
async def test_a_conflict_needs_a_decision(files: Sequence[str], message: str, lines: int, credited: str, acme: World):
    await acme.do(partner_changes.enrol, name="Zoe", code="nora", email="zoe@zoe.example")
    await acme.customer("user-7")
    before = await acme.store.read(counts)

    stopped = await imported(acme, files)
    nothing = await acme.store.read(counts)
    skipped = await imported(acme, files, on_conflict=OnConflict.SKIP)
    left_out = await stored(acme, tables.commissions.c.id)
    await imported(acme, files, on_conflict=OnConflict.ACCEPT)

    assert [each["message"][: len(message)] for each in stopped.conflicts] == [message] * lines
    assert (nothing, stopped.import_id, left_out) == (before, None, [])
    assert skipped.conflicts == stopped.conflicts
    owner = dict(await stored(acme, tables.partners.c.id, tables.partners.c.code))
    assert [owner[each] for (each,) in await stored(acme, tables.commissions.c.partner_id)] == [credited] * 3
    assert ("user-7", acme.anna) in await stored(acme, tables.customers.c.customer_key, tables.customers.c.partner_id)


def everything(connection: Connection) -> dict[str, list[Any]]:
    """Return all that an import may change, but not daily totals of 0."""
    money = (tables.sales, tables.commissions, tables.ledger_entries, tables.payment_customers, tables.rollups)
    every = (tables.partners, tables.customers, tables.leads, tables.clicks, *money)
    rows = {each.name: sorted(tuple(row) for row in connection.execute(select(each))) for each in every}
    return rows | {"rollups": [row[:-1] for row in rows["rollups"] if any(row[2:-1])]}


@pytest.mark.both_databases
async def test_an_import_can_be_undone_for_an_hour_and_done_again(acme: World):
    await acme.customer("user-8")
    more = f"{COMMISSIONS}inv-4,user-8,anna,9.00,1.00,USD,,2025-05-04,\n"
    files = (PARTNERS.replace("active", "inactive"), CUSTOMERS, more)
    before = await acme.store.read(everything)

    report = await imported(acme, files)
    with pytest.raises(NotFound):
        await acme.do(imports.undo, report.import_id, at=NOW + timedelta(minutes=61))
    await acme.do(imports.undo, report.import_id)

    restored = await acme.store.read(everything)
    assert [row[:12] for row in restored["customers"]] == [row[:12] for row in before["customers"]]
    assert restored | {"customers": []} == before | {"customers": []}
    again = await imported(acme, files)
    assert (again.added, again.totals) == (report.added, report.totals)


async def test_an_import_on_which_something_was_built_cannot_be_undone(acme: World):
    report = await imported(acme, GENERIC)
    await acme.sale("inv-9", 10_000, customer_key="user-7")

    with pytest.raises(ValidationError, match="have changed since"):
        await acme.do(imports.undo, report.import_id)
