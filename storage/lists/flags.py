"""The list of signs of fraud and of possible duplicates."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, NamedTuple

from sqlalchemy import Connection, and_, func, or_, select, true

from storage.lists.commissions import net_cents
from storage.lists.declaration import Column, Filter, List, ListScope
from storage.lists.held import concerned, holds, is_first, of_one_finding
from storage.lists.partners import named as partners_named
from storage.lists.related import of_customer, of_partner, with_key
from storage.rules.commission import UNPAID
from storage.rules.fraud.flag import REASONS, FlagKind, FlagState
from storage.rules.untrusted import Untrusted, UntrustedValues
from storage.tables import commissions, customers, flags, partners

MOST_KEYS = 10
MOST_MEMBERS = 5_000
_row, _members = flags.c, flags.alias("member")
_member = _members.c
_counted = select(func.count(_member.customer_id.distinct())).where(of_one_finding(_member, _row))
_customers = _counted.correlate(flags).scalar_subquery()


class Flag(NamedTuple):
    """A sign of fraud about `customers`, or without any about a partner since `held_from`; or a possible duplicate.

    It keeps `commissions`, worth `held_cents` of the program's currency, from approval and payment; a possible
    duplicate, that of its sale alone. `customer_keys` are those of the first ten customers, `customer_id` is the first,
    and `commission_id` the first that this customer earned the partner. `evidence` depends on the kind.
    """

    id: int
    created_at: datetime
    kind: Annotated[FlagKind, Column("Kind", sorts=True)]
    state: FlagState
    partner_id: int
    partner_name: Annotated[Untrusted, Column("Partner", of_partner(flags, "name"), sorts=True)]
    partner_code: Annotated[Untrusted, Column(sql=of_partner(flags, "code"))]
    customer_id: int | None
    customer_key: Annotated[Untrusted | None, Column("Customer key", of_customer(flags, "customer_key"), sorts=True)]
    customers: Annotated[int, Column("Customers", _customers)]
    commission_id: int | None
    held_from: datetime
    evidence: UntrustedValues
    decided_at: datetime | None
    decided_by: Untrusted | None
    decision_reason: Untrusted | None
    program_id: Annotated[int, Column(is_internal=True)]
    reason: str = ""
    customer_keys: Sequence[Untrusted] = ()
    commissions: int = 0
    held_cents: int = 0


class FlagGroup(NamedTuple):
    """The flags of a kind about a partner, and what they hold, in cents of the program's currency."""

    partner_id: int
    partner_name: Untrusted
    kind: FlagKind
    flags: int
    customers: int
    commissions: int
    held_cents: int


def _finish(connection: Connection, scope: ListScope, rows: list[Flag]) -> list[Flag]:
    """Add the reasons, the customers of those flags that have several, and what each holds."""
    mine = (_row.program_id == scope.program_id, _row.id.in_([row.id for row in rows]))
    findings = flags.join(_members, of_one_finding(_member, _row))
    theirs = and_(customers.c.program_id == _member.program_id, customers.c.id == _member.customer_id)
    named = select(_row.id, customers.c.customer_key).select_from(findings.join(customers, theirs)).where(*mine)
    keys = defaultdict[int, list[str]](list)
    for flag_id, key in connection.execute(named.order_by(_member.id).limit(MOST_MEMBERS)):
        keys[flag_id] += [key] if key is not None and len(keys[flag_id]) < MOST_KEYS else []
    held = findings.join(commissions, and_(concerned(_member), holds(_member), commissions.c.status.in_(UNPAID)))
    worth = select(_row.id, func.count(), func.sum(net_cents())).select_from(held).where(*mine).group_by(_row.id)
    sums = {flag_id: (count, int(cents)) for flag_id, count, cents in connection.execute(worth)}
    return [
        row._replace(reason=REASONS[row.kind], customer_keys=keys[row.id], commissions=count, held_cents=cents)
        for row in rows
        for count, cents in (sums.get(row.id, (0, 0)),)
    ]


FLAGS = List(
    "flags",
    Flag,
    flags,
    title="Review",
    about="The signs of fraud and possible duplicates",
    at=_row.created_at,
    filters=(
        Filter("state", FlagState, "open, dismissed or confirmed.", _row.state.__eq__),
        Filter("partner_id", int, "Only this partner's.", _row.partner_id.__eq__),
    ),
    finds="Partner or customer key",
    search=lambda scope, text: or_(
        _row.partner_id.in_(partners_named(scope.program_id, text)), with_key(flags, scope.program_id, text)
    ),
    only=is_first(),
    finish=_finish,
)


def sum_by_kind(connection: Connection, program_id: int, state: FlagState | None) -> list[FlagGroup]:
    """Return the flags in a state (None: in any) by partner and kind, those that hold most first."""
    mine = (_row.program_id == program_id, true() if state is None else _row.state == state)
    counts = (func.count().filter(is_first()), func.count(_row.customer_id.distinct()))
    named = (_row.partner_id, partners.c.name, _row.kind)
    theirs = and_(partners.c.program_id == _row.program_id, partners.c.id == _row.partner_id)
    counted = select(*named, *counts).select_from(flags.join(partners, theirs)).where(*mine).group_by(*named)
    each = select(_row.partner_id, _row.kind, commissions.c.id, net_cents().label("cents"))
    once = each.where(*mine, holds(), concerned(), commissions.c.status.in_(UNPAID)).distinct().subquery().c
    summed = select(once.partner_id, once.kind, func.count(), func.sum(once.cents))
    held = connection.execute(summed.group_by(once.partner_id, once.kind))
    sums = {(partner_id, kind): (number, int(cents)) for partner_id, kind, number, cents in held}
    rows = connection.execute(counted).all()
    groups = [FlagGroup._make([*row, *sums.get((row.partner_id, row.kind), (0, 0))]) for row in rows]
    return sorted(groups, key=lambda group: (-group.held_cents, group.partner_id, group.kind))
