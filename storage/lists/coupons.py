"""The list of coupons: codes that credit a partner without a click."""

from datetime import datetime
from typing import Annotated, NamedTuple

from storage.lists.declaration import Column, Filter, List
from storage.lists.related import of_partner
from storage.rules.untrusted import Untrusted
from storage.tables import coupons

_row = coupons.c
_is_active = _row.ended_at.is_(None)


class Coupon(NamedTuple):
    """A coupon of a partner: the `coupon_code` of a sale or a lead; `active` until it is ended."""

    id: int
    created_at: Annotated[datetime, Column("Created", is_day=True)]
    partner_id: int
    partner_name: Annotated[Untrusted, Column("Partner", of_partner(coupons, "name"), sorts=True)]
    partner_code: Annotated[Untrusted, Column(sql=of_partner(coupons, "code"))]
    code: Annotated[Untrusted, Column("Coupon", sorts=True)]
    active: Annotated[bool, Column(sql=_is_active)]
    ended_at: Annotated[datetime | None, Column("Ended", is_day=True)]


COUPONS = List(
    "coupons",
    Coupon,
    coupons,
    about="The coupons of partners",
    at=_row.created_at,
    filters=(
        Filter("partner_id", int, "Only this partner's.", _row.partner_id.__eq__),
        Filter("active", bool, "Only those that credit their partner (true), or that ended.", _is_active.is_),
    ),
)
