"""The interface of a provider: what turns the payments of a payout into what a bank or a payment service takes.

The service moves no money. Its providers write files, which people upload (files.py, sepa.py). A provider that sends
payments itself would be one more class like theirs: it says which payments it takes, and what becomes of them.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import date
from typing import ClassVar, NamedTuple

from text_unidecode import unidecode

from storage.rules.payout import MethodKind
from storage.tracking import currencies

LONGEST_REFERENCE = 30
_NOT_IN_REFERENCES = re.compile(r"[^A-Z0-9]+")


class PartnerPayment(NamedTuple):
    """A payment to a partner, in cents; `details` are those of their method (None: they have none), in plain text."""

    line_id: int
    name: str
    code: str
    cents: int
    method: MethodKind | None
    details: Mapping[str, str]


class Batch(NamedTuple):
    """The payments of a payout, in one currency; a bank is asked to pay them on `day` from the account `payer_iban`."""

    payout_id: int
    payer: str
    currency: str
    day: date
    reference: str
    payments: Sequence[PartnerPayment]
    payer_iban: str | None = None

    def amount(self, cents: int) -> str:
        """Return cents as files have them: 12.34, in yen 1234."""
        return str(currencies.major(cents, self.currency))


class PayoutProvider(ABC):
    """Sends payments by one way, or writes the file by which people send them.

    `kind` names it in URLs, `title` on pages. A subclass says which payments it takes, at most how many together, and
    writes them; what it does not take stays for others, and the page says why.
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    suffix: ClassVar[str] = "csv"
    media_type: ClassVar[str] = "text/csv; charset=utf-8"
    most: ClassVar[int | None] = None

    @abstractmethod
    def obstacle(self, payment: PartnerPayment, batch: Batch) -> str:
        """Return why this payment cannot be sent so, as a short phrase; empty if it can."""

    @abstractmethod
    def write(self, batch: Batch) -> bytes:
        """Return the file of a batch, of which it takes every payment. Raises ValidationError for what is missing."""

    def taken(self, batch: Batch) -> tuple[Batch, dict[str, int]]:
        """Return the batch of the payments that it takes, and how many it does not, by reason."""
        payments, left = list[PartnerPayment](), dict[str, int]()
        for each in batch.payments:
            reason = self.obstacle(each, batch)
            if not reason and self.most is not None and len(payments) == self.most:
                reason = f"a file has at most {self.most:,} payments"
            if reason:
                left[reason] = left.get(reason, 0) + 1
            else:
                payments.append(each)
        return batch._replace(payments=payments), left


class PayoutFile(NamedTuple):
    """A file for the payments of a payout: its name says how many it has and what they add up to."""

    name: str
    media_type: str
    content: bytes
    payments: int
    cents: int


def write_file(provider: PayoutProvider, batch: Batch) -> PayoutFile:
    """Return a provider's file of a payout. Raises ValidationError."""
    taken, _ = provider.taken(batch)
    number, cents = len(taken.payments), total(taken)
    name = f"payout-{batch.payout_id}-{provider.kind}-{number}-{batch.amount(cents)}-{batch.currency}"
    return PayoutFile(f"{name}.{provider.suffix}", provider.media_type, provider.write(taken), number, cents)


def total(batch: Batch) -> int:
    """Return what the payments of a batch add up to, in cents."""
    return sum(each.cents for each in batch.payments)


def reference_of(payer: str, day: date) -> str:
    """Return the reference that a payout has until people type theirs: ACME-2026-11-23."""
    name = _NOT_IN_REFERENCES.sub("-", unidecode(payer).upper()).strip("-")[: LONGEST_REFERENCE - 11].rstrip("-")
    return f"{name or 'PAYOUT'}-{day:%Y-%m-%d}"
