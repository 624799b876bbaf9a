"""Stripe's exports as payments: the list of payments from its dashboard, and the itemized balance report."""

import csv
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from cli.integrator.output import Failure

MONEY_CAME = ("paid", "succeeded", "refunded", "partially refunded", "disputed", "complete")
CHARGE = "charge"
RETURNS = {"refund": 1, "dispute": 1, "refund_failure": -1, "dispute_reversal": -1}  # whatever sign the amount has
# What we call a value, and the columns that hold it, the better one first, in lower case.
COLUMNS: dict[str, tuple[str, ...]] = {
    "charge": ("charge_id", "id"),
    "intent": ("payment_intent_id", "paymentintent id"),
    "invoice": ("invoice_id", "invoice id"),
    "customer": ("customer_id", "customer id"),
    "at": ("created_utc", "created date (utc)", "created (utc)"),
    "amount": ("customer_facing_amount", "amount", "gross"),
    "currency": ("customer_facing_currency", "currency"),
    "returned": ("amount refunded",),
    "status": ("status",),
    "category": ("reporting_category",),
    "click_id": ("payment_metadata[svc_click_id]", "svc_click_id (metadata)"),
    "customer_key": ("payment_metadata[svc_customer_key]", "svc_customer_key (metadata)"),
}
NEEDED = ("charge", "at", "amount", "currency")
Row = Mapping[str, str]
StripeExport = tuple[list[dict[str, Any]], list[tuple[int, str]]]
LONGEST_NAME = 255


def read(path: Path) -> StripeExport:
    """Return an export's payments, customer by customer, and the lines that could not be read, each with the reason.

    A payment is as the body of POST .../reconciliation has it. Raises Failure if the file is not an export.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            names = reader.fieldnames = [name.strip().lower() for name in reader.fieldnames or ()]
            missing = [COLUMNS[value] for value in NEEDED if not set(COLUMNS[value]) & set(names)]
            if missing:
                raise Failure(
                    "not_an_export",
                    f"{path.name} is not a Stripe export: it lacks {'; '.join(map(' or '.join, missing))}.",
                    "Export payments with all columns, or the itemized balance report (balance_change_from_activity).",
                )
            return _payments(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise Failure("unreadable_export", f"{path.name} cannot be read: {problem}") from None


def _payments(reader: "csv.DictReader[str]") -> StripeExport:
    """Combine the rows of each payment; the balance report has one for every movement.

    A refund of a payment that is not in the export, because it is older, is ignored.
    """
    found: dict[str, dict[str, Any]] = {}
    moved: list[tuple[int, Row, Decimal]] = []
    wrong: list[tuple[int, str]] = []
    for sent in reader:
        line, cells = reader.line_num, {name: (text or "").strip() for name, text in sent.items() if name}
        row: Row = {ours: next(filter(None, map(cells.get, names)), "") for ours, names in COLUMNS.items()}
        try:
            category = row["category"].lower()
            if category in RETURNS:
                moved.append((line, row, RETURNS[category] * abs(_amount(row["amount"]))))
            elif category == CHARGE or (not category and row["status"].lower() in MONEY_CAME):
                found[row["charge"]] = _payment(line, row)
                moved.append((line, row, _amount(row["returned"] or "0")))
        except ValueError as problem:
            wrong.append((line, str(problem)))
    returned = dict.fromkeys(found, Decimal(0))
    for line, row, amount in moved:
        currency = found[row["charge"]]["currency"] if row["charge"] in found else None
        if currency == row["currency"].upper():
            returned[row["charge"]] += amount
        elif currency is not None:
            wrong.append((line, f"it is in {row['currency']}, and its payment in {currency}"))
    payments = [payment | {"returned": f"{max(returned[charge], Decimal(0)):f}"} for charge, payment in found.items()]
    return sorted(payments, key=lambda each: (owner(each), each["occurred_at"])), sorted(wrong)


def _payment(line: int, row: Row) -> dict[str, Any]:
    names = [row[name] for name in ("invoice", "intent", "charge") if row[name]]
    if not names or not all(name.isprintable() and len(name) <= LONGEST_NAME for name in row.values()):
        raise ValueError("its id is missing or invalid")
    amount = _amount(row["amount"])
    if amount <= 0:
        raise ValueError("its amount is not positive")
    try:
        at = datetime.fromisoformat(row["at"]).replace(tzinfo=UTC)
    except ValueError:
        raise ValueError(f"{row['at']!r} is not a time") from None
    known = {"customer_key": row["customer_key"], "click_id": row["click_id"], "processor_customer": row["customer"]}
    return {
        "line": line,
        "names": list(dict.fromkeys(names)),
        "amount": f"{amount:f}",
        "currency": row["currency"].upper(),
        "occurred_at": at.isoformat(),
        **{name: value for name, value in known.items() if value},
    }


def _amount(text: str) -> Decimal:
    try:
        return Decimal(text.replace(",", ""))
    except InvalidOperation:
        raise ValueError(f"{text!r} is not an amount") from None


def owner(payment: Mapping[str, Any]) -> str:
    """Return the identifier that a customer's payments share."""
    names = (payment.get(name) for name in ("processor_customer", "customer_key", "click_id"))
    return str(next((name for name in names if name), payment["names"][0]))
