"""`svc reconcile FILE.csv`: compare a Stripe export with the recorded sales; --fix sends corrections."""

import csv
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.integrator import project
from cli.integrator.accounts import ProgramId, chosen
from cli.integrator.output import Answer, Failure, Flag, command, written

EXPORT = tomllib.loads(Path(__file__).with_name("stripe_export.toml").read_text(encoding="utf-8"))
DIGITS = {code: int(digits) for digits, codes in EXPORT["digits"].items() for code in codes.split()}
COLUMNS = EXPORT["columns"]
NEEDED = ("charge", "at", "amount", "currency")
Row = Mapping[str, str]
StripeExport = tuple[list[dict[str, Any]], list[tuple[int, str]]]
LONGEST_NAME = 255
BATCH = 900  # the service takes 1,000; a customer's payments stay together


@command()
def reconcile(
    file: Annotated[Path, typer.Argument(metavar="FILE")], program: ProgramId = None, fix: Flag = False
) -> Answer:
    """Compare a Stripe export with the sales: missing or doubled, wrong amounts, missing refunds and renewals."""
    payments, wrong = read_export(file)
    service, program_id = chosen(program)
    findings, unattributed = list[dict[str, Any]](), 0
    for batch in _batches(payments):
        found = service.call("POST", f"/api/programs/{program_id}/reconciliation", {"payments": batch})
        findings += found["findings"]
        unattributed += found["unattributed"]
    findings.sort(key=lambda finding: finding["line"])
    fixed = _fix(findings) if fix else 0
    result = {"findings": findings, "unattributed": unattributed, "payments": len(payments), "fixed": fixed}
    result["not_read"] = [{"line": line, "message": problem} for line, problem in wrong]
    counts = Counter(finding["code"] for finding in findings)
    text = written("integrator/reconcile", **result, counts=counts, is_fixing=fix, money=money)
    return Answer(result, text, ok=len(findings) == fixed and not wrong)


def _batches(payments: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield the payments in parts that the service accepts, without dividing a customer's payments."""
    batch: list[dict[str, Any]] = []
    for payment in payments:
        full = len(batch) >= BATCH and owner(payment) != owner(batch[-1])
        if full or len(batch) >= BATCH + 100:
            yield batch
            batch = []
        batch.append(payment)
    if batch:
        yield batch


def _fix(findings: Sequence[dict[str, Any]]) -> int:
    """Send the calls of each finding, in order, and return how many were fixed; save a rejection in its finding."""
    service, fixed = project.service(), 0
    for finding in findings:
        try:
            for call in finding["calls"]:
                service.call("POST", call["path"], call["body"])
        except Failure as failure:
            finding["refusal"] = failure.error
        finding["fixed"] = bool(finding["calls"]) and "refusal" not in finding
        fixed += finding["fixed"]
    return fixed


def money(minor_units: int, currency: str) -> str:
    """Return an amount such as $49.00 or CHF 49.00."""
    digits = DIGITS.get(currency, 2)
    number = f"{abs(Decimal(minor_units).scaleb(-digits)):,.{digits}f}"
    return f"{'-' if minor_units < 0 else ''}{EXPORT['symbols'].get(currency, f'{currency} ')}{number}"


def read_export(path: Path) -> StripeExport:
    """Return an export's payments, customer by customer, and why lines could not be read. Raises Failure."""
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
    """Combine the rows of each payment, which may have several; a refund of an older payment is ignored."""
    found: dict[str, dict[str, Any]] = {}
    moved: list[tuple[int, Row, Decimal]] = []
    wrong: list[tuple[int, str]] = []
    for sent in reader:
        line = reader.line_num
        cells = {name: (text or "").strip() for name, text in sent.items() if name}
        row: Row = {ours: next(filter(None, map(cells.get, names)), "") for ours, names in COLUMNS.items()}
        try:
            category = row["category"].lower()
            if category in EXPORT["returns"]:
                moved.append((line, row, EXPORT["returns"][category] * abs(_amount(row["amount"]))))
            elif category == "charge" or (not category and row["status"].lower() in EXPORT["money_came"]):
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
    """Return a payment as the body of POST .../reconciliation has it. Raises ValueError."""
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
