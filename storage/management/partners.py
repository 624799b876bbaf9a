"""Partners: their enrolment in a program, changes of it, and customers who move from one to another."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, insert, select, update
from sqlalchemy.exc import IntegrityError

from storage.engine import audit, ids
from storage.engine.audit import By, Change
from storage.lists.customers import CUSTOMERS, ListedCustomer
from storage.lists.partners import PARTNERS, Partner
from storage.management import agent_caps, one_row
from storage.management.commission_decisions import Waiting, count_worth
from storage.rules.attribution import PartnerStatus, code_key
from storage.rules.commission import UNPAID, CommissionStatus, of_remaining
from storage.rules.errors import NotFound, PartnerNotFound, ValidationError, required
from storage.rules.fraud.flag import FlagState
from storage.rules.reports.metrics import Totals
from storage.rules.settlement import CustomerStatus
from storage.tables import commissions, customers, flags, partners, sales
from storage.tracking import rollups
from storage.tracking.corrections import Corrections
from storage.tracking.ledger import PARTNER_KINDS, EntryKind
from storage.tracking.rollups import Increment

TAKEN = "Another partner of this program has this code, or one that differs only in case or final punctuation"


class Past(StrEnum):
    """What becomes of a moved customer's sales and commissions so far; what is paid stays in any case."""

    STAY = "stay"
    MOVE = "move"


def enrol(
    connection: Connection,
    program_id: int,
    *,
    name: str,
    code: str,
    email: str | None = None,
    status: PartnerStatus = PartnerStatus.ACTIVE,
    joined_at: datetime | None = None,
    minimum_payout_cents: int | None = None,
    by: By,
) -> Partner:
    """Enrol a partner, who may have joined before. Raises ValidationError when the code, in any spelling, is taken."""
    enrolled = {"name": name, "email": email, "code": code, "status": status}
    [partner_id] = ids.after(by.at, 1)
    joined_at = joined_at or by.at
    row = {"program_id": program_id, "id": partner_id, "created_at": joined_at, "code_key": code_key(code)}
    row["minimum_payout_cents"] = minimum_payout_cents
    try:
        connection.execute(insert(partners).values(row | enrolled))
    except IntegrityError:
        raise ValidationError.of("code", TAKEN) from None
    rollups.add(connection, [Increment(program_id, partner_id, joined_at.date(), partners=1)])
    entry = Change("partner.enrol", partner_id, after=enrolled)
    return one_row.change(connection, PARTNERS, program_id, partner_id, entry, by=by)


def change(connection: Connection, program_id: int, partner_id: int, changes: Mapping[str, Any], *, by: By) -> Partner:
    """Change a partner and return them. Raises NotFound; ValidationError when another partner has the code."""
    before = one_row.lock(connection, PARTNERS, program_id, partner_id, at=by.at)
    values = dict(changes)
    if changes.get("code", before.code) != before.code:
        values["code_key"] = code_key(changes["code"])
    entries = audit.changed("partner.change", partner_id, before._asdict(), dict(changes))
    if not entries:
        return before
    try:
        return one_row.change(connection, PARTNERS, program_id, partner_id, *entries, by=by, **values)
    except IntegrityError:
        raise ValidationError.of("code", TAKEN) from None


def require(connection: Connection, program_id: int, partner_id: int) -> None:
    """Raise PartnerNotFound for a partner of another program."""
    mine = one_row.of(partners, program_id, partner_id)
    if connection.execute(select(partners.c.id).where(mine)).scalar() is None:
        raise PartnerNotFound("The program has no such partner.", hint="List the program's partners.")


def move_customer(
    connection: Connection, program_id: int, customer_id: int, *, partner_id: int, past: Past, reason: str, by: By
) -> ListedCustomer:
    """Move a customer to a partner, and return them; what moves with them waits for a decision again."""
    mine = one_row.of(customers, program_id, customer_id)
    locked = select(customers).where(mine).with_for_update(key_share=True)  # a sale refers to its customer at its end
    customer = required(connection.execute(locked).one_or_none(), NotFound("The program has no such customer."))
    before_id = customer.partner_id
    if partner_id == before_id:
        raise ValidationError.of("partner_id", "The customer is this partner's already")
    require(connection, program_id, partner_id)
    connection.execute(update(customers).where(mine).values(partner_id=partner_id, revision=customer.revision + 1))
    steps, cents = list(_counted(customer)), 0
    if past == Past.MOVE:
        past_steps, cents = _move_past(connection, customer, partner_id, at=by.at)
        steps += past_steps
    negated = [each._replace(**{n: -v for n, v in each._asdict().items() if n in Totals._fields}) for each in steps]
    rollups.add(connection, [*negated, *(each._replace(partner_id=partner_id) for each in steps)])
    agent_caps.count(connection, program_id, agent_caps.CREDITED, cents, by=by)
    values = {"partner_id": partner_id, "past": past, "moved_cents": cents, "reason": reason}
    change = Change("customer.move", customer_id, None, {"partner_id": before_id}, values)
    return one_row.change(connection, CUSTOMERS, program_id, customer_id, change, by=by)


def count_past(connection: Connection, program_id: int, customer_id: int) -> Waiting:
    """Return how many commissions of a customer can move with them, and what they are worth."""
    mine = (commissions.c.program_id == program_id, commissions.c.customer_id == customer_id)
    owner = select(customers.c.partner_id).where(one_row.of(customers, program_id, customer_id))
    theirs = commissions.c.partner_id == owner.scalar_subquery()
    return count_worth(connection, *mine, theirs, commissions.c.status.in_(UNPAID))


def _counted(customer: Any) -> Iterator[Increment]:
    """Yield what a customer's own lead and first purchase count for."""
    mine = (customer.program_id, customer.partner_id)
    if customer.signup_at and customer.status != CustomerStatus.PROVISIONAL:
        yield Increment(*mine, customer.signup_at.date(), leads=1)
    if customer.first_purchase_at:
        yield Increment(*mine, customer.first_purchase_at.date(), conversions=1)


def _move_past(connection: Connection, customer: Any, partner_id: int, *, at: datetime) -> tuple[list[Increment], int]:
    """Move what is not paid; return what it counts for, and what the commissions are worth."""
    sale, row, flag = sales.c, commissions.c, flags.c

    def theirs(table: Any) -> ColumnElement[bool]:
        mine = (table.program_id == customer.program_id, table.partner_id == customer.partner_id)
        return and_(*mine, table.customer_id == customer.id)

    moved_ids = {"partner_id": partner_id}
    again = {"status": CommissionStatus.PENDING, "approved_by_key_id": None}
    connection.execute(update(flags).where(theirs(flag), flag.state == FlagState.OPEN).values(moved_ids))
    paid = select(row.id).where(theirs(row), row.status == CommissionStatus.PAID, row.sale_id == sale.id)
    unpaid = select(sales).where(theirs(sale), ~paid.exists())
    sold = connection.execute(unpaid.order_by(sale.transaction_id).with_for_update()).all()
    earned = select(commissions).where(theirs(row), row.status != CommissionStatus.PAID)
    found = connection.execute(earned.order_by(row.id).with_for_update()).all()
    steps = list[Increment]()
    corrections = Corrections(connection, found)
    cents = 0
    for each in sold:
        net = of_remaining(each.program_cents, sale_cents=each.amount_cents, refunded_cents=each.refunded_cents)
        of_day = (each.program_id, each.partner_id, each.occurred_at.date())
        steps.append(Increment(*of_day, sales=int(each.refunded_cents != each.amount_cents), revenue_cents=net))
    for each in found:
        net = corrections.net(each, PARTNER_KINDS)
        corrections.append(each, EntryKind.REVERSAL, -net, corrects=EntryKind.COMMISSION)
        corrections.append(each, EntryKind.REINSTATEMENT, net, corrects=EntryKind.COMMISSION, partner_id=partner_id)
        steps.append(Increment(each.program_id, each.partner_id, each.created_at.date(), commission_cents=net))
        cents += net
    corrections.save(at=at)
    mine = and_(row.program_id == customer.program_id, row.id.in_([each.id for each in found]))
    connection.execute(update(commissions).where(mine, row.status == CommissionStatus.APPROVED).values(again))
    connection.execute(update(commissions).where(mine).values(moved_ids))
    of_sales = (sale.program_id == customer.program_id, sale.id.in_([each.id for each in sold]))
    connection.execute(update(sales).where(*of_sales).values(moved_ids))
    return steps, cents
