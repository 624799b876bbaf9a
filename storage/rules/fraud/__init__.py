"""Signs of fraud: a module for each kind, which finds it in facts and says why."""

from storage.rules.fraud import (
    brand_bidding,
    click_flooding,
    cookie_stuffing,
    existing_customer,
    many_customers_one_source,
    self_referral,
    shared_click,
    unusual_conversion_rate,
    unusual_refund_rate,
)
from storage.rules.fraud.flag import FlagKind

REASONS = {
    FlagKind.SELF_REFERRAL: self_referral.REASON,
    FlagKind.MANY_CUSTOMERS_ONE_SOURCE: many_customers_one_source.REASON,
    FlagKind.CLICK_FLOODING: click_flooding.REASON,
    FlagKind.COOKIE_STUFFING: cookie_stuffing.REASON,
    FlagKind.BRAND_BIDDING: brand_bidding.REASON,
    FlagKind.UNUSUAL_CONVERSION_RATE: unusual_conversion_rate.REASON,
    FlagKind.UNUSUAL_REFUND_RATE: unusual_refund_rate.REASON,
    FlagKind.SHARED_CLICK: shared_click.REASON,
    FlagKind.EXISTING_CUSTOMER: existing_customer.REASON,
}
