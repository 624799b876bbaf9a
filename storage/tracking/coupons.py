"""Coupons: a code that a customer enters credits its partner, where no click does or where the program prefers it."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Connection

from storage.engine import ids
from storage.engine.statements import Statement
from storage.rules import attribution
from storage.rules.attribution import CouponWins, PartnerStatus
from storage.rules.commission import terms_of_text
from storage.tables.columns import from_millis
from storage.tracking import clicks
from storage.tracking.customers import Customer, NamedCustomers, Registry
from storage.tracking.program_terms import ProgramTerms
from storage.tracking.rollups import Increment

_find = Statement("coupon_lookup")
_move = Statement("customer_move")


class Coupons:
    """The coupons that a batch of calls names, and the customers whom they credit to their partners."""

    def __init__(
        self, connection: Connection, batch: Iterable[tuple[ProgramTerms, Any]], *, of_leads: bool = False
    ) -> None:
        named = {(program.id, attribution.code_key(call.coupon_code)) for program, call in batch if call.coupon_code}
        rows = _find(connection, sorted(named)) if named else ()
        self._found: dict[tuple[int, str], Any] = {(row.program_id, row.code_key): row for row in rows}
        self._of_leads = of_leads
        self._before: dict[tuple[int, str], Customer] = {}  # those who were another partner's, by click
        self._clicks: dict[str, tuple[clicks.Click, int]] = {}  # for which coupons stand, with their partners

    def find(self, program_id: int, code: str | None, at: datetime) -> Any:
        """Return the row of the coupon with a code, in any spelling; None without one, or if it had ended by then."""
        row = self._found.get((program_id, attribution.code_key(code))) if code else None
        return None if row is None or (row.ended_at is not None and from_millis(row.ended_at) <= at) else row

    def name(self, registry: Registry, program: ProgramTerms, call: Any, at: datetime) -> NamedCustomers:
        """Return the customers whom a call names, as its coupon credits them; a new one if it names none."""
        clicked, holder = registry.named(program.id, call)
        coupon = self.find(program.id, call.coupon_code, at)
        if coupon is None:
            pass
        elif clicked is None and holder is None:
            clicked = self._new(registry, coupon, at)
        elif holder is None or (clicked is not None and (holder.is_claimed or holder.id == clicked.id)):
            credited = self._credited(coupon, cast("Customer", clicked), program, at)
            clicked, holder = credited, credited if holder is not None and holder.id == credited.id else holder
        else:
            holder = self._credited(coupon, holder, program, at)
        return clicked, holder

    def save(self, connection: Connection, customers: Sequence[Customer]) -> list[Increment]:
        """Store what coupons did to these customers, who are saved; return what it adds to the daily totals."""
        drawn = [self._clicks[each.click_id] for each in customers if each.click_id in self._clicks]
        clicks.stand_in(connection, list(dict.fromkeys(drawn)), why=attribution.COUPON)
        saved = {(each.program_id, each.click_id): each for each in customers}
        both = [(before, saved[key]) for key, before in self._before.items() if key in saved]
        moved = [(before, after) for before, after in both if before.partner_id != after.partner_id]
        if rows := sorted(
            (after.program_id, after.id, after.partner_id) for before, after in moved if not before.is_new
        ):
            _move(connection, rows)
        return [
            Increment(after.program_id, partner_id, before.signup_at.date(), leads=leads)
            for before, after in moved
            if before.signup_at is not None
            for partner_id, leads in ((before.partner_id, -1), (after.partner_id, 1))
        ]

    def _new(self, registry: Registry, coupon: Any, at: datetime) -> Customer:
        """Return a new customer of the coupon's partner, behind a click for which the coupon stands."""
        click = clicks.unseen(coupon.program_id, attribution.site_url(coupon.domain), at)
        who = (coupon.program_id, ids.after(at, 1)[0], coupon.partner_id, click.click_id, at, at)
        terms = terms_of_text(coupon.partner_terms)
        customer = Customer(PartnerStatus.ACTIVE, terms, *who, confirmed=True)  # no browser named them
        self._clicks[click.click_id] = (click, coupon.partner_id)
        registry.remember(customer)
        return customer

    def _credited(self, coupon: Any, customer: Customer, program: ProgramTerms, at: datetime) -> Customer:
        """Return the customer as the coupon leaves them: its partner's, unless they have bought or the click stands."""
        in_time = customer.is_in_time(at, program.attribution_window_days)
        stands = in_time and customer.partner_status != PartnerStatus.INACTIVE
        is_decided = customer.first_purchase_at is not None or (self._of_leads and customer.signup_at is not None)
        if is_decided or (stands and coupon.coupon_wins == CouponWins.CLICK):
            return customer
        self._before.setdefault((customer.program_id, customer.click_id), customer)
        partner: Any = {"partner_id": coupon.partner_id, "partner_terms": terms_of_text(coupon.partner_terms)}
        return customer._replace(partner_status=PartnerStatus.ACTIVE, clicked_at=at, **partner)
