"""list_commissions and list_flags: what partners earned, and the signs of fraud that hold it."""

from typing import Annotated, Any

from pydantic import BeforeValidator

from mcp_server.results import Result, RowPage, compact, fields_of
from mcp_server.sanitize import Untrusted
from mcp_server.tools.lists import Asked, list_tool
from storage.lists.commissions import COMMISSIONS, Commission
from storage.lists.flags import FLAGS, Flag
from storage.rules.commission import CommissionStatus
from storage.rules.fraud.flag import FlagKind
from storage.rules.scope import Scope


@fields_of(Commission, leave_out={"partner_code", "sale_id", "lead_id", "set_off_cents", "program_id"})
class CommissionRow(Result):
    """A commission: `amount_cents` as earned, `net_cents` after refunds and a rejection; `flags` hold it.

    `paid_out_cents`: its payout; `taken_back_since_cents`: what refunds took back after it.
    """

    paid_out_cents: int | None = None
    taken_back_since_cents: int | None = None
    flags: list[FlagKind] | None = None


@fields_of(Flag, leave_out={"partner_code", "program_id"})
class FlagRow(Result):
    """A sign of fraud on a customer's commissions, or (without customer_id) on the partner's since held_from."""

    evidence: Annotated[Untrusted, BeforeValidator(compact)]


@list_tool("Commissions", Scope.COMMISSIONS_READ, COMMISSIONS)
def list_commissions(asked: Asked) -> RowPage[CommissionRow]:
    """Commissions: amount_cents as earned, net_cents after refunds or rejection. pending is approved after hold_until,
    unless a flag holds it. No transaction_id: by a lead. What was paid when, and taken back since: paid_from,
    paid_to. For sums use get_performance or get_partner.
    """
    return asked.page(CommissionRow, values=_paid)


@list_tool("Signs of fraud", Scope.COMMISSIONS_READ, FLAGS)
def list_flags(asked: Asked) -> RowPage[FlagRow]:
    """Signs of fraud, newest first, with reason and evidence. An open flag holds commissions until a person
    dismisses it (releases them) or confirms it (rejects them).
    """
    return asked.page(FlagRow)


def _paid(commission: Commission) -> dict[str, Any]:
    is_paid = commission.status == CommissionStatus.PAID
    back = {"taken_back_since_cents": commission.paid_out_cents - commission.net_cents or None}
    about = back if is_paid else {"paid_out_cents": None}
    return commission._asdict() | about | {"flags": list(commission.flags) or None}
