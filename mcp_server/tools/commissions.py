"""list_commissions and list_flags: what partners earned, and the flags that hold it."""

from mcp_server.results import BUDGET, JsonRow
from mcp_server.sanitize import row_of
from mcp_server.tools.lists import Asked, list_tool, shortened
from storage.lists import balances, flags
from storage.lists.commissions import COMMISSIONS, Commission
from storage.lists.flags import FLAGS, Flag
from storage.rules.commission import CommissionStatus
from storage.rules.scope import Scope

NOT_SHOWN = {"partner_code", "sale_id", "lead_id", "set_off_cents", "program_id"}


@list_tool("Commissions", Scope.COMMISSIONS_READ, COMMISSIONS)
def list_commissions(asked: Asked) -> JsonRow:
    """Commissions: amount_cents as earned, net_cents after refunds or rejection. pending is approved after hold_until
    (holds: how much from which day), unless a flag holds it. No transaction_id: by a lead. Paid when, and taken back
    since: paid_from, paid_to; status paid adds what was paid on each day.
    """
    connection, program_id, filters = asked.request.connection, asked.scope.program_id, asked.query.filters
    if asked.query.cursor is not None:
        return asked.page(row=_commission_row)
    if filters["status"] == CommissionStatus.PAID:
        days = balances.list_payment_days(connection, program_id)
        return asked.page(row=_commission_row, budget=BUDGET * 2 // 3, payment_days=days)
    holds = balances.next_holds(connection, program_id, filters["partner_id"], at=asked.request.at)
    return asked.page(row=_commission_row, budget=BUDGET - 1_500, holds=holds)


@list_tool("Signs of fraud", Scope.COMMISSIONS_READ, FLAGS, beside=("groups",))
def list_flags(asked: Asked) -> JsonRow:
    """Signs of fraud and possible duplicates: a finding with its customers, evidence and what it holds until a person
    dismisses (releases) or confirms (rejects) it; groups: sums by partner and kind. list_commissions takes flag_id.
    """
    if asked.query.cursor is not None:
        return asked.page(row=_flag_row)
    groups = flags.sum_by_kind(asked.request.connection, asked.scope.program_id, asked.arguments["state"])
    shown, others = shortened(groups, BUDGET // 3)
    return asked.page(row=_flag_row, budget=BUDGET * 2 // 3, groups=shown, other_groups=others)


def _commission_row(commission: Commission) -> JsonRow:
    """Return a commission with the `flags` that hold it.

    `paid_out_cents` is its payout, if it is paid, `taken_back_since_cents` what refunds took back after it.
    """
    is_paid = commission.status == CommissionStatus.PAID
    shown = row_of(commission, leave_out=NOT_SHOWN if is_paid else {*NOT_SHOWN, "paid_out_cents"})
    back = commission.paid_out_cents - commission.net_cents if is_paid else 0
    further = {"taken_back_since_cents": back, "flags": shown.pop("flags")}
    return shown | {name: each for name, each in further.items() if each}


def _flag_row(flag: Flag) -> JsonRow:
    """Return a flag, with `customer_keys` if it is about several customers."""
    return row_of(flag, leave_out={"partner_code", "program_id", *(() if flag.customers > 1 else ("customer_keys",))})
