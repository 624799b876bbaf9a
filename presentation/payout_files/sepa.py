"""The SEPA credit transfers of a payout: a pain.001 file, which banks in the euro area take."""

import re
from typing import Any

from sepaxml import SepaTransfer
from text_unidecode import unidecode

from presentation.payout_files.provider import Batch, PartnerPayment, PayoutProvider
from storage.rules.errors import ValidationError
from storage.tracking.currencies import EURO

SCHEMA = "pain.001.001.09"
_NOT_SEPA = re.compile(r"[^A-Za-z0-9/\-?:().,'+ ]+")
NO_ACCOUNT = "The IBAN from which you pay: the file names it. A setting of the program has it"
NO_PAYMENTS = "No payment of this payout is in euro to an IBAN, so there is no SEPA file."


class SepaFile(PayoutProvider):
    """A pain.001 file of euro transfers to IBANs; a later file of the same payout has the same message id."""

    def obstacle(self, payment: PartnerPayment, batch: Batch) -> str:
        return super().obstacle(payment, batch) or ("" if batch.currency == EURO else "SEPA pays in euro alone")

    def write(self, batch: Batch) -> bytes:
        if not batch.payments:
            raise ValidationError(NO_PAYMENTS)
        if batch.payer_iban is None:
            raise ValidationError.of("payer_iban", NO_ACCOUNT)
        payer = {"name": _latin(batch.payer), "IBAN": batch.payer_iban, "batch": True, "currency": EURO}
        transfer = SepaTransfer(payer, schema=SCHEMA)
        for each in batch.payments:
            cells = {name: _latin(cell) for name, cell in self.cells(each, batch).items()}
            about: dict[str, Any] = {name: cell for name, cell in cells.items() if cell}
            about.setdefault("name", each.code)
            transfer.add_payment(about | {"amount": each.cents, "execution_date": batch.day})
        # A bank knows by the message id that it has had a file before; the library's is random.
        content: bytes = transfer.export(validate=False)
        return content.replace(transfer.msg_id.encode(), f"PAYOUT-{batch.payout_id}".encode())


def _latin(text: str) -> str:
    """Return a text in the characters that every bank takes."""
    return " ".join(_NOT_SEPA.sub(" ", unidecode(text)).split())
