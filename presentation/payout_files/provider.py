"""Providers turn the payments of a payout into the files that people upload; each is a table of files.toml.

The service moves no money. A provider that sends payments itself would be one more class like SepaFile (sepa.py): it
says which payments it takes, and what becomes of them.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

from text_unidecode import unidecode

from presentation.csv_text import csv_lines, guarded
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


@dataclass(frozen=True)
class PayoutProvider:
    """Writes a table of payments as CSV. What it does not take stays for others, and the page says why.

    `kind` names it in URLs, `title` on pages. files.toml describes the fields; `last` are the cells of a last line.
    """

    kind: str
    title: str
    columns: Mapping[str, str]
    method: MethodKind | None = None
    needs: str | None = None
    most: int | None = None
    has_header: bool = True
    last: Mapping[str, str] = field(default_factory=dict)
    suffix: str = "csv"
    media_type: str = "text/csv; charset=utf-8"

    def obstacle(self, payment: PartnerPayment, batch: Batch) -> str:  # noqa: ARG002 - SEPA asks for the currency
        """Return why this payment cannot be sent so, as a short phrase; empty if it can."""
        if self.method is not None and payment.method != self.method:
            return "is paid by another method"
        return f"has no {self.needs.upper()}" if self.needs is not None and self.needs not in payment.details else ""

    def taken(self, batch: Batch) -> tuple[Batch, dict[str, int]]:
        """Return the batch of the payments that it takes, and how many it does not, by reason."""
        payments, left = list[PartnerPayment](), Counter[str]()
        for each in batch.payments:
            if reason := self.obstacle(each, batch):
                left[reason] += 1
            elif self.most is not None and len(payments) == self.most:
                left[f"a file has at most {self.most:,} payments"] += 1
            else:
                payments.append(each)
        return batch._replace(payments=payments), dict(left)

    def cells(self, payment: PartnerPayment, batch: Batch) -> dict[str, str]:
        """Return what the columns have of a payment."""
        known: Any = {**payment._asdict(), **batch._asdict(), **payment.details}
        known |= {"amount": batch.amount(payment.cents), "method": payment.method or ""}
        return {name: cell.format_map(defaultdict(str, known)) for name, cell in self.columns.items()}

    def write(self, batch: Batch) -> bytes:
        """Return the file of a batch, of which it takes every payment. Raises ValidationError for what is missing."""
        rows = [list(self.cells(each, batch).values()) for each in batch.payments]
        sums = {"number": len(rows), "total": batch.amount(total(batch)), "currency": batch.currency}
        if self.has_header:
            rows.insert(0, list(self.columns))
        if self.last:
            rows.append([self.last.get(name, "").format_map(sums) for name in self.columns])
        return csv_lines([guarded(cell) for cell in row] for row in rows).encode()


def write_file(provider: PayoutProvider, batch: Batch) -> tuple[Batch, bytes]:
    """Return what a provider takes of a batch, and its file. Raises ValidationError."""
    taken, _ = provider.taken(batch)
    return taken, provider.write(taken)


def total(batch: Batch) -> int:
    """Return what the payments of a batch add up to, in cents."""
    return sum(each.cents for each in batch.payments)


def reference_of(payer: str, day: date) -> str:
    """Return the reference that a payout has until people type theirs: ACME-2026-11-23."""
    name = _NOT_IN_REFERENCES.sub("-", unidecode(payer).upper()).strip("-")[: LONGEST_REFERENCE - 11].rstrip("-")
    return f"{name or 'PAYOUT'}-{day:%Y-%m-%d}"
