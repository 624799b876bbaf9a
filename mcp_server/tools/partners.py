"""Partners, their commissions and signs of fraud, and payouts: what they brought, earned, are owed and were paid."""

from mcp_server.results import BUDGET, JsonRow, fitting, row_of, weight
from mcp_server.tools.lists import Asked, list_tool, shortened
from mcp_server.tools.reports import ReportPeriod, report_range
from mcp_server.tools.tool import Identifier, RowId, Timestamp, ToolRequest, tool
from storage.lists import balances, flags
from storage.lists.commissions import COMMISSIONS, Commission
from storage.lists.declaration import MOST, ListQuery, ListScope, Order
from storage.lists.find import find, get
from storage.lists.partners import FIGURES, PARTNERS, ids_of_name
from storage.lists.payables import PAYABLES
from storage.lists.payouts import PAYOUT_LINES, PAYOUTS
from storage.lists.programs import read_program
from storage.reports import chart
from storage.rules.commission import CommissionStatus
from storage.rules.errors import FieldError, NotFound, ValidationError
from storage.rules.scope import Scope

OF_PROFILE = {"email", "notes", "link", "to_pay_cents", "program_id"}


@list_tool("Partners", Scope.PARTNERS_READ, PARTNERS)
def list_partners(asked: Asked) -> JsonRow:
    """Return partners, with what each brought and is owed."""
    return asked.page(leave_out=OF_PROFILE)


@tool("Partner", Scope.PARTNERS_READ, "partner")
def get_partner(
    request: ToolRequest,
    *,
    program_id: int,
    partner_id: RowId | None = None,
    partner: Identifier | None = None,
    period: ReportPeriod = "30d",
    date_from: Timestamp | None = None,
    date_to: Timestamp | None = None,
) -> JsonRow:
    """Return one partner in a period."""
    if (partner_id is None) == (partner is None):
        one = "Send partner_id or partner, not both"
        raise ValidationError(fields=[FieldError(field, one) for field in ("partner_id", "partner")])
    ids = [partner_id] if partner_id else ids_of_name(request.connection, program_id, partner or "")
    if not ids:
        raise NotFound("The program has no such partner.", hint="list_partners has the names and codes.")
    if len(ids) > 1:
        several = f"Several partners have this name: send partner_id {', '.join(map(str, ids))}"
        raise ValidationError.of("partner", several)
    found = get(request.connection, PARTNERS, ListScope(program_id, request.at), ids[0])
    query = report_range(request, period, date_from, date_to)._replace(before=None)
    report = chart.read_report(request.connection, program_id, found.id, query, at=request.at)
    shown = row_of(found, leave_out={*OF_PROFILE, *FIGURES, "balance"})
    return {"partner": shown, "balance": found.balance, "open_flags": found.open_flags} | report


NOT_SHOWN = {"partner_code", "sale_id", "lead_id", "set_off_cents", "program_id", "waits"}


@list_tool("Commissions", Scope.COMMISSIONS_READ, COMMISSIONS)
def list_commissions(asked: Asked) -> JsonRow:
    """Return commissions; on the first page, also when the next can be approved, or were paid."""
    connection, program_id, filters = asked.request.connection, asked.scope.program_id, asked.query.filters
    if asked.query.cursor is not None:
        return asked.page(row=_commission_row)
    if filters["status"] == CommissionStatus.PAID:
        days = balances.list_payment_days(connection, program_id)
        return asked.page(row=_commission_row, budget=BUDGET * 2 // 3, payment_days=days)
    holds = balances.next_holds(connection, program_id, filters["partner_id"], at=asked.request.at)
    return asked.page(row=_commission_row, budget=BUDGET - 1_500, holds=holds)


@list_tool("Flags", Scope.COMMISSIONS_READ, flags.FLAGS, "groups")
def list_flags(asked: Asked) -> JsonRow:
    """Return signs of fraud; on the first page, also their sums by partner and kind."""
    if asked.query.cursor is not None:
        return asked.page(row=_flag_row)
    groups = flags.sum_by_kind(asked.request.connection, asked.scope.program_id, asked.arguments["state"])
    shown, others = shortened(groups, BUDGET // 3)
    return asked.page(row=_flag_row, budget=BUDGET * 2 // 3, groups=shown, other_groups=others)


def _commission_row(commission: Commission) -> JsonRow:
    """Return a commission with the `flags` that hold it, and what refunds took back after its payout."""
    is_paid = commission.status == CommissionStatus.PAID
    shown = row_of(commission, leave_out=NOT_SHOWN if is_paid else {*NOT_SHOWN, "paid_out_cents"})
    back = commission.paid_out_cents - commission.net_cents if is_paid else 0
    further = {"taken_back_since_cents": back, "flags": shown.pop("flags")}
    return shown | {name: each for name, each in further.items() if each}


def _flag_row(flag: flags.Flag) -> JsonRow:
    return row_of(flag, leave_out={"partner_code", "program_id", *(() if flag.customers > 1 else ("customer_keys",))})


@list_tool("Payouts", Scope.PAYOUTS_READ, PAYOUTS, "to_pay")
def list_payouts(asked: Asked) -> JsonRow:
    """Return payouts; on the first page, also who is owed most now."""
    connection, scope = asked.request.connection, asked.scope
    if asked.query.cursor is not None:
        return asked.page()
    due = find(connection, PAYABLES, scope, ListQuery(25, order=Order("to_pay_cents"), has_totals=True))
    owed = [row_of(each, leave_out={"created_at", "code", "minimum_cents"}) for each in due.data if each.to_pay_cents]
    shown = fitting(owed, BUDGET // 2)
    return asked.page(budget=BUDGET - sum(map(weight, shown)), to_pay=shown, to_pay_totals=due.totals)


@tool("Payout", Scope.PAYOUTS_READ, "payout", "lines")
def get_payout(request: ToolRequest, *, program_id: int, payout_id: RowId | None = None) -> JsonRow:
    """Return a payout, with a line for each partner."""
    scope = ListScope(program_id, request.at)
    if payout_id is None:
        newest = find(request.connection, PAYOUTS, scope, ListQuery(1)).data
        if not newest:
            return {"lines": []}
        payout_id = newest[0].id
    payout = get(request.connection, PAYOUTS, scope, payout_id)
    query = ListQuery(MOST, order=Order("to_pay_cents"), filters={"payout_id": payout_id})
    found = find(request.connection, PAYOUT_LINES, scope, query)
    rows = [row_of(each, leave_out={"created_at", "payout_id", "paid_on", "reference"}) for each in found.data]
    shown = fitting(rows, BUDGET // 2)
    return {
        "payout": row_of(payout),
        "currency": read_program(request.connection, program_id).settings.currency,
        "lines": shown,
        "truncated": found.next_cursor is not None or len(shown) < len(rows),
    }
