"""How a commission was computed, in words and amounts, and what its ledger entries mean."""

from storage.management.commission_details import CommissionDetails
from storage.rules.commission import CommissionType
from storage.tracking.ledger import EntryKind
from tracking_api.dashboard.pages import terms, text

MEANINGS = {
    EntryKind.COMMISSION: "Earned",
    EntryKind.REVERSAL: "Taken back by a refund",
    EntryKind.REINSTATEMENT: "Given back: a refund or dispute was undone",
    EntryKind.REJECTION: "Taken back: rejected",
    EntryKind.PAYOUT: "Paid out",
    EntryKind.SET_OFF: "Set off against refunds of paid commissions",
    EntryKind.ADJUSTMENT: "Adjusted",
    EntryKind.PLATFORM_FEE: "Platform fee",
    EntryKind.PLATFORM_FEE_REVERSAL: "Platform fee, taken back",
    EntryKind.PLATFORM_FEE_REINSTATEMENT: "Platform fee, given back",
}


def of(details: CommissionDetails) -> list[tuple[str, str]]:
    """Return the steps from the sale or the lead to what the commission is worth now: titles and texts."""
    commission, sale = details.commission, details.sale
    currency = commission.currency
    earned = text.money(commission.amount_cents, currency)
    steps = [("Lead", f"{earned} for each settled lead")] if sale is None else _of_sale(details, earned)
    taken = commission.amount_cents - commission.net_cents
    if taken:
        steps.append(("Taken back", text.money(-taken, currency)))
    return [*steps, ("Worth now", text.money(commission.net_cents, currency))]


def _of_sale(details: CommissionDetails, earned: str) -> list[tuple[str, str]]:
    sale, currency = details.sale, details.commission.currency
    amount = text.money(sale.program_cents, currency)
    steps = [("Sale", text.money(sale.amount_cents, sale.currency))]
    if sale.currency != currency:
        steps.append((f"In {currency}", f"{amount}, by the exchange rate of the sale's day"))
    rate = terms.rate(details.terms.type, details.terms.rate, currency)
    if details.terms.type == CommissionType.PERCENT:
        return [*steps, ("Earned", f"{rate} of {amount} = {earned}")]
    return [*steps, ("Earned", f"{earned} for each sale")]
