"""`svc reconcile`: compares Stripe's exports with the recorded sales and fixes differences with calls."""

import csv
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from babel.core import get_global
from babel.numbers import format_currency, get_currency_precision

from cli.integrator.reconcile import DIGITS, money, read_export
from storage.rules import contact
from storage.tracking import currencies
from tests.cli.integrator.conftest import Shop
from tests.world import NOW


def template(name: str) -> dict[str, str]:
    """Return the payment of 100.00 by user-1 at NOW as an export has it."""
    with Path(__file__).with_name(f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return next(csv.DictReader(file))


def row(number: int, **changed: str) -> dict[str, str]:
    """Return a payment of 100.00 by user-`number`, as the export of payments writes it."""
    ids = {"id": f"ch_{number}", "PaymentIntent ID": f"pi_{number}", "svc_customer_key (metadata)": f"user-{number}"}
    return template("payment") | ids | changed


class Book:
    """The export that a shop holds against its sales."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.path = shop.project / "payments.csv"

    def write(self, *rows: dict[str, str]) -> None:
        columns = {name: None for each in rows for name in each}
        with self.path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows(rows)

    async def reconcile(self, *options: str) -> tuple[int, dict[str, Any]]:
        """Return how the command ended and what it found."""
        done = await self.shop.svc("reconcile", self.path, *options, "--json", SERVICE_API_KEY=self.shop.acme.key)
        return done.code, done.json

    async def codes(self, *options: str) -> list[tuple[str, str]]:
        """Return what is wrong about which transaction."""
        _, found = await self.reconcile(*options)
        return [(each["code"], each["transaction_id"]) for each in found["findings"]]


@pytest.fixture
async def book(shop: Shop) -> Book:
    """A shop whose member is logged in, with eight customers."""
    for number in range(1, 9):
        await shop.acme.customer(f"user-{number}", at=NOW - timedelta(days=1))
    await shop.sign_in()
    return Book(shop)


async def test_each_kind_of_difference_is_found_and_fixed(book: Book):
    acme = book.shop.acme
    await acme.store.write(currencies.load, [(NOW.date(), "USD", "1.25")])
    await acme.sale("old-2", customer_key="user-2", at=NOW - timedelta(hours=20))
    await acme.sale("pi_3", customer_key="user-3")
    await acme.sale("order-3", customer_key="user-3")
    await acme.sale("pi_4", 9_000, customer_key="user-4")
    await acme.sale("pi_5", 12_000, customer_key="user-5")
    await acme.sale("pi_6", currency="EUR", customer_key="user-6")
    await acme.sale("in_7", customer_key="user-7")
    await acme.sale("order-8", customer_key="user-8")
    refunded, stranger = {"Invoice ID": "in_7", "Amount Refunded": "40.00"}, {"svc_customer_key (metadata)": "stranger"}
    failed = row(9, Status="Failed")
    book.write(*map(row, range(1, 7)), row(7, **refunded), row(8), row(9, **stranger), failed)

    found = await book.codes()
    fixed = await book.reconcile("--fix")
    again = await book.reconcile("--fix")
    checked = await book.shop.svc("admin", "db", "check", SVC_DATABASE_URL=book.shop.server.database_url)

    assert found == [
        ("missing", "pi_1"),
        ("renewal_not_reported", "pi_2"),
        ("doubled", "order-3"),
        ("amount_mismatch", "pi_4"),
        ("amount_mismatch", "pi_5"),
        ("currency_mismatch", "pi_6"),
        ("refund_missing", "in_7"),
    ]
    assert (fixed[0], fixed[1]["fixed"]) == (0, 7)
    assert (fixed[1]["payments"], fixed[1]["unattributed"]) == (9, 1)
    assert (again[0], again[1]["findings"]) == (0, [])
    assert checked.code == 0, checked.stdout + checked.stderr


async def test_the_balance_report_adds_a_payments_movements_up(book: Book):
    await book.shop.acme.sale("pi_1")
    charge = template("balance")
    moves = [("refund", "-30.00"), ("dispute", "70.00"), ("dispute_reversal", "70.00"), ("refund_failure", "10.00")]
    returns = [{**charge, "reporting_category": kind, "customer_facing_amount": amount} for kind, amount in moves]
    settled = {**charge, "reporting_category": "refund", "customer_facing_amount": "", "customer_facing_currency": ""}
    earlier = {**charge, "reporting_category": "refund", "charge_id": "ch_before"}
    fee = {**charge, "reporting_category": "fee", "charge_id": ""}
    book.write(*returns, charge, settled, earlier, fee)

    _, found = await book.reconcile()

    (finding,) = found["findings"]
    assert (finding["code"], finding["returned_cents"]) == ("refund_missing", 2_000)
    assert found["not_read"] == [{"line": 7, "message": "it is in eur, and its payment in USD"}]


async def test_a_provisional_lead_is_settled_first_or_the_finding_says_why_not(book: Book):
    click_id = await book.shop.acme.visitor(at=NOW - timedelta(days=1))
    jane = contact.protect("jane@example.com")
    await book.shop.acme.lead(click_id, is_trusted=False, contact=jane, at=NOW - timedelta(days=1))
    of_click = {"svc_click_id (metadata)": click_id}
    book.write(row(9, **of_click, **{"svc_customer_key (metadata)": ""}))
    _, without_key = await book.reconcile("--fix")
    book.write(row(9, **of_click))

    fixed = await book.reconcile("--fix")

    assert without_key["findings"][0]["reason"].startswith("The customer's lead is not settled")
    assert (fixed[0], fixed[1]["fixed"]) == (0, 1)
    assert await book.codes() == []


async def test_a_rejected_correction_and_lines_that_cannot_be_read_are_named_and_the_others_are_sent(book: Book):
    old = f"{NOW - timedelta(days=400):%Y-%m-%d %H:%M}"
    unreadable = (row(3, Amount="a lot"), row(4, **{"Created date (UTC)": "yesterday"}), row(5, Amount="-1"))
    book.write(row(1, **{"Created date (UTC)": old}), row(2), *unreadable)

    ended, found = await book.reconcile("--fix")

    assert (ended, found["fixed"]) == (1, 1)
    assert [each["line"] for each in found["not_read"]] == [4, 5, 6]
    assert [each["transaction_id"] for each in found["findings"]][:1] == ["pi_1"]
    assert found["findings"][0]["refusal"]["code"] == "validation_error"


async def test_hostile_text_is_shown_as_text_and_a_file_that_is_not_an_export_is_rejected(book: Book):
    book.write(row(1, **{"PaymentIntent ID": "[red]pi_1"}), row(2, **{"PaymentIntent ID": "\x1b[2Jpi_2"}))
    hostile = await book.shop.svc("reconcile", book.path)
    book.path.write_text("name,price\nshoe,10\n")

    done = await book.shop.svc("reconcile", book.path)
    missing = await book.shop.svc("reconcile", "nowhere.csv")

    assert "\x1b" not in hostile.stdout
    assert "[red]pi_1, paid $100.00; not recorded" in hostile.stdout
    assert "line 3: not read" in hostile.stdout
    assert (done.code, "created_utc or created date (utc)" in done.stderr) == (1, True)
    assert "nowhere.csv cannot be read" in missing.stderr


def test_amounts_are_exact_in_every_currency(tmp_path: Any):
    path = tmp_path / "payments.csv"
    path.write_text(
        "id,Created (UTC),Amount,Currency,Status\n"
        'ch_1,2026-05-20 12:00,"1,234.50",usd,Paid\n'
        "ch_2,2026-05-20 12:00,5000,jpy,Paid\n"
    )

    assert {each["names"][0]: each["amount"] for each in read_export(path)[0]} == {"ch_1": "1234.50", "ch_2": "5000"}


def test_an_amount_is_written_as_babel_writes_it_with_its_digits_of_every_currency():
    fractions = get_global("currency_fractions")

    assert {code: digits for code, (digits, *_) in fractions.items() if digits != 2} == DIGITS
    for currency in ("USD", "EUR", "GBP", "JPY", "CHF", "KWD"):
        for minor_units in (123_456_789, 5, 0, -1_050):
            amount = Decimal(minor_units).scaleb(-get_currency_precision(currency))
            written = format_currency(amount, currency, locale="en_US")
            assert money(minor_units, currency).replace(" ", "") == written, minor_units
