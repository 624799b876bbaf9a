"""The list of signs of fraud and of possible duplicates."""

from datetime import datetime
from typing import Annotated, Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, or_

from storage.lists.declaration import Column, Filter, List, ListScope
from storage.lists.partners import named
from storage.lists.related import of_customer, of_partner, with_key
from storage.rules.fraud.flag import REASONS, FlagKind, FlagState
from storage.rules.untrusted import Untrusted
from storage.tables import flags

_row = flags.c


class Flag(NamedTuple):
    """A sign of fraud, or a possible duplicate. A possible duplicate holds the commission of its sale.

    A sign of fraud holds the commissions of `customer_id`, or without one the partner's since `held_from`.

    `commission_id` is the first that the customer earned the partner. `evidence` depends on the kind.
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
    commission_id: int | None
    held_from: datetime
    evidence: dict[str, Any]
    decided_at: datetime | None
    decided_by: Untrusted | None
    decision_reason: Untrusted | None
    program_id: Annotated[int, Column(is_internal=True)]
    reason: str = ""


def _search(scope: ListScope, text: str) -> ColumnElement[bool]:
    return or_(_row.partner_id.in_(named(scope.program_id, text)), with_key(flags, scope.program_id, text))


def _with_reasons(_: Connection, __: ListScope, rows: list[Flag]) -> list[Flag]:
    return [row._replace(reason=REASONS[row.kind]) for row in rows]


FLAGS = List(
    "flags",
    "Review",
    "flag",
    "The signs of fraud and possible duplicates",
    Flag,
    flags,
    at=_row.created_at,
    filters=(
        Filter("state", FlagState, "open, dismissed or confirmed.", _row.state.__eq__),
        Filter("partner_id", int, "Only this partner's.", _row.partner_id.__eq__),
    ),
    finds="Partner or customer key",
    search=_search,
    finish=_with_reasons,
)
