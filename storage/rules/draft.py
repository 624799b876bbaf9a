"""Draft terms: what past sales and leads would have earned under other settings, by the rules that price new ones."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from storage.rules import attribution, commission
from storage.rules.attribution import FollowedLink
from storage.rules.commission import CommissionStatus, Terms, TermsOf
from storage.rules.errors import ValidationError
from storage.rules.settings import ProgramSettings, stored

# What no one knows of the effect that a setting would have had.
UNKNOWN = {
    "attribution_model": "Links that a visitor followed are known since version 0.4.0; returns to one of them are not.",
    "cookie_window_days": "Who returned to their link, or came after their browser deleted the click, is not known.",
    "lead_auth_policy": "Which provisional leads a server would have confirmed is not known.",
    "currency": "Past sales stay in the currency in which they were recorded.",
}
FindTerms = Callable[[int | str | None], Terms]  # of a partner by id, a group by its name, or the program (None)
WIDTHS = tuple(TermsOf)  # the most specific first
_SHARED = {"platform_fee_bps", "basis"}  # with narrower terms
_TERMS = {"commission_type": "type", "commission_basis": "basis"}


class DraftChange(NamedTuple):
    """Settings as the API names them: of the program, of a partner, or of a group; a rate of None ends special terms.

    A partner's settings may have the `group` to which they move; None: in none.
    """

    settings: Mapping[str, Any]
    partner_id: int | None = None
    group: str | None = None


class DraftTerms(NamedTuple):
    """What a change sets of the program's terms, or of those of `only` one partner or group, by the names of terms.

    Special terms may end, and a partner move to the `group`, before any are set.
    """

    values: Mapping[str, Any]
    only: int | str | None
    ends: bool
    moves: bool
    group: str | None

    @property
    def whose(self) -> TermsOf:
        return (
            TermsOf.PROGRAM if self.only is None else TermsOf.GROUP if isinstance(self.only, str) else TermsOf.PARTNER
        )

    def is_about(self, partner_id: int | None, group: str | None) -> bool:
        return self.only is None or self.only in {partner_id, group}

    def replaces(self, terms: Terms) -> bool:
        """Return whether terms are no longer those of whom they apply to, but what applies to a group or to all."""
        return (self.ends and terms.whose == self.whose) or (self.moves and terms.whose != TermsOf.PARTNER)

    def change(self, terms: Terms) -> Terms:
        is_narrower = WIDTHS.index(terms.whose) < WIDTHS.index(self.whose)
        return terms._replace(**{name: self.values[name] for name in self.values if name in _SHARED or not is_narrower})


class Draft(NamedTuple):
    """The settings in force and the draft, and the stored names that its changes change, one change after another.

    `groups` has the group of each partner by id, before the changes.
    """

    current: ProgramSettings
    settings: ProgramSettings
    groups: Mapping[int | None, str | None]
    changed: frozenset[str] = frozenset()
    changes: tuple[DraftTerms, ...] = ()

    def is_about(self, partner_id: int) -> bool:
        return any(each.is_about(partner_id, self.groups.get(partner_id)) for each in self.changes)

    def terms(self, then: Terms, find: FindTerms, partner_id: int | None, group: str | None = None) -> Terms:
        """Return the terms of a day with the draft's changes, for a partner, or for a group itself.

        `find` returns those of a group, or of the program, on that day.
        """
        terms, group = then, group or self.groups.get(partner_id)
        for number, each in enumerate(self.changes):
            if each.is_about(partner_id, group):
                group = each.group if each.moves else group
                if each.replaces(terms):
                    wider = group if each.whose == TermsOf.PARTNER else None
                    terms = self._replace(changes=self.changes[:number]).terms(find(wider), find, None, wider)
                terms = each.change(terms)
        return terms

    def after(self, change: DraftChange, find: FindTerms) -> "Draft":
        """Return the draft with one more change; `find` returns the terms that apply now. Raises ValidationError."""
        of_settings, partner_id, group = dict(change.settings), change.partner_id, change.group
        only = partner_id or group
        ends, moves = of_settings.get("commission_rate", ...) is None, "group" in of_settings
        if ends and not only:
            raise ValidationError.of("commission_rate", "Enter a rate: the program's terms cannot end")
        new = DraftTerms({}, only, ends, moves, of_settings.pop("group", None))
        moved = self._replace(changes=(*self.changes, new))
        if ends or not of_settings:
            return moved
        before = moved.terms(find(only), find, partner_id, group)
        values = stored(of_settings, kind=before.type)
        if not values.keys().isdisjoint({"rate", "commission_type"}):  # a rate without its type is a number of anything
            values = {"commission_type": before.type, "rate": before.rate} | values
        named = {_TERMS.get(name, name): value for name, value in values.items()}
        of_terms = {name: named[name] for name in named.keys() & {*Terms._fields}}
        own: dict[str, Any] = {"partner_id": partner_id} if partner_id else {"group": group} if group else {}
        return self._replace(
            settings=self.settings._replace(**values),
            changed=self.changed | values.keys(),
            changes=(*self.changes, new._replace(values=of_terms | own)),
        )

    @property
    def moves_clicks(self) -> bool:
        """Whether visitors may have carried another click, or none."""
        return not self.changed.isdisjoint({"attribution_model", "cookie_window_days"})

    def credit(self, own: FollowedLink, links: Sequence[FollowedLink], came_at: datetime) -> FollowedLink | None:
        """Return the click of a visitor who followed `links`, the earliest first, until they came as a customer.

        It is their `own` if the links do not explain that: a coupon or a person may have decided, or other settings.
        None: their browser would have deleted it.
        """
        programs = (self.current, self.settings)
        now, then = (attribution.carried(links, each) for each in programs)
        if now != own or not self.is_about(own.partner_id):
            return own
        had, has = (attribution.is_within(links[-1].at, came_at, each.cookie_window_days) for each in programs)
        return then if has or not had else None

    def is_credited(self, customer: Any, click: FollowedLink | None, at: datetime) -> bool:
        """Return whether a customer who comes at a time is in time after a click; who came too late for it stays."""
        if click is None or not self.is_about(customer.partner_id):
            return click is not None
        now, then = (
            attribution.is_within(click.at, at, each.attribution_window_days) for each in (self.current, self.settings)
        )
        return then or (click.click_id == customer.click_id and not now)

    def hold_until(self, happened_at: datetime, stored_until: datetime | None) -> datetime:
        """Return until when a commission would be on hold; what the draft leaves alone stays as it is stored."""
        until = happened_at + timedelta(days=self.settings.hold_days)
        return until if stored_until is None or "hold_days" in self.changed else stored_until

    @property
    def unknown(self) -> dict[str, str]:
        """Why each of its changes that cannot be priced is left out, by the name that the API has."""
        differing = {name for name in self.changed if getattr(self.current, name) != getattr(self.settings, name)}
        return {name: why for name, why in UNKNOWN.items() if name in differing}


def of_sale(terms: Terms, sale: Any, first_purchase_at: datetime | None) -> int:
    """Return what a recorded sale earns under some terms, in cents of the program's currency, before refunds.

    `first_purchase_at` is the customer's, None for the first purchase itself.
    """
    about = {"first_purchase_at": first_purchase_at, "occurred_at": sale.occurred_at}
    return commission.on_sale(terms, sale.program_cents, terms.basis_cents(sale, sale.program_cents), **about)


def left_of(cents: int, sale: Any | None, status: str | None) -> int:
    """Return what is left of an earning after the refunds of its sale, if it has one; nothing after a rejection."""
    if status == CommissionStatus.REJECTED:
        return 0
    if sale is None or not sale.refunded_cents:
        return cents
    return commission.of_remaining(cents, sale_cents=sale.amount_cents, refunded_cents=sale.refunded_cents)
