"""Imports from other tools: each tool's columns, dry runs, repeats, and books that add up afterwards."""

import json
from datetime import UTC, date, datetime

import pytest
from sqlalchemy import select, text

from storage.reports import comparison
from storage.reports.performance import ReportScope
from storage.rules.errors import ValidationError
from storage.rules.periods.period import Window
from storage.rules.tool_exports import FileKind, ImportTool
from storage.tables import audit_entries, clicks, commissions, customers, partners, payment_customers, sales
from tests import world
from tests.storage.management.importing import COMMISSIONS, EXPORTS, FOLDER, GENERIC, PARTNERS, counts, imported
from tests.world import NOW, World, stored


@pytest.mark.parametrize("tool", EXPORTS)
async def test_each_tool_s_exports_become_partners_customers_and_commissions(tool: ImportTool, acme: World):
    report = await imported(acme, EXPORTS[tool], tool)

    assert report.problems == []
    assert report.added == {FileKind.PARTNERS: 1, FileKind.CUSTOMERS: 1, FileKind.COMMISSIONS: 3}
    sold, earned = sales.c, commissions.c
    joined = select(sold.transaction_id, sold.amount_cents, earned.amount_cents, earned.status, sold.at)
    ordered = joined.where(sold.id == earned.sale_id).order_by(sold.transaction_id)
    rows = await acme.store.read(lambda connection: connection.execute(ordered).all())
    assert [(*row[:4], f"{row.at:%Y-%m-%d}") for row in rows] == [
        ("inv-1", 10_000, 3_000, "paid", "2025-02-04"),
        ("inv-2", 10_000, 3_000, "pending", "2025-04-04"),
        ("inv-3", 5_000, 1_500, "rejected", "2025-05-04"),
    ]
    paying = [("cus_7",)] if tool == ImportTool.REWARDFUL else []  # later payments of a customer of Stripe name them
    assert await stored(acme, payment_customers.c.processor_customer) == paying


async def test_partners_are_owed_what_was_not_paid_and_earn_by_the_program_s_own_terms_from_then_on(acme: World):
    await imported(acme, GENERIC)
    *_, (nora,) = await stored(acme, partners.c.id)

    account = await acme.store.read(world.account, acme.program_id, nora)
    sold = await acme.sale("inv-9", 10_000, customer_key="user-7")

    window = Window(date(2025, 2, 1), date(2025, 2, 28))
    figures, _ = await acme.store.read(comparison.read_figures, ReportScope(acme.program_id, window, NOW))
    assert (figures["conversions"], figures["imported_conversions"]) == (1, 1)
    assert account == {"commission": 7_500, "rejection": -1_500, "payout": -3_000}
    assert sold.commission_cents == 2_000


@pytest.mark.both_databases
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


async def test_a_customer_without_an_id_is_named_by_a_hash_of_the_address(acme: World):
    sold = COMMISSIONS.replace("customer_id", "customer_email").replace("user-7", "jane@example.com")

    report = await imported(acme, (PARTNERS, "customer_email,partner_code\nJane@example.com,nora\n", sold))

    [(key,)] = await stored(acme, customers.c.customer_key)
    assert report.problems == []
    assert key.startswith("email-")
    assert "jane" not in key


@pytest.mark.both_databases
async def test_commissions_on_leads_and_clicks_are_imported_without_a_sale_and_once(acme: World):
    commissions_of_dub = (FOLDER / "dub/leads_and_clicks.csv").read_text(encoding="utf-8")
    files = (*EXPORTS[ImportTool.DUB][:2], commissions_of_dub)

    done = await imported(acme, files, ImportTool.DUB)
    again = await imported(acme, files, ImportTool.DUB)

    of_nora = {"partner": "nora-blogs", "commissions": 1, "cents": 500, "status": "paid"}
    assert done.totals == [of_nora, of_nora | {"status": "pending", "commissions": 3, "cents": 1_390}]
    assert (again.there[FileKind.COMMISSIONS], again.totals, again.problems, done.problems) == (4, [], [], [])
    assert await stored(acme, sales.c.amount_cents) == [(4_900,)]
    assert await stored(acme, customers.c.customer_key) == [("user-7",), (None,), (None,)]


async def test_rewardfuls_template_is_partners_and_customers_in_one_file(acme: World):
    template = (FOLDER / "rewardful/template.csv").read_text(encoding="utf-8")

    report = await imported(acme, (template,), ImportTool.REWARDFUL)

    assert report.problems == []
    assert report.added == {FileKind.PARTNERS: 2, FileKind.CUSTOMERS: 3, FileKind.COMMISSIONS: 0}
    assert [each["code"] for each in report.first[FileKind.PARTNERS]] == ["nora", "liz-lee"]
    assert len(await stored(acme, payment_customers.c.click_id)) == 3


async def test_an_import_whose_totals_differ_from_the_files_stores_nothing(acme: World):
    rounds = "CREATE TRIGGER rounds AFTER INSERT ON commissions BEGIN UPDATE commissions SET amount_cents = 1; END"
    await acme.store.write(lambda connection: connection.execute(text(rounds)) and None)
    before = await acme.store.read(counts)

    with pytest.raises(ValidationError, match="does not add up to what the files say"):
        await imported(acme, GENERIC)

    assert await acme.store.read(counts) == before


async def test_a_partner_who_has_left_has_their_history_and_time_of_joining_and_the_audit_log_that_of_the_import(
    acme: World,
):
    await imported(acme, (PARTNERS.replace("active", "disabled"), *GENERIC[1:]))

    actions = dict(await stored(acme, audit_entries.c.action, audit_entries.c.at))
    assert (actions["partner.enrol"], actions["program.import"]) == (NOW, NOW)
    assert (datetime(2025, 1, 2, tzinfo=UTC),) in await stored(acme, partners.c.created_at)
    [(after,)] = [row for row in await stored(acme, audit_entries.c.after) if row[0] and "totals" in row[0]]
    report = json.loads(after)
    assert (report["commissions"], report["problems"]) == (3, [])
    assert sum(each["cents"] for each in report["totals"]) == 7_500
    assert len(await stored(acme, commissions.c.id)) == 3
    assert ("inactive",) in await stored(acme, partners.c.status)
    assert await stored(acme, clicks.c.filtered) == [("import",)]
