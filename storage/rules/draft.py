"""Draft terms: what past sales and leads would have earned under other settings, by the rules that price new ones."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from storage.rules import attribution, commission
from storage.rules.commission import CommissionStatus, Terms, TermsOf
from storage.rules.settings import ProgramSettings, stored

# Settings whose effect on the past cannot be read from what is stored, and why.
UNKNOWN = {
    "attribution_model": "Which earlier links a visitor had followed is not stored.",
    "cookie_window_days": "Which visitors came without the click that their browser no longer had is not stored.",
    "lead_auth_policy": "Which provisional leads a server would have confirmed is not known.",
    "currency": "Past sales stay in the currency in which they were recorded.",
}
WIDTHS = tuple(TermsOf)  # the most specific first
_TERMS = {"commission_type": "type", "rate": "rate", "commission_basis": "basis"}


class Draft(NamedTuple):
    """The settings in force and the draft, the stored names that it changes, and its partners, by id (None: all)."""

    current: ProgramSettings
    settings: ProgramSettings
    changed: frozenset[str]
    partners: frozenset[int] | None = None
    whose: TermsOf = TermsOf.PROGRAM

    def is_about(self, partner_id: int) -> bool:
        return self.partners is None or partner_id in self.partners

    def terms(self, then: Terms, partner_id: int) -> Terms:
        """Return the terms of a day with the draft's changes, which apply to its partners."""
        names = {_TERMS.get(name, name): name for name in self.changed}
        if not self.is_about(partner_id):
            return then
        if WIDTHS.index(then.whose) < WIDTHS.index(self.whose):  # narrower terms share no more with wider ones
            names = {name: names[name] for name in names.keys() & {"platform_fee_bps", "basis"}}
        return then._replace(**{name: getattr(self.settings, names[name]) for name in names.keys() & set(then._fields)})

    def loses_credit(self, partner_id: int, clicked_at: datetime, at: datetime) -> bool:
        """Return whether a partner's customer who came in time after their click would have come too late."""
        if not self.is_about(partner_id):
            return False
        now, draft = (each.attribution_window_days for each in (self.current, self.settings))
        within = attribution.is_within(clicked_at, at, draft)
        return draft < now and not within and attribution.is_within(clicked_at, at, now)

    def hold_until(self, happened_at: datetime, stored_until: datetime | None) -> datetime:
        """Return until when a commission would be on hold; what the draft leaves alone stays as it is stored."""
        until = happened_at + timedelta(days=self.settings.hold_days)
        return until if stored_until is None or "hold_days" in self.changed else stored_until

    @property
    def unknown(self) -> dict[str, str]:
        """Why each of its changes that cannot be priced is left out, by the name that the API has."""
        differing = {name for name in self.changed if getattr(self.current, name) != getattr(self.settings, name)}
        return {name: why for name, why in UNKNOWN.items() if name in differing}


class Sold(NamedTuple):
    """A recorded sale with its customer's first purchase before it (None: it is the first), in minor units."""

    amount_cents: int
    program_cents: int
    tax_cents: int
    shipping_cents: int
    refunded_cents: int
    occurred_at: datetime
    first_purchase_at: datetime | None


def draft_of(
    current: ProgramSettings, changes: Mapping[str, Any], partners: frozenset[int] | None, whose: TermsOf
) -> Draft:
    """Return the draft that changes, as the API names them, make of the settings in force. Raises ValidationError."""
    values = stored(changes, kind=current.commission_type)
    if not values.keys().isdisjoint({"rate", "commission_type"}):  # a rate without its type is a number of anything
        values = {"commission_type": current.commission_type, "rate": current.rate} | values
    return Draft(current, current._replace(**values), frozenset(values), partners, whose)


def of_sale(terms: Terms, sale: Sold) -> int:
    """Return what a sale earns under some terms, in cents of the program's currency, before refunds."""
    basis_cents = terms.basis_cents(sale, sale.program_cents)
    first, at = sale.first_purchase_at, sale.occurred_at
    return commission.on_sale(terms, sale.program_cents, basis_cents, first_purchase_at=first, occurred_at=at)


def left_of(cents: int, sale: Sold | None, status: str | None) -> int:
    """Return what is left of an earning after refunds; nothing after a rejection."""
    if status == CommissionStatus.REJECTED:
        return 0
    if sale is None or not sale.refunded_cents:
        return cents
    return commission.of_remaining(cents, sale_cents=sale.amount_cents, refunded_cents=sale.refunded_cents)
