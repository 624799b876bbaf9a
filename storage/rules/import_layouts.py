"""What the CSV exports of other tools say: partners, customers and commissions, read by the names of their columns."""

import csv
import re
import tomllib
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

Row = tuple[int, dict[str, str]]  # its line, and its values by field
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


def read(tool: ImportTool, lines: Iterable[str]) -> ImportFile:
    """Return what a CSV export says. Raises ValueError if it has no column that says what it lists."""
    rows = csv.reader(lines)
    header = [_normalized(name) for name in next(rows, [])]
    kind = _kind(header, tool)
    own = COLUMNS.get(tool, {}).get(kind, {})
    read: dict[str, str] = {}
    for field, names in (own | COLUMNS["generic"][kind] | own).items():  # the tool's own lines, and first
        column = next((name for name in names.split() if name in header and name not in read.values()), None)
        if column is not None:
            read[field] = column
    places = {field: header.index(column) for field, column in read.items()}
    content = [
        (number, {field: row[place].strip() for field, place in places.items() if place < len(row)})
        for number, row in enumerate(rows, start=2)
        if any(cell.strip() for cell in row)
    ]
    return ImportFile(kind, content, read, [name for name in header if name not in read.values()])


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
