"""How much of a sale was returned, from what the API and the processor reported: each refund once, in any order."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from operator import attrgetter
from typing import NamedTuple

from storage.rules.payment import Returned, ReturnKind

NAMED_BY_PROCESSOR = ("re_", "pyr_")  # how the processor's ids of refunds begin


class SaleRefund(NamedTuple):
    """A refund of a sale. One of all that remains is not compared: it ends at the sale's amount anyway."""

    row_id: int
    refund_id: str | None
    cents: int  # what its report said
    in_account: bool | None = None  # the processor's totals include it; None: not known
    request_id: str | None = None
    reason: str | None = None
    caller: str | None = None
    taken_cents: int = 0  # what it took back of the sale
    reversed_cents: int = 0

    @property
    def is_in_account(self) -> bool | None:
        """Whether the processor's totals include it, as decided, or as an id of the processor's says."""
        is_named = self.refund_id is not None and self.refund_id.startswith(NAMED_BY_PROCESSOR)
        return True if self.in_account is None and is_named else self.in_account


class ReturnedMoney(NamedTuple):
    """What was returned for certain, in cents; and the refunds of the API that may be in it, or come on top."""

    cents: int
    held: tuple[SaleRefund, ...] = ()


def returned(api: Sequence[SaleRefund], reported: Sequence[Returned]) -> ReturnedMoney:
    """Return how much of a sale was returned.

    Two reports are of one refund if they have one id; else if they have one amount and no other report has it. A larger
    amount that the processor's totals leave without an id may contain a refund of the API, and a dispute may be one.
    """
    refunds = [each for each in reported if each.kind == ReturnKind.REFUND]
    disputes = [each.amount_cents for each in reported if each.kind == ReturnKind.DISPUTE and each.stands]
    ids = {each.return_id for each in refunds}
    api_ids = {each.refund_id for each in api}
    own = [each for each in api if each.refund_id not in ids]
    known = [each.amount_cents for each in refunds if each.stands] + [each.cents for each in own if each.is_in_account]
    unnamed = [each.amount_cents for each in refunds if each.stands and each.return_id not in api_ids]
    unlike, _ = _paired([each for each in own if each.is_in_account is None], unnamed)
    parts = Counter(_parts(reported))
    total_cents = sum(parts.elements())
    open_, unexplained = _paired(unlike, (parts - Counter(known)).elements())
    known_cents = sum(known) + _sum(unlike) - _sum(open_)
    unknown_cents = max(total_cents - known_cents, 0)
    if unknown_cents == _sum(open_):
        held, on_top = [], []
    else:
        largest = min(unknown_cents, max(unexplained, default=0))
        held = [each for each in open_ if each.cents <= largest]
        on_top = [each for each in open_ if each.cents > largest]
    cents = max(total_cents, known_cents) + max(_sum(held) - unknown_cents, 0)
    on_top, _ = _paired(others := on_top, disputes)
    held += [each for each in others if each not in on_top]
    apart = [each for each in own if each.is_in_account is False]
    return ReturnedMoney(cents + _sum(on_top) + _sum(apart) + sum(disputes), tuple(held))


def _parts(reported: Iterable[Returned]) -> Iterator[int]:
    """Yield what each total of a charge's refunds adds to the one before it."""
    by_charge = attrgetter("reference", "amount_cents")
    totals = sorted((each for each in reported if each.kind == ReturnKind.TOTAL), key=by_charge)
    for _, each in groupby(totals, key=attrgetter("reference")):
        steps = pairwise([0, *(total.amount_cents for total in each)])
        yield from (after - before for before, after in steps if after > before)


def _paired(refunds: Iterable[SaleRefund], amounts: Iterable[int]) -> tuple[list[SaleRefund], list[int]]:
    """Take out refunds and amounts that are equal, one for one; return what is left of both."""
    left, amount_left = [], Counter(amounts)
    for each in refunds:
        if amount_left[each.cents]:
            amount_left[each.cents] -= 1
        else:
            left.append(each)
    return left, list(amount_left.elements())


def _sum(refunds: Iterable[SaleRefund]) -> int:
    return sum(each.cents for each in refunds)
