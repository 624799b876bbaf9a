"""get_performance: what a program did in a period, in totals and trends; rows on request."""

from typing import Annotated

from pydantic import Field

from mcp_server.arguments import RowId, Timestamp
from mcp_server.tools.report import ReportPeriod, report_range
from mcp_server.tools.tool import ToolRequest, tool
from storage.reports import comparison
from storage.reports.comparison import PerformanceReport
from storage.rules.errors import InsufficientScope, ProgramNotAllowed
from storage.rules.reports.metrics import Part
from storage.rules.scope import Scope


@tool("Performance", Scope.PERFORMANCE_READ)
def get_performance(
    request: ToolRequest,
    *,
    program_id: int,
    period: ReportPeriod = ReportPeriod.SEVEN_DAYS,
    date_from: Timestamp | None = None,
    date_to: Timestamp | None = None,
    breakdown: Part = Part.NONE,
    top_partners: Annotated[int, Field(ge=0, le=20)] = 0,
    compare_with: Annotated[list[RowId], Field(min_length=1, max_length=20)] | None = None,
) -> PerformanceReport:
    """Clicks, leads, conversions (first purchases), sales, revenue, commission (by leads, by sales), refunds and ratios
    of a period (or date_from to date_to, UTC days) and of the one before; compare_with adds programs by id. breakdown
    adds rows; top_partners (partners:read) the best by revenue.
    """
    if top_partners and Scope.PARTNERS_READ not in request.key.scopes:
        raise InsufficientScope(hint="Leave top_partners out.", required_scope=Scope.PARTNERS_READ)
    reachable = request.key.program_ids
    if compare_with and reachable is not None and not set(compare_with) <= set(reachable):
        raise ProgramNotAllowed
    query, before = report_range(request, period, date_from, date_to)
    request.applied_query["breakdown"], compared = comparison.compare(
        request.connection,
        program_id,
        query,
        at=request.at,
        before=before,
        part=breakdown,
        top_partners=top_partners,
        others=compare_with or (),
        workspace_id=request.key.workspace_id,
    )
    return compared
