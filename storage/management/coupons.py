"""Coupons of partners: created with a code that no other coupon of the program has or had, and ended."""

from sqlalchemy import Connection, insert, update
from sqlalchemy.exc import IntegrityError

from storage.engine import audit, ids
from storage.lists.coupons import COUPONS, Coupon
from storage.management import one_row, partners
from storage.rules.attribution import code_key
from storage.rules.errors import ValidationError
from storage.tables import coupons

TAKEN = "Another coupon of this program has or had this code, or one that differs only in case or final punctuation"


def create(connection: Connection, program_id: int, *, partner_id: int, code: str, by: audit.By) -> Coupon:
    """Create a coupon of a partner. Raises PartnerNotFound; ValidationError if the code, in any spelling, is taken."""
    partners.require(connection, program_id, partner_id)
    [coupon_id] = ids.after(by.at, 1)
    row = {"program_id": program_id, "id": coupon_id, "partner_id": partner_id, "created_at": by.at}
    try:
        connection.execute(insert(coupons).values(row | {"code": code, "code_key": code_key(code)}))
    except IntegrityError:
        raise ValidationError.of("code", TAKEN) from None
    change = audit.Change("coupon.create", coupon_id, after={"partner_id": partner_id, "code": code})
    return one_row.change(connection, COUPONS, program_id, coupon_id, change, by=by)


def end(connection: Connection, program_id: int, coupon_id: int, *, by: audit.By) -> Coupon:
    """End a coupon, from whose end on it credits no one; its earlier customers stay. Raises NotFound."""
    mine = (one_row.of(coupons, program_id, coupon_id), coupons.c.ended_at.is_(None))
    ended = connection.execute(update(coupons).where(*mine).values(ended_at=by.at).returning(coupons.c.code)).scalars()
    changes = [audit.Change("coupon.end", coupon_id, before=code) for code in ended]
    return one_row.change(connection, COUPONS, program_id, coupon_id, *changes, by=by)
