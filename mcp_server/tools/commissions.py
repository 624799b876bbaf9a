"""list_commissions: the commissions of partners and their status."""

from mcp_server.results import Result, RowPage, fields_of
from mcp_server.tools.lists import Asked, list_tool
from storage.lists.commissions import COMMISSIONS, Commission
from storage.rules.commission import CommissionStatus
from storage.rules.fraud.flag import FlagKind
from storage.rules.scope import Scope

NOT_SHOWN = {"partner_code", "sale_id", "lead_id", "set_off_cents", "program_id"}


@fields_of(Commission, leave_out=NOT_SHOWN)
class CommissionRow(Result):
    """A commission: `amount_cents` as earned, `net_cents` after refunds and a rejection; `flags` hold it.

    `paid_out_cents`: its payout; `taken_back_since_cents`: what refunds took back after it.
    """

    paid_out_cents: int | None = None
    taken_back_since_cents: int | None = None
    flags: list[FlagKind] | None = None


@list_tool("Commissions", Scope.COMMISSIONS_READ, COMMISSIONS)
def list_commissions(asked: Asked) -> RowPage[CommissionRow]:
    """Commissions: amount_cents as earned, net_cents after refunds or rejection. pending is approved after hold_until,
    unless a flag holds it. No transaction_id: by a lead. What was paid when, and taken back since: paid_from,
    paid_to. For sums use get_performance or get_partner.
    """
    return RowPage[CommissionRow](**asked.page(_row))


def _row(commission: Commission) -> CommissionRow:
    values = commission._asdict() | {"flags": list(commission.flags) or None}
    if commission.status == CommissionStatus.PAID:
        values["taken_back_since_cents"] = commission.paid_out_cents - commission.net_cents or None
    else:
        del values["paid_out_cents"]
    return CommissionRow(**values)
