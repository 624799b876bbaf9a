"""What the CSV exports of other tools say: partners, customers and commissions, read by the names of their columns."""

import csv
import re
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

Row = tuple[int, dict[str, str]]  # its line, and its values by field


class ImportTool(StrEnum):
    """Where a file comes from."""

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


_PARTNER = {
    "partner_code": "partner_code affiliate_token affiliate_code promoter_ref_id referral_code ref_id ref_token "
    "link_key token",
    "partner_email": "partner_email affiliate_email promoter_email",
    "partner_id": "partner_id affiliate_id promoter_id",
}
_CUSTOMER = {
    "customer_id": "customer_id customer_external_id stripe_customer_id customer_stripe_id external_id uid cust_id "
    "imported_id",
    "customer_email": "customer_email referral_email lead_email",
}
_FIELDS: dict[FileKind, dict[str, str]] = {
    FileKind.PARTNERS: {
        "id": "id affiliate_id promoter_id partner_id",
        "code": "code token link_token default_link_token referral_code ref_id default_ref_id ref_token link_key "
        "username",
        "name": "name full_name affiliate_name partner_name promoter_name",
        "first_name": "first_name firstname",
        "last_name": "last_name lastname",
        "email": "email affiliate_email promoter_email partner_email",
        "status": "status state",
        "created_at": "created_at joined_at date_added enrolled_at created",
    },
    FileKind.CUSTOMERS: {
        **_CUSTOMER,
        **_PARTNER,
        "customer_email": f"{_CUSTOMER['customer_email']} email",
        "at": "signup_at became_lead_at lead_at created_at created date",
    },
    FileKind.COMMISSIONS: {
        **_CUSTOMER,
        **_PARTNER,
        "commission_id": "commission_id id reward_id conversion_id",
        "transaction_id": "transaction_id invoice_id sale_id charge_id event_id external_sale_id",
        "sale_amount": "sale_amount revenue order_amount",
        "sale_cents": "sale_amount_cents sale_cents",
        "amount": "commission_amount commission earnings reward_amount",
        "cents": "commission_amount_cents commission_cents earnings_cents",
        "currency": "currency commission_currency sale_currency",
        "status": "status state commission_status",
        "at": "sold_at created_at created date",
        "paid_at": "paid_at paid_on",
    },
}
# Where a tool means something else by a column's name; docs/importing.md names the sources.
_OWN: dict[tuple[ImportTool, FileKind], dict[str, str]] = {
    (ImportTool.TAPFILIATE, FileKind.COMMISSIONS): {
        "transaction_id": f"{_FIELDS[FileKind.COMMISSIONS]['transaction_id']} external_id",  # the conversion's
    },
    **{
        (ImportTool.DUB, kind): {"customer_id": "customer_external_id external_id stripe_customer_id"}
        for kind in (FileKind.CUSTOMERS, FileKind.COMMISSIONS)  # its own customer_id starts with cus_, as Stripe's do
    },
}
# What a bare "amount" of a commission is.
_AMOUNT = {
    ImportTool.REWARDFUL: ("amount", "cents"),
    ImportTool.FIRSTPROMOTER: ("amount", "cents"),
    ImportTool.TAPFILIATE: ("sale_amount", "sale_cents"),
    ImportTool.DUB: ("sale_amount", "sale_cents"),
}


def read(tool: ImportTool, lines: Iterable[str]) -> ImportFile:
    """Return what a CSV export says. Raises ValueError if it has no column that says what it lists."""
    rows = csv.reader(lines)
    header = [_normalized(name) for name in next(rows, [])]
    kind = _kind(header, tool)
    fields = _FIELDS[kind] | _OWN.get((tool, kind), {})
    if (tool, kind) == (ImportTool.REWARDFUL, FileKind.CUSTOMERS) and "affiliate_email" not in header:
        fields |= {"partner_email": "email", "customer_email": _CUSTOMER["customer_email"]}
    if kind == FileKind.COMMISSIONS and tool in _AMOUNT:
        major, minor = _AMOUNT[tool]
        fields |= {major: f"{fields[major]} amount", minor: f"{fields[minor]} amount_cents"}
    found = {field: next((name for name in names.split() if name in header), "") for field, names in fields.items()}
    read = {field: name for field, name in found.items() if name}
    content = [
        (
            number,
            {field: row[header.index(name)].strip() for field, name in read.items() if header.index(name) < len(row)},
        )
        for number, row in enumerate(rows, start=2)
        if any(cell.strip() for cell in row)
    ]
    return ImportFile(kind, content, read, [name for name in header if name not in read.values()])


def _kind(header: list[str], tool: ImportTool) -> FileKind:
    """Return what a file lists: a commission names an amount, a customer a person beside the partner."""
    names = set(header)
    amounts = {"amount", "amount_cents"} if tool in _AMOUNT else set()
    earned = {name for field in ("amount", "cents") for name in _FIELDS[FileKind.COMMISSIONS][field].split()}
    people = {name for names in _CUSTOMER.values() for name in names.split()}
    partners = {name for names in _PARTNER.values() for name in names.split()}
    codes = set(_FIELDS[FileKind.PARTNERS]["code"].split())
    if names & (earned | amounts):
        kind = FileKind.COMMISSIONS
    elif names & people and names & partners:
        kind = FileKind.CUSTOMERS
    elif names & codes:
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
