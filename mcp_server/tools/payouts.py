"""list_payouts and get_payout: what was paid, to whom, and who waits for what."""

from mcp_server.results import BUDGET, JsonRow, fitting, row_of, weight
from mcp_server.tools.lists import Asked, list_tool
from mcp_server.tools.tool import RowId, ToolRequest, tool
from storage.lists.declaration import MOST, ListQuery, ListScope, Order
from storage.lists.find import find, get
from storage.lists.payables import PAYABLES
from storage.lists.payouts import PAYOUT_LINES, PAYOUTS
from storage.lists.programs import read_program
from storage.rules.scope import Scope


@list_tool("Payouts", Scope.PAYOUTS_READ, PAYOUTS, "to_pay")
def list_payouts(asked: Asked) -> JsonRow:
    """Payouts, newest first: drafts, and what was sent. to_pay: who is owed most now; reason: why they are not paid."""
    connection, scope = asked.request.connection, asked.scope
    if asked.query.cursor is not None:
        return asked.page()
    due = find(connection, PAYABLES, scope, ListQuery(25, order=Order("to_pay_cents"), has_totals=True))
    owed = [row_of(each, leave_out={"created_at", "code", "minimum_cents"}) for each in due.data if each.to_pay_cents]
    shown = fitting(owed, BUDGET // 2)
    return asked.page(budget=BUDGET - sum(map(weight, shown)), to_pay=shown, to_pay_totals=due.totals)


@tool("One payout", Scope.PAYOUTS_READ, "payout", "lines")
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
