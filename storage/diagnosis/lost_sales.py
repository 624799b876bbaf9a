"""Why sales and refunds were rejected, across error codes, and what of their money came with a later call."""

from collections import Counter
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.diagnosis import identifier_health
from storage.lists.rejected_calls import with_recorded_sales
from storage.rules import keys
from storage.rules.errors import CustomerNotFound, CustomerWrongProgram, DuplicateTransaction
from storage.rules.key_format import Difference, Mismatch
from storage.rules.periods.period import ALWAYS, Span
from storage.rules.untrusted import Untrusted, UntrustedValues

MOST_IDS = 20
WRONG_PROGRAM, ORGANIC = "wrong_program", "organic"


class LostMoney(NamedTuple):
    """Rejected sales, or refunds, of one cause: each transaction once, by its first call; cents by currency.

    `cause` is how the customer_key differs from the leads' (letter_case, prefix, or the other format, such as
    processor_id), wrong_program, organic (no partner sent the customer), or else the error code and the wrong fields.
    `codes` counts calls. `credited` was accepted when it was sent again. `likely` has sent keys with the leads' keys
    that were likely meant.
    """

    call: str
    cause: str
    codes: dict[str, int]
    transactions: int
    first_sent: dict[str, int]
    credited: dict[str, int]
    lost: dict[str, int]
    lost_transaction_ids: list[Untrusted]
    likely: UntrustedValues


def split(connection: Connection, program_id: int, span: Span = ALWAYS) -> list[LostMoney]:
    """Return what was rejected (of the last 30 days) by cause, with the most transactions first."""
    rows = with_recorded_sales(connection, program_id, span)
    unmatched = {row.customer_key for row in rows if row.code in identifier_health.UNMATCHED} - {None}
    compared = identifier_health.compare(connection, program_id, unmatched) if unmatched else None
    mismatches = compared.mismatches if compared else {}
    groups: dict[tuple[str, str], LostMoney] = {}
    causes: dict[Any, tuple[str, str]] = {}
    for row in rows:
        is_refund = row.call == "refund"
        what = row.transaction_id or row.request_id
        name = (row.call, what, row.amount_cents if is_refund else None)
        is_first = name not in causes
        place = causes.setdefault(name, (row.call, _cause(row, program_id, mismatches)))
        group = groups.setdefault(place, LostMoney(*place, Counter(), 0, Counter(), Counter(), Counter(), [], {}))
        group.codes[row.code] += 1
        mismatch = mismatches.get(row.customer_key)
        if mismatch and mismatch.meant and len(group.likely) < MOST_IDS:
            group.likely[row.customer_key] = mismatch.meant
        if is_first:
            is_accepted = row.is_refunded if is_refund else row.sale_id is not None
            is_credited = is_accepted and row.code != DuplicateTransaction.code
            currency = row.currency or row.sale_currency
            if currency and row.amount_cents:
                group.first_sent[currency] += row.amount_cents
                (group.credited if is_credited else group.lost)[currency] += row.amount_cents
            if not is_credited and row.transaction_id and len(group.lost_transaction_ids) < MOST_IDS:
                group.lost_transaction_ids.append(row.transaction_id)
            groups[place] = group._replace(transactions=group.transactions + 1)
    return sorted(groups.values(), key=lambda group: -group.transactions)


def _cause(row: Any, program_id: int, mismatches: dict[str, Mismatch]) -> str:
    mismatch = mismatches.get(row.customer_key)
    clicked = keys.click_program(row.click_id or "")
    if row.code == CustomerWrongProgram.code or clicked not in {None, program_id}:
        cause: str = WRONG_PROGRAM
    elif mismatch is not None:
        cause = mismatch.shape if mismatch.difference == Difference.SHAPE else mismatch.difference
    elif row.call == "sale" and row.code == CustomerNotFound.code:
        cause = ORGANIC
    else:
        cause = f"{row.code}: {row.fields}" if row.fields else row.code
    return cause
