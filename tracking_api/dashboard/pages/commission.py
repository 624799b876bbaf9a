"""One commission: its arithmetic, terms and ledger; an owner can approve it before its hold is over, with a reason."""

from starlette.responses import Response

from presentation.changes import CommissionChange, decide_commission
from presentation.settings_models import Name
from storage.lists import commissions
from storage.lists.commissions import CommissionDetails
from storage.management import commission_decisions
from storage.rules.commission import CommissionStatus, CommissionType
from storage.rules.settings import ProgramSettings
from storage.tracking.ledger import EntryKind
from tracking_api.dashboard.pages import text
from tracking_api.dashboard.pages.buttons import DECIDERS, Button, FormOutcome, FormPage
from tracking_api.dashboard.pages.page_context import PageContext

ENTRIES = {
    EntryKind.COMMISSION: "Earned",
    EntryKind.REVERSAL: "Taken back: a refund, or the customer was moved",
    EntryKind.REINSTATEMENT: "Given back: a refund or dispute was undone, or the customer was moved here",
    EntryKind.REJECTION: "Taken back: rejected",
    EntryKind.PAYOUT: "Paid out",
    EntryKind.SET_OFF: "Set off against refunds of paid commissions",
    EntryKind.ADJUSTMENT: "Adjusted",
}


class HoldOverride(CommissionChange):
    """The approval of a commission that is on hold."""

    override_hold_reason: Name


OVERRIDE = decide_commission.taking(HoldOverride)


async def _page(context: PageContext, outcome: FormOutcome) -> Response:
    commission_id = context.path_id("commission_id")
    details = await context.read(commissions.get_details, commission_id, at=context.at)
    return outcome.page(
        context,
        "commission.html",
        each=details.commission,
        details=details,
        arithmetic=_arithmetic(details),
        meanings=ENTRIES,
    )


def _arithmetic(details: CommissionDetails) -> list[tuple[str, str]]:
    """Return the steps from the sale or the lead to what the commission is worth now: titles and texts."""
    commission, sale = details.commission, details.sale
    currency = commission.currency
    earned = text.money(commission.amount_cents, currency)
    steps = [("Lead", f"{earned} for each settled lead")]
    if sale is not None:
        amount = text.money(sale.program_cents, currency)
        steps = [("Sale", text.money(sale.amount_cents, sale.currency))]
        if sale.currency != currency:
            steps.append((f"In {currency}", f"{amount}, by the exchange rate of the sale's day"))
        is_percent = details.terms.type == CommissionType.PERCENT
        basis_cents = details.terms.basis_cents(sale, sale.program_cents)
        if is_percent and basis_cents != sale.program_cents:
            amount = text.money(basis_cents, currency)
            steps.append(("Without tax and shipping", amount))
        rate = _rate(details.terms.type, details.terms.rate, currency)
        steps.append(("Earned", f"{rate} of {amount} = {earned}" if is_percent else f"{earned} for each sale"))
    taken = commission.amount_cents - commission.net_cents
    if taken:
        steps.append(("Taken back", text.money(-taken, currency)))
    return [*steps, ("Worth now", text.money(commission.net_cents, currency))]


def terms_of(settings: ProgramSettings) -> list[tuple[str, str]]:
    """Return what a program's partners earn, as pairs of a title and a text."""
    currency, months = settings.currency, settings.recurring_months
    later = "as long as they buy" if months is None else f"for {months} months after the first" if months else "none"
    return [
        ("Commission on a sale", _rate(settings.commission_type, settings.rate, currency)),
        ("On later sales of a customer", later),
        ("Commission on a lead", text.money(settings.lead_commission_cents, currency)),
        ("Smallest order that earns", text.money(settings.minimum_order_cents, currency)),
        ("Hold", f"{settings.hold_days} days"),
        ("Attribution window", f"{settings.attribution_window_days} days after the click"),
    ]


def _rate(kind: CommissionType, value: int, currency: str) -> str:
    """Return a commission rate: 20%, or an amount."""
    return text.percentage(value / 100) if kind == CommissionType.PERCENT else text.money(value, currency)


PAGE = FormPage(
    _page,
    Button(
        OVERRIDE,
        {"status": CommissionStatus.APPROVED},
        lambda call, _: f"approved.1.0.{commission_decisions.millis_of(call.at)}",
    ),
    who=DECIDERS,
)
