"""What a backtest returns: figures, partners and sales, as recorded and under a draft."""

from datetime import date, datetime
from typing import NamedTuple

from storage.rules.untrusted import Untrusted


class Figures(NamedTuple):
    """What all events earn after refunds, in cents of the program's currency, with the platform's fee on it.

    `held_cents` of it is on hold now. `earning_sales` and `earning_leads` count those that earn something.
    """

    commission_cents: int
    platform_fee_cents: int
    held_cents: int
    earning_sales: int
    earning_leads: int


class PartnerDifference(NamedTuple):
    """What a partner's events earned, and would have earned."""

    partner_id: int
    name: Untrusted
    code: Untrusted
    before_cents: int
    after_cents: int
    difference_cents: int


class CreditDifference(NamedTuple):
    """A sale that a partner would gain or lose; the amount is in its own currency, the rest in the program's."""

    transaction_id: Untrusted
    partner_id: int
    partner_name: Untrusted
    occurred_at: datetime
    amount_cents: int
    currency: str
    before_cents: int
    after_cents: int


class LeftOut(NamedTuple):
    """A setting of the draft, and what of its effect on the past is not known."""

    setting: str
    reason: str


class BacktestResult(NamedTuple):
    """What the days from `first` to `last` (UTC) cost, and would have cost under a draft, after refunds.

    `partners` are those that change most, at most 200; `winners` and `losers` count all. A sale that another
    partner would have is in both `lost` and `gained`. `kept` counts earnings that the terms of their day do not
    explain, such as imported ones, which stay as they are.
    """

    currency: str
    first: date
    last: date
    clicks: int
    leads: int
    sales: int
    refunds: int
    before: Figures
    after: Figures
    difference_cents: int
    winners: int
    losers: int
    partners: list[PartnerDifference]
    lost_sales: int
    lost: list[CreditDifference]
    gained_sales: int
    gained: list[CreditDifference]
    kept: int
    left_out: list[LeftOut]
