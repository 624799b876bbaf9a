"""An unusual refund rate: the customers of one partner send back far more than those of the others."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from storage.rules.fraud.facts import PartnerCounts, about_partner
from storage.rules.fraud.flag import Finding, FlagKind

REASON = "The partner's share of refunded sales is far above that of the program's other partners."
FEWEST_REFUNDED = 5
LEAST_SHARE = 0.3
TIMES_MORE = 4
FEWEST_OTHER_SALES = 20


def find(partners: Sequence[PartnerCounts], start: datetime, *, period: str) -> Iterator[Finding]:
    """Yield the partners with such a rate."""
    sales = sum(each.sales for each in partners)
    refunded = sum(each.refunded_sales for each in partners)
    for partner in partners:
        others_sales, others_refunded = sales - partner.sales, refunded - partner.refunded_sales
        if others_sales < FEWEST_OTHER_SALES or partner.refunded_sales < FEWEST_REFUNDED:
            continue
        rate = partner.refunded_sales / partner.sales
        if rate >= max(LEAST_SHARE, TIMES_MORE * others_refunded / others_sales):
            evidence = {
                "sales": partner.sales,
                "refunded_sales": partner.refunded_sales,
                "others_sales": others_sales,
                "others_refunded_sales": others_refunded,
            }
            yield about_partner(FlagKind.UNUSUAL_REFUND_RATE, partner.partner_id, start, evidence, period=period)
