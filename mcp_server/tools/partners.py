"""list_partners and get_partner: what partners brought, and what they are owed."""

from mcp_server.arguments import Identifier, RowId, Timestamp
from mcp_server.results import JsonRow
from mcp_server.sanitize import row_of
from mcp_server.tools.lists import Asked, list_tool
from mcp_server.tools.performance import ReportPeriod, report_range
from mcp_server.tools.tool import ToolRequest, tool
from storage.lists.balances import PartnerBalance
from storage.lists.declaration import ListScope
from storage.lists.find import get
from storage.lists.partners import FIGURES, PARTNERS, Partner, ids_of_name
from storage.reports import partner as partner_reports
from storage.rules.errors import FieldError, NotFound, ValidationError
from storage.rules.scope import Scope

NOT_SHOWN = {"email", "notes", "link", "to_pay_cents", "program_id", "balance"}


@list_tool("Partners", Scope.PARTNERS_READ, PARTNERS)
def list_partners(asked: Asked) -> JsonRow:
    """Partners (affiliates), newest first, with what each brought in the dates (the last 30 days by default) and is
    owed: pending (on hold until when, or ready), flagged, approved, paid, owed back. Their links have ?aff=code.
    """
    return asked.page(row=_listed_partner)


@tool("One partner", Scope.PARTNERS_READ, "partner")
def get_partner(
    request: ToolRequest,
    *,
    program_id: int,
    partner_id: RowId | None = None,
    partner: Identifier | None = None,
    period: ReportPeriod = ReportPeriod.THIRTY_DAYS,
    date_from: Timestamp | None = None,
    date_to: Timestamp | None = None,
) -> JsonRow:
    """One partner: a period by week, trends, refunds by month, sales and what was refunded of them since (sold),
    customers, flags, balance; holds: what can be approved from when. Give partner_id, or partner: code or name.
    """
    found = _find(request, program_id, partner_id, partner)
    query = report_range(request, period, date_from, date_to)._replace(before=None)
    report = partner_reports.read_report(request.connection, program_id, found.id, query, at=request.at)
    about = {"partner": _partner_row(found), "balance": _balance_row(found.balance), "open_flags": found.open_flags}
    return about | report._asdict()


def _find(request: ToolRequest, program_id: int, partner_id: int | None, name: str | None) -> Partner:
    """Return the one partner. Raises NotFound; ValidationError unless one argument names one partner."""
    if (partner_id is None) == (name is None):
        one = "Send partner_id or partner, not both"
        raise ValidationError(fields=[FieldError(field, one) for field in ("partner_id", "partner")])
    if partner_id is not None:
        return get(request.connection, PARTNERS, ListScope(program_id, request.at), partner_id)
    found = ids_of_name(request.connection, program_id, name or "")
    if not found:
        raise NotFound("The program has no such partner.", hint="list_partners has the names and codes.")
    if len(found) > 1:
        ids = ", ".join(map(str, found))
        raise ValidationError(fields=[FieldError("partner", f"Several partners have this name: send partner_id {ids}")])
    return get(request.connection, PARTNERS, ListScope(program_id, request.at), found[0])


def _partner_row(partner: Partner) -> JsonRow:
    """Return a partner; their links have `code` as ?aff=."""
    return row_of(partner, leave_out={*NOT_SHOWN, *FIGURES})


def _listed_partner(partner: Partner) -> JsonRow:
    """Return a partner with what they brought in the dates, and what they are owed."""
    return row_of(partner, leave_out=NOT_SHOWN) | {"balance": _balance_row(partner.balance)}


def _balance_row(balance: PartnerBalance) -> JsonRow:
    """Return a balance with what follows from its figures."""
    return row_of(balance) | {"on_hold_cents": balance.on_hold_cents, "to_pay_cents": balance.to_pay_cents}
