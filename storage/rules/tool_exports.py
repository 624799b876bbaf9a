"""What the CSV exports of other tools say: partners, customers and commissions, read by the names of their columns."""

import csv
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, TypeVar

from storage.rules import contact
from storage.rules.attribution import CODE, LONGEST_CODE, PartnerStatus
from storage.rules.commission import CommissionStatus
from storage.rules.import_values import LONGEST, cents_of, moment, printable, text_of

Status = TypeVar("Status", bound=StrEnum)
Row = tuple[int, dict[str, str] | None]  # its line, and its values by field; None: it cannot be read
COLUMNS = tomllib.loads(Path(__file__).with_name("import_columns.toml").read_text(encoding="utf-8"))


class ImportTool(StrEnum):
    """Where a file comes from; import_columns.toml says how each calls our fields."""

    GENERIC = "generic"
    REWARDFUL = "rewardful"
    FIRSTPROMOTER = "firstpromoter"
    TAPFILIATE = "tapfiliate"
    DUB = "dub"


class FileKind(StrEnum):
    """What the rows of a file are."""

    PARTNERS = "partners"
    CUSTOMERS = "customers"
    COMMISSIONS = "commissions"


class ImportFile(NamedTuple):
    """A file: its rows by field and line, which column is read as which field, and the columns that are not read."""

    kind: FileKind
    rows: list[Row]
    read: dict[str, str]
    unread: list[str]


class PartnerReference(NamedTuple):
    """What a row says about its partner: any of these."""

    code: str = ""
    email: str = ""
    id: str = ""


class ImportedPartner(NamedTuple):
    """A partner of the old tool; `id` is theirs there."""

    id: str
    code: str
    name: str
    email: str | None
    status: PartnerStatus
    created_at: datetime | None


class ImportedCustomer(NamedTuple):
    """A customer whom a partner brought; one without an id of the shop is named by a hash of the e-mail address."""

    customer_key: str
    email: str | None
    partner: PartnerReference
    at: datetime | None
    is_unnamed: bool = False


class ImportedCommission(NamedTuple):
    """A commission that was earned; amounts are in minor units of their currencies."""

    transaction_id: str
    customer: ImportedCustomer
    sale_cents: int
    cents: int
    currency: str
    status: CommissionStatus
    at: datetime
    paid_at: datetime | None


def read(tool: ImportTool, lines: Iterable[str]) -> ImportFile:
    """Return what a CSV export says. Raises ValueError if it has no column that says what it lists."""
    rows = _rows(lines)
    header = [_normalized(name) for name in next(rows, None) or []]
    kind = _kind(header, tool)
    own = COLUMNS.get(tool, {}).get(kind, {})
    read: dict[str, str] = {}
    for field, names in (own | COLUMNS["generic"][kind] | own).items():  # the tool's own lines, and first
        column = next((name for name in names.split() if name in header and name not in read.values()), None)
        if column is not None:
            read[field] = column
    places = {field: header.index(column) for field, column in read.items()}
    content: list[Row] = [
        (number, _read(row, places))
        for number, row in enumerate(rows, start=2)
        if row is None or any(cell.strip() for cell in row)
    ]
    return ImportFile(kind, content, read, [name for name in header if name not in read.values()])


def _read(row: list[str] | None, places: Mapping[str, int]) -> dict[str, str] | None:
    if row is None:
        return None
    return {field: row[place].strip() for field, place in places.items() if place < len(row)}


def _rows(lines: Iterable[str]) -> Iterator[list[str] | None]:
    """Yield the cells of each row; None for a row that is no CSV, or has a cell of more than 128 KiB."""
    rows = csv.reader(lines)
    while True:
        try:
            yield next(rows)
        except StopIteration:
            return
        except csv.Error:
            yield None


def _kind(header: list[str], tool: ImportTool) -> FileKind:
    """Return what a file lists: a commission names an amount, a customer a person beside the partner."""

    def has(kind: FileKind, *fields: str) -> bool:
        return any(column in header for field in fields for column in COLUMNS["generic"][kind][field].split())

    of_commissions = FileKind.COMMISSIONS  # its columns of a person lack the bare `email`, which partners have, too
    has_amount = tool != ImportTool.GENERIC and not {"amount", "amount_cents"}.isdisjoint(header)
    if has_amount or has(of_commissions, "amount", "cents"):
        kind = FileKind.COMMISSIONS
    elif has(of_commissions, "customer_id", "customer_email") and has(
        of_commissions, "partner_code", "partner_email", "partner_id"
    ):
        kind = FileKind.CUSTOMERS
    elif has(FileKind.PARTNERS, "code"):
        kind = FileKind.PARTNERS
    else:
        raise ValueError(
            "The first line names no column that says what the file lists: a partner's code, a customer, or an amount."
        )
    return kind


def _normalized(name: str) -> str:
    """Return a column's name in snake_case: `Sale Amount` and `saleAmount` are sale_amount, `PayPal` is paypal."""
    plain = name.lstrip("\ufeff").strip()
    if plain[:1].islower():
        plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain)
    return re.sub(r"[^a-z0-9]+", "_", plain.lower()).strip("_")


def partner(row: Mapping[str, str]) -> ImportedPartner:
    """Return a partner. Raises ValueError."""
    code, email = row.get("code", ""), row.get("email", "")
    if len(code) > LONGEST_CODE or not re.match(CODE, code):
        raise ValueError(f"a partner's code has 1 to {LONGEST_CODE} letters, digits or . _ ~ -, not {code[:40]!r}")
    name = row.get("name") or " ".join(filter(None, (row.get("first_name"), row.get("last_name")))) or code
    status = _status(row, FileKind.PARTNERS, PartnerStatus.ACTIVE)
    at = row.get("created_at")
    return ImportedPartner(
        text_of(row, "id"),
        code,
        printable(name[:512]),
        email if contact.is_email(email) else None,
        status,
        moment(at) if at else None,
    )


def customer(row: Mapping[str, str]) -> ImportedCustomer:
    """Return a customer. Raises ValueError."""
    key, email = text_of(row, "customer_id"), row.get("customer_email", "")
    if not key and not contact.is_email(email):
        raise ValueError("neither a customer id nor an e-mail address")
    reference = PartnerReference(
        row.get("partner_code", ""), row.get("partner_email", "").lower(), row.get("partner_id", "")
    )
    if not any(reference):
        raise ValueError("no partner")
    at = moment(row["at"]) if row.get("at") else None
    known_email = email if contact.is_email(email) else None
    return ImportedCustomer(
        key or f"email-{contact.protect(email).hash[:32]}", known_email, reference, at, is_unnamed=not key
    )


def commission(row: Mapping[str, str], tool: ImportTool, digits: Callable[[str], int]) -> ImportedCommission:
    """Return a commission; `digits` says how many decimals a currency has. Raises ValueError."""
    currency = (row.get("currency") or "USD").upper()
    own = text_of(row, "commission_id")
    number = text_of(row, "transaction_id") or (f"{tool}:{own}"[:LONGEST] if own else "")
    if not number:
        raise ValueError("neither a transaction id nor an id of the commission")
    cents = cents_of(row.get("amount"), row.get("cents"), digits(currency))
    sale_cents = cents_of(row.get("sale_amount"), row.get("sale_cents"), digits(currency))
    if sale_cents < 1 or cents < 0:
        raise ValueError("the sale's amount must be above 0, and the commission's not below 0")
    paid_at = row.get("paid_at")
    status = _status(row, FileKind.COMMISSIONS, CommissionStatus.PENDING)
    return ImportedCommission(
        number,
        customer(row),
        sale_cents,
        cents,
        currency,
        CommissionStatus.PAID if paid_at and status != CommissionStatus.REJECTED else status,
        moment(row.get("at", "")),
        moment(paid_at) if paid_at else None,
    )


def _status(row: Mapping[str, str], kind: FileKind, default: Status) -> Status:
    text = row.get("status", "")
    sent = text.strip().lower().replace(" ", "_")
    if not sent:
        return default
    for status, names in COLUMNS["status"][kind].items():
        if sent in names.split():
            return type(default)(status)
    raise ValueError(f"a status that is not known: {text[:40]!r}")
