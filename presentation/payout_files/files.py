"""The files by which people send money: PayPal's and Wise's tables, and a table of all payments."""

from collections.abc import Iterable, Sequence

from presentation.csv_text import csv_lines, guarded
from presentation.payout_files.provider import Batch, PartnerPayment, PayoutProvider, total
from storage.rules.payout import MethodKind

# In the order of the last columns of the table of all payments.
DETAILS = ("email", "holder", "iban", "bic", "account_number", "routing_number", "text")


def _table(rows: Iterable[Sequence[str]]) -> bytes:
    return csv_lines([guarded(cell) for cell in row] for row in rows).encode()


def _of_method(payment: PartnerPayment, method: MethodKind) -> str:
    return "" if payment.method == method else "is paid by another method"


class PayPalFile(PayoutProvider):
    """A file for PayPal's mass payments: recipient, amount, currency, id, note and wallet; it has no header."""

    kind, title, most = "paypal", "PayPal mass payment", 5_000

    def obstacle(self, payment: PartnerPayment, batch: Batch) -> str:  # noqa: ARG002 - PayPal takes any currency
        return _of_method(payment, MethodKind.PAYPAL)

    def write(self, batch: Batch) -> bytes:
        return _table(
            (
                *(each.details["email"], batch.amount(each.cents), batch.currency),
                *(str(each.line_id), f"{batch.payer} {batch.reference}", "PAYPAL"),
            )
            for each in batch.payments
        )


class WiseFile(PayoutProvider):
    """A file for Wise's batch payments to e-mail addresses: the recipient gets the whole amount in the currency."""

    kind, title, most = "wise", "Wise batch", 1_000
    HEADER = (
        *("name", "recipientEmail", "paymentReference", "amountCurrency"),
        *("amount", "sourceCurrency", "targetCurrency", "type"),
    )

    def obstacle(self, payment: PartnerPayment, batch: Batch) -> str:  # noqa: ARG002 - Wise takes any currency
        return _of_method(payment, MethodKind.WISE)

    def write(self, batch: Batch) -> bytes:
        rows = [
            [
                *(each.name, each.details["email"], batch.reference, "target"),
                *(batch.amount(each.cents), batch.currency, batch.currency, "EMAIL"),
            ]
            for each in batch.payments
        ]
        return _table([self.HEADER, *rows])


class AllFile(PayoutProvider):
    """A table of all payments with the details of their methods; its last line is their number and their sum."""

    kind, title = "csv", "All as CSV"
    HEADER = ("line_id", "partner", "code", "amount", "currency", "reference", "method", *DETAILS)

    def obstacle(self, payment: PartnerPayment, batch: Batch) -> str:  # noqa: ARG002 - it takes every payment
        return ""

    def write(self, batch: Batch) -> bytes:
        rows = [
            [
                *(str(each.line_id), each.name, each.code, batch.amount(each.cents), batch.currency, batch.reference),
                *(each.method or "", *(each.details.get(name, "") for name in DETAILS)),
            ]
            for each in batch.payments
        ]
        last = ["Total", str(len(rows)), "", batch.amount(total(batch)), batch.currency]
        return _table([self.HEADER, *rows, [*last, *[""] * (len(self.HEADER) - len(last))]])
