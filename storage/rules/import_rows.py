"""The rows of another tool's exports as partners, customers and commissions."""

import hashlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import NamedTuple, TypeVar

from storage.rules.attribution import PartnerStatus
from storage.rules.commission import CommissionStatus
from storage.rules.contact import is_email
from storage.rules.import_layouts import COLUMNS, FileKind, ImportTool

Status = TypeVar("Status", bound=StrEnum)
LONGEST_CODE = 255


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


def partner(row: Mapping[str, str]) -> ImportedPartner:
    """Return a partner. Raises ValueError."""
    code, email = row.get("code", ""), row.get("email", "")
    if not 0 < len(code) <= LONGEST_CODE or not code.isprintable():
        raise ValueError("no code")
    name = row.get("name") or " ".join(filter(None, (row.get("first_name"), row.get("last_name")))) or code
    status = _status(row, FileKind.PARTNERS, PartnerStatus.ACTIVE)
    at = row.get("created_at")
    return ImportedPartner(
        row.get("id", ""), code, name[:512], email if is_email(email) else None, status, moment(at) if at else None
    )


def customer(row: Mapping[str, str]) -> ImportedCustomer:
    """Return a customer. Raises ValueError."""
    key, email = row.get("customer_id", ""), row.get("customer_email", "")
    if not key and not is_email(email):
        raise ValueError("neither a customer id nor an e-mail address")
    hashed = hashlib.sha256(email.strip().lower().encode()).hexdigest()
    reference = PartnerReference(
        row.get("partner_code", ""), row.get("partner_email", "").lower(), row.get("partner_id", "")
    )
    if not any(reference):
        raise ValueError("no partner")
    at = moment(row["at"]) if row.get("at") else None
    known_email = email if is_email(email) else None
    return ImportedCustomer(key or f"email-{hashed[:32]}", known_email, reference, at, is_unnamed=not key)


def commission(row: Mapping[str, str], tool: ImportTool, digits: Callable[[str], int]) -> ImportedCommission:
    """Return a commission; `digits` says how many decimals a currency has. Raises ValueError."""
    currency = (row.get("currency") or "USD").upper()
    number = row.get("transaction_id") or (f"{tool}:{row['commission_id']}" if row.get("commission_id") else "")
    if not number:
        raise ValueError("neither a transaction id nor an id of the commission")
    cents = _cents(row.get("amount"), row.get("cents"), digits(currency))
    sale_cents = _cents(row.get("sale_amount"), row.get("sale_cents"), digits(currency))
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


def moment(text: str) -> datetime:
    """Return a time: ISO 8601, a date, or one with a blank or `UTC`; without a zone it is UTC. Raises ValueError."""
    try:
        at = datetime.fromisoformat(text.strip().removesuffix(" UTC").replace(" +", "+"))
    except ValueError:
        raise ValueError(f"no time that can be read: {text[:40]!r}") from None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def _cents(amount: str | None, cents: str | None, digits: int) -> int:
    try:
        exact = Decimal(cents) if cents else Decimal((amount or "").strip("$€£¥ ").replace(",", "")).scaleb(digits)
    except InvalidOperation:
        raise ValueError(f"no amount that can be read: {(cents or amount or '')[:40]!r}") from None
    if exact != exact.to_integral_value():
        raise ValueError(f"an amount with a fraction of a cent: {(cents or amount or '')[:40]!r}")
    return int(exact)


def _status(row: Mapping[str, str], kind: FileKind, default: Status) -> Status:
    text = row.get("status", "")
    sent = text.strip().lower().replace(" ", "_")
    if not sent:
        return default
    for status, names in COLUMNS["status"][kind].items():
        if sent in names.split():
            return type(default)(status)
    raise ValueError(f"a status that is not known: {text[:40]!r}")
