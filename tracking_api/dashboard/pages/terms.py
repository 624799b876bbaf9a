"""A program's commission terms in words, for pages that are not about the settings."""

from storage.rules.commission import CommissionType
from storage.rules.settings import ProgramSettings
from tracking_api.dashboard.pages import text


def of(settings: ProgramSettings) -> list[tuple[str, str]]:
    """Return what a program's partners earn, as pairs of a title and a text."""
    currency, months = settings.currency, settings.recurring_months
    later = "as long as they buy" if months is None else f"for {months} months after the first" if months else "none"
    return [
        ("Commission on a sale", rate(settings.commission_type, settings.rate, currency)),
        ("On later sales of a customer", later),
        ("Commission on a lead", text.money(settings.lead_commission_cents, currency)),
        ("Smallest order that earns", text.money(settings.minimum_order_cents, currency)),
        ("Hold", f"{settings.hold_days} days"),
        ("Attribution window", f"{settings.attribution_window_days} days after the click"),
    ]


def rate(kind: CommissionType, value: int, currency: str) -> str:
    """Return a commission rate: 20%, or an amount."""
    return text.percentage(value / 100) if kind == CommissionType.PERCENT else text.money(value, currency)
