"""What the CSV exports of other tools say: partners, customers and commissions, read by the names of their columns."""

import csv
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, TypeVar

from storage.rules import contact
from storage.rules.attribution import CODE, LONGEST_CODE, PartnerStatus
from storage.rules.commission import CommissionStatus
from storage.rules.import_values import LONGEST, cents_of, moment, printable, text_of

Row = Mapping[str, str]
Status = TypeVar("Status", bound=StrEnum)
VENDORS = tomllib.loads(Path(__file__).with_name("import_columns.toml").read_text(encoding="utf-8"))
AMOUNTS = ("sale_amount", "amount")
MONEY = "cash"  # a reward of another unit, such as points or months, is not money


class ImportTool(StrEnum):
    """Where a file comes from; import_columns.toml says how each calls our fields."""

    GENERIC = "generic"
    REWARDFUL = "rewardful"
    FIRSTPROMOTER = "firstpromoter"
    TAPFILIATE = "tapfiliate"
    DUB = "dub"


class FileKind(StrEnum):
    PARTNERS = "partners"
    CUSTOMERS = "customers"
    COMMISSIONS = "commissions"


class AmountUnit(StrEnum):
    UNITS = "units"
    CENTS = "cents"


class ImportFile(NamedTuple):
    name: str
    tool: ImportTool
    kind: FileKind
    rows: list[tuple[int, dict[str, str] | None]]  # the line and the fields of each; None: it cannot be read
    read: dict[str, str]  # the column of each field
    unread: list[str]  # the other columns
    unit: AmountUnit | None  # None if the amounts are whole numbers that may be units or cents


class ImportLine(NamedTuple):
    """A line of a file: its partner, customer and commission, in minor units of the program's currency."""

    file: str
    number: int
    kind: FileKind
    at: datetime | None
    partner_id: str  # in the old tool
    code: str
    partner_email: str
    name: str  # of a partner whom the line enrols
    partner_status: PartnerStatus = PartnerStatus.ACTIVE
    customer_key: str = ""
    email: str | None = None
    is_unnamed: bool = False  # the key is made of the e-mail address: the shop's id is missing
    transaction_id: str = ""
    sale_cents: int = 0  # of a commission without a sale, too
    cents: int = 0
    status: CommissionStatus = CommissionStatus.PENDING
    paid_at: datetime | None = None


def read(name: str, lines: Iterable[str], tool: ImportTool, amounts: AmountUnit | None = None) -> ImportFile:
    """Return what a CSV export says; `amounts` decides what whole numbers count. Raises ValueError for another file."""
    rows = _rows(lines)
    sent_names = [name.lstrip("\ufeff").strip() for name in next(rows, None) or []]
    words = [re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name) if name[:1].islower() else name for name in sent_names]
    header = [re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") for name in words]  # saleAmount: sale_amount
    kind, vendor = _kind(name, header, tool), VENDORS.get(tool, {})
    columns: dict[str, str] = {}
    for fields in (vendor.get(kind, {}), vendor.get("any", {}), VENDORS["generic"][kind], VENDORS["generic"]["any"]):
        columns |= {field: names for field, names in fields.items() if field not in columns}
    used: dict[str, str] = {}
    for field, names in columns.items():
        column = next((each for each in names.split() if each in header and each not in used.values()), None)
        if column is not None:
            used[field] = column
    places = {field: header.index(column) for field, column in used.items()}
    content = [
        (number, None if row is None else {field: row[at].strip() for field, at in places.items() if at < len(row)})
        for number, row in enumerate(rows, start=2)
        if row is None or any(cell.strip() for cell in row)
    ]
    in_units = [field for field in AMOUNTS if not used.get(field, "").endswith("_cents")]
    sent = [row.get(field, "") for _, row in content if row for field in in_units]
    may_be_cents = any(sent) and all(map(str.isdecimal, filter(None, sent)))
    unit = vendor.get("unit") if may_be_cents else AmountUnit.UNITS
    unread = [column for column in header if column not in used.values()]
    return ImportFile(name, tool, kind, content, used, unread, amounts or (AmountUnit(unit) if unit else None))


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


def _kind(name: str, header: list[str], tool: ImportTool) -> FileKind:
    """Return what a file lists: a commission names an amount, a customer a person beside the partner."""

    def has(kind: str, *fields: str) -> bool:
        known = (VENDORS["generic"][kind].get(field, "").split() for field in fields)
        return any(column in header for columns in known for column in columns)

    has_amount = tool != ImportTool.GENERIC and not {"amount", "amount_cents"}.isdisjoint(header)
    if has_amount or has(FileKind.COMMISSIONS, "amount"):
        kind = FileKind.COMMISSIONS
    elif has("any", "customer_id", "customer_email") and (
        has("any", "partner_code", "partner_email", "partner_id") or tool == ImportTool.REWARDFUL
    ):
        kind = FileKind.CUSTOMERS
    elif has(FileKind.PARTNERS, "partner_code") or {"name", "email"} <= set(header):
        kind = FileKind.PARTNERS
    else:
        what = "a partner's code, a customer, or an amount"
        raise ValueError(f"{name}: the first line names no column that says what the file lists: {what}.")
    return kind


def line_of(file: ImportFile, number: int, row: Row | None, *, currency: str, digits: int) -> ImportLine:
    """Return what a line says, in the program's currency, which has so many digits. Raises ValueError."""
    if row is None:
        raise ValueError("no CSV, or a cell of more than 128 KiB")
    at, sent = row.get("at"), row.get("partner_email", "")
    email = sent if contact.is_email(sent) else ""
    name = row.get("partner_name") or " ".join(filter(None, (row.get("first_name"), row.get("last_name"))))
    who = (text_of(row, "partner_id"), row.get("partner_code", ""), email, printable(name[:512]))
    line = ImportLine(file.name, number, file.kind, moment(at) if at else None, *who)
    enrols = file.kind == FileKind.PARTNERS or bool(name)
    if enrols and (line.code or not email) and not (len(line.code) <= LONGEST_CODE and re.match(CODE, line.code)):
        raise ValueError(f"a partner's code has 1 to {LONGEST_CODE} letters, digits or . _ ~ -, not {line.code[:40]!r}")
    if file.kind == FileKind.PARTNERS:
        return line._replace(partner_status=_status(row, file.kind, PartnerStatus.ACTIVE))
    if not any(who[:3]):
        raise ValueError("no partner")
    if file.kind == FileKind.COMMISSIONS:
        line = _with_commission(line, file, row, currency, digits)
    key = text_of(row, "customer_id")
    customer_email = row.get("customer_email", "")
    if contact.is_email(customer_email):
        named = key or f"email-{contact.protect(customer_email).email_hash[:32]}"
        return line._replace(customer_key=named, email=customer_email, is_unnamed=not key)
    if not key and not (line.cents and not line.sale_cents):
        raise ValueError("neither a customer id nor an e-mail address")
    return line._replace(customer_key=key)


def _with_commission(line: ImportLine, file: ImportFile, row: Row, currency: str, digits: int) -> ImportLine:
    own = text_of(row, "commission_id")
    sent = (row.get("currency") or currency).upper()
    number = text_of(row, "transaction_id") or (f"{file.tool}:{own}"[:LONGEST] if own else "")
    if not number:
        raise ValueError("neither a transaction id nor an id of the commission")
    if sent != currency:
        raise ValueError(f"it is in {sent[:8]}, and the program's currency is {currency}")
    if row.get("reward_unit", MONEY) != MONEY:
        raise ValueError(f"a reward that is no money: {row['reward_unit'][:40]!r}")
    in_cents = {name: file.unit == AmountUnit.CENTS or file.read.get(name, "").endswith("_cents") for name in AMOUNTS}
    sale_cents, cents = (
        cents_of(row.get(field, ""), currency, digits=0 if in_cents[field] else digits, signs=VENDORS["signs"])
        for field in AMOUNTS
    )
    if min(sale_cents, cents) < 0 or not (sale_cents or cents):
        raise ValueError("the sale's amount and the commission must not be below 0, and one has to be above it")
    status = _status(row, FileKind.COMMISSIONS, CommissionStatus.PENDING)
    paid_at = row.get("paid_at")
    return line._replace(
        at=line.at or moment(""),
        transaction_id=number,
        sale_cents=sale_cents,
        cents=cents,
        status=CommissionStatus.PAID if paid_at and status != CommissionStatus.REJECTED else status,
        paid_at=moment(paid_at) if paid_at else None,
    )


def _status(row: Row, kind: FileKind, default: Status) -> Status:
    text = row.get("status", "")
    sent = text.strip().lower().replace(" ", "_")
    if not sent:
        return default
    for status, names in VENDORS["status"][kind].items():
        if sent in names.split():
            return type(default)(status)
    raise ValueError(f"a status that is not known: {text[:40]!r}")
