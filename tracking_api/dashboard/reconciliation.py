"""POST /api/programs/:id/reconciliation: compare a part of a payment export with the recorded sales."""

from decimal import Decimal
from typing import Annotated

from pydantic import AwareDatetime, Field, StringConstraints

from presentation.api_request import ApiRequest
from presentation.operations import operation
from storage.payments import reconciliation
from storage.payments.reconciliation import Reconciliation
from storage.rules.errors import FieldError, ValidationError
from storage.rules.reconciliation import Payment
from storage.tracking import currencies
from web.body import Body, Identifier

MOST = 1000
LARGEST = 1024 * 1024
LARGEST_CENTS = 10**12
Amount = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,15}(\.[0-9]{1,6})?$")]


class ExportedPayment(Body):
    """A payment of the export: amounts are in major units, as in the export; `line` is its line there.

    `names` are the processor's ids of it, the one that its sale is recorded under first.
    """

    line: Annotated[int, Field(ge=1, le=2**31)]
    names: Annotated[list[Identifier], Field(min_length=1, max_length=5)]
    amount: Amount
    returned: Amount = "0"
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{3}$", to_upper=True)]
    occurred_at: AwareDatetime
    customer_key: Identifier | None = None
    click_id: Identifier | None = None
    processor_customer: Identifier | None = None


class Export(Body):
    """A part of an export; a customer's payments that are close in time belong in one part."""

    payments: Annotated[list[ExportedPayment], Field(min_length=1, max_length=MOST)]


@operation(largest=LARGEST, tag="payments")
async def reconcile_payments(call: ApiRequest, sent: Export) -> Reconciliation:
    """Compare payments of the processor's export with the sales, and get the calls that correct differences."""
    return await call.read(reconciliation.compare, [_payment(each) for each in sent.payments], at=call.at)


def _payment(sent: ExportedPayment) -> Payment:
    cents, returned = (_cents(sent, name) for name in ("amount", "returned"))
    named = (sent.customer_key, sent.click_id, sent.processor_customer)
    return Payment(sent.line, tuple(sent.names), cents, returned, sent.currency, sent.occurred_at, *named)


def _cents(sent: ExportedPayment, name: str) -> int:
    """Return an amount in minor units. Raises ValidationError for a fraction of one."""
    cents = Decimal(getattr(sent, name)).scaleb(currencies.digits(sent.currency))
    if cents != int(cents) or cents > LARGEST_CENTS:
        raise ValidationError(fields=[FieldError(f"line {sent.line}: {name}", f"No amount of {sent.currency}")])
    return int(cents)
