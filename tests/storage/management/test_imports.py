"""Imports from other tools: each tool's columns, dry runs, repeats, and books that add up afterwards."""

from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import Connection, func, select

from storage.checks import books
from storage.engine.audit import OPERATOR
from storage.management import imports
from storage.rules import tool_exports
from storage.rules.tool_exports import FileKind, ImportTool
from storage.tables import clicks, commissions, customers, partners, payment_customers, sales
from storage.tracking import ledger
from tests.storage.databases import both_databases
from tests.world import NOW, World, stored

PARTNERS = "id,code,name,email,status,created_at\n1,nora,Nora Blogs,nora@blogs.example,active,2025-01-02\n"
CUSTOMERS = "customer_id,customer_email,partner_code,signup_at\nuser-7,jane@example.com,nora,2025-02-03T10:00:00Z\n"
COMMISSIONS = (
    "transaction_id,customer_id,partner_code,sale_amount,commission_amount,currency,status,sold_at,paid_at\n"
    "inv-1,user-7,nora,100.00,30.00,USD,paid,2025-02-04,2025-03-01\n"
    "inv-2,user-7,nora,100.00,30.00,USD,pending,2025-04-04,\n"
    "inv-3,user-7,nora,50.00,15.00,USD,rejected,2025-05-04,\n"
)
GENERIC = (PARTNERS, CUSTOMERS, COMMISSIONS)
EXPORTS: dict[ImportTool, tuple[str, ...]] = {
    ImportTool.GENERIC: GENERIC,
    ImportTool.REWARDFUL: (
        (
            "ID,First Name,Last Name,Email,State,Token,Created At\n"
            "af-1,Nora,Blogs,nora@blogs.example,active,nora,2025-01-02 09:30:00 UTC\n"
        ),
        (
            "Stripe Customer ID,Customer Email,Affiliate Email,Became Lead At\n"
            "cus_7,jane@example.com,Nora@Blogs.example,2025-02-03 10:00:00 UTC\n"
        ),
        (
            "ID,Amount,Currency,State,Sale ID,Sale Amount,Stripe Customer ID,Affiliate Email,Created At,Paid At\n"
            "co-1,30.00,USD,paid,inv-1,100.00,cus_7,nora@blogs.example,2025-02-04 00:00:00 UTC,2025-03-01\n"
            "co-2,30.00,USD,due,inv-2,100.00,cus_7,nora@blogs.example,2025-04-04 00:00:00 UTC,\n"
            "co-3,15.00,USD,voided,inv-3,50.00,cus_7,nora@blogs.example,2025-05-04 00:00:00 UTC,\n"
        ),
    ),
    ImportTool.FIRSTPROMOTER: (
        "id,email,first_name,last_name,ref_id,status,joined_at\n9,nora@blogs.example,Nora,Blogs,nora,active,2025-01-02\n",
        "uid,lead_email,promoter_id,created_at\nuser-7,jane@example.com,9,2025-02-03T10:00:00Z\n",
        (
            "id,amount,sale_amount,event_id,uid,promoter_email,status,created_at,paid_at\n"
            "1,30.00,100.00,inv-1,user-7,nora@blogs.example,paid,2025-02-04T00:00:00Z,2025-03-01T00:00:00Z\n"
            "2,30.00,100.00,inv-2,user-7,nora@blogs.example,pending,2025-04-04T00:00:00Z,\n"
            "3,15.00,50.00,inv-3,user-7,nora@blogs.example,denied,2025-05-04T00:00:00Z,\n"
        ),
    ),
    ImportTool.TAPFILIATE: (
        "id,firstname,lastname,email,referral_code,created_at\na1,Nora,Blogs,nora@blogs.example,nora,2025-01-02\n",
        "customer_id,affiliate_id,created_at\nuser-7,a1,2025-02-03T10:00:00+00:00\n",
        (
            "external_id,amount,created_at,affiliate_email,program,customer_id,commission_status,commission_amount,paid_at\n"
            "inv-1,100,2025-02-04T00:00:00+00:00,nora@blogs.example,main,user-7,approved,30,2025-03-01\n"
            "inv-2,100,2025-04-04T00:00:00+00:00,nora@blogs.example,main,user-7,,30,\n"
            "inv-3,50,2025-05-04T00:00:00+00:00,nora@blogs.example,main,user-7,disapproved,15,\n"
        ),
    ),
    ImportTool.DUB: (
        (
            "ID,Name,Email,Country,Status,Enrolled at,link_key\n"
            "pn_1,Nora Blogs,nora@blogs.example,US,approved,2025-01-02T00:00:00.000Z,nora\n"
        ),
        (
            "externalId,customerEmail,partnerEmail,createdAt\n"
            "user-7,jane@example.com,nora@blogs.example,2025-02-03T10:00:00.000Z\n"
        ),
        (
            "ID,Type,Amount,Earnings,Currency,Status,Invoice ID,Quantity,Created at,Paid at,Partner ID,Partner name,"
            "Partner email,Customer ID,Customer name,Customer email,Customer external ID\n"
            "cm_1,sale,$100.00,$30.00,usd,paid,inv-1,1,2025-02-04T00:00:00.000Z,2025-03-01T00:00:00.000Z,"
            "pn_1,Nora,nora@blogs.example,cus_of_dub,Jane,jane@example.com,user-7\n"
            "cm_2,sale,$100.00,$30.00,usd,processed,inv-2,1,2025-04-04T00:00:00.000Z,,"
            "pn_1,Nora,nora@blogs.example,cus_of_dub,Jane,jane@example.com,user-7\n"
            "cm_3,sale,$50.00,$15.00,usd,fraud,inv-3,1,2025-05-04T00:00:00.000Z,,"
            "pn_1,Nora,nora@blogs.example,cus_of_dub,Jane,jane@example.com,user-7\n"
        ),
    ),
}


async def imported(acme: World, files: Sequence[str], tool: ImportTool = ImportTool.GENERIC, **options: Any) -> Any:
    """Import files and return the report."""
    read = [(f"file-{number}.csv", tool_exports.read(tool, text.splitlines())) for number, text in enumerate(files)]
    about = {"dry_run": False, "actor": OPERATOR, "at": NOW, **options}
    return await acme.store.write(imports.run, acme.program_id, read, tool, **about)


def counts(connection: Connection) -> list[int]:
    tables = (partners, customers, commissions, clicks)
    return [connection.scalar(select(func.count()).select_from(table)) or 0 for table in tables]


@pytest.mark.parametrize("tool", EXPORTS)
async def test_each_tool_s_exports_become_partners_customers_and_commissions(tool: ImportTool, acme: World):
    report = await imported(acme, EXPORTS[tool], tool)

    assert report.problems == []
    assert report.added == {FileKind.PARTNERS: 1, FileKind.CUSTOMERS: 1, FileKind.COMMISSIONS: 3}
    sold, earned = sales.c, commissions.c
    joined = select(sold.transaction_id, sold.amount_cents, earned.amount_cents, earned.status, sold.at)
    rows = await acme.store.read(
        lambda connection: connection.execute(
            joined.where(sold.id == earned.sale_id).order_by(sold.transaction_id)
        ).all()
    )
    assert [(*row[:4], f"{row.at:%Y-%m-%d}") for row in rows] == [
        ("inv-1", 10_000, 3_000, "paid", "2025-02-04"),
        ("inv-2", 10_000, 3_000, "pending", "2025-04-04"),
        ("inv-3", 5_000, 1_500, "rejected", "2025-05-04"),
    ]
    paying = [("cus_7",)] if tool == ImportTool.REWARDFUL else []  # later payments of a customer of Stripe name them
    assert await stored(acme, payment_customers.c.processor_customer) == paying
    assert await acme.store.read(books.run) == []


async def test_partners_are_owed_what_was_not_paid_and_earn_by_the_program_s_own_terms_from_then_on(acme: World):
    await imported(acme, GENERIC)
    *_, (nora,) = await stored(acme, partners.c.id)

    balance = await acme.store.read(ledger.balance, acme.program_id, nora)
    sold = await acme.sale("inv-9", 10_000, customer_key="user-7")

    assert (balance.earned_cents, balance.paid_cents, balance.owed_cents) == (6_000, 3_000, 3_000)
    assert sold.commission_cents == 2_000


@both_databases
async def test_a_dry_run_reports_the_same_and_neither_it_nor_a_second_import_changes_anything(acme: World):
    whole = {FileKind.PARTNERS: 1, FileKind.CUSTOMERS: 1, FileKind.COMMISSIONS: 3}
    empty = await acme.store.read(counts)
    tried = await imported(acme, GENERIC, dry_run=True)
    assert (tried.added, await acme.store.read(counts)) == (whole, empty)
    await imported(acme, GENERIC)
    filled = await acme.store.read(counts)

    again = await imported(acme, GENERIC)

    assert (again.there, set(again.added.values()), again.problems) == (whole, {0}, [])
    assert await acme.store.read(counts) == filled
    assert await acme.store.read(books.run) == []


async def test_a_customer_without_an_id_is_named_by_a_hash_of_the_address(acme: World):
    sold = COMMISSIONS.replace("customer_id", "customer_email").replace("user-7", "jane@example.com")

    report = await imported(acme, (PARTNERS, "customer_email,partner_code\nJane@example.com,nora\n", sold))

    [(key,)] = await stored(acme, customers.c.customer_key)
    assert report.problems == []
    assert key.startswith("email-")
    assert "jane" not in key


async def test_a_partner_who_has_left_keeps_their_history_and_no_imported_click_or_lead_counts(acme: World):
    await imported(acme, (PARTNERS.replace("active", "disabled"), CUSTOMERS, COMMISSIONS))

    assert len(await stored(acme, commissions.c.id)) == 3
    assert ("inactive",) in await stored(acme, partners.c.status)
    assert await stored(acme, clicks.c.filtered) == [("import",)]


WRONG = [
    ("inv-4,user-7,zoe,10,1,USD,paid,2025-02-04,", "no partner 'zoe': import the partners' file too"),
    ("inv-4,user-7,nora,ten,1,USD,paid,2025-02-04,", "no amount that can be read: 'ten'"),
    ("inv-4,user-7,nora,10,1.005,USD,paid,2025-02-04,", "an amount with a fraction of a cent: '1.005'"),
    ("inv-4,user-7,nora,10,1,EUR,paid,2025-02-04,", "it is in EUR, and the program's currency is USD"),
    ("inv-4,user-7,nora,10,1,USD,lost,2025-02-04,", "a status that is not known: 'lost'"),
    ("inv-4,user-7,nora,10,1,USD,paid,yesterday,", "no time that can be read: 'yesterday'"),
    (",user-7,nora,10,1,USD,paid,2025-02-04,", "neither a transaction id nor an id of the commission"),
    *(
        (f"inv-4,user-7,nora,{amount},1,USD,paid,2025-02-04,", f"no amount that can be read: '{amount}'")
        for amount in ("Infinity", "-Infinity", "NaN", "sNaN", "1e800000000", "10000000000.01")
    ),
    *(
        (f"inv-4,user-7,nora,10,1,USD,paid,{time},", "a time in the future")
        for time in ("9999-12-31", "2026-05-22", "2025-02-04,9999-12-31T23:59:59+00:00")
    ),
    (
        "inv-4,user-7,nora,10,1,USD,paid,0001-01-01T00:00:00+10:00,",
        "no time that can be read: '0001-01-01T00:00:00+10:00'",
    ),
    ("inv-4,user-7,nora,10,1,USD,paid,1999-12-31,", "a time before 2000: '1999-12-31'"),
    (f"inv-4,user-7,nora,10,1,USD,paid,2025-02-04,{'x' * 131_073}", "no CSV, or a cell of more than 128 KiB"),
    (f"inv-4,{'u' * 256},nora,10,1,USD,paid,2025-02-04,", "customer_id has more than 255 characters"),
    ("inv-4,user\x007,nora,10,1,USD,paid,2025-02-04,", "a text with control characters in it: 'user\\x007'"),
    ("inv-4,,nora,10,1,USD,paid,2025-02-04,", "neither a customer id nor an e-mail address"),
]


WRONG_CODES = ["a b", "ann/", "ünal", "n" * 65, "x\x00", "a&b", ""]


@both_databases
async def test_a_code_that_the_api_would_not_take_is_not_imported(acme: World):
    lines = "".join(f"{number},{code},Zoe,,active,\n" for number, code in enumerate(WRONG_CODES))

    report = await imported(acme, (f"{PARTNERS}{lines}9,zoe~.-_,Zo\x00e,,active,\n",))

    assert [problem["line"] for problem in report.problems] == list(range(3, 11))
    assert all(problem["message"].startswith("a partner's code has 1 to 64") for problem in report.problems[:-1])
    assert report.added[FileKind.PARTNERS] == 1


@both_databases
async def test_a_line_that_cannot_be_imported_is_reported_and_the_others_are_imported(acme: World):
    lines = "".join(f"{line}\n" for line, _ in WRONG)

    report = await imported(acme, (PARTNERS, CUSTOMERS, f"{COMMISSIONS}{lines}"))

    assert report.problems == [
        {"file": "file-2.csv", "line": number, "message": message} for number, (_, message) in enumerate(WRONG, start=5)
    ]
    assert report.added[FileKind.COMMISSIONS] == 3
    assert await acme.store.read(books.run) == []


def test_a_file_s_columns_say_what_it_lists_and_those_that_are_not_read_are_named():
    documented = "stripe_customer_id,first_name,last_name,email,paypal_email,token"  # names the affiliate by e-mail

    of_customers = tool_exports.read(ImportTool.REWARDFUL, [documented, "cus_7,Nora,Blogs,nora@blogs.example,,nora"])
    of_partners = tool_exports.read(ImportTool.REWARDFUL, ["\ufeffToken,Email,PayPal Email", "nora,n@b.example,x"])

    assert of_customers.kind == FileKind.CUSTOMERS
    assert of_customers.rows == [
        (2, {"customer_id": "cus_7", "partner_code": "nora", "partner_email": "nora@blogs.example"})
    ]
    assert (of_partners.kind, of_partners.unread) == (FileKind.PARTNERS, ["paypal_email"])
    with pytest.raises(ValueError, match="names no column"):
        tool_exports.read(ImportTool.GENERIC, ["colour,size", "red,1"])
