"""get_performance and get_breakdown: what a program did in a period, in totals or in groups; the ranges they accept."""

from collections.abc import Iterable
from functools import partial
from typing import Annotated, Any, Literal, get_args
from urllib.parse import parse_qsl

from pydantic import Field

from mcp_server.results import JsonRow, fitting, json_of
from mcp_server.tools.tool import Identifier, Limit, RowId, Timestamp, ToolRequest, tool
from storage.reports import breakdown, comparison, performance
from storage.rules.errors import InsufficientScope, InvalidPeriod, ProgramNotAllowed, ValidationError
from storage.rules.periods.period import REPORTED, DateRangeQuery, Period, calendar
from storage.rules.periods.picked_period import RUNNING, pick
from storage.rules.reports.breakdown import Dimension, GroupTotals, Metric
from storage.rules.reports.breakdown_query import query
from storage.rules.reports.metrics import Part
from storage.rules.scope import Scope

ReportPeriod = Literal["7d", "30d", "90d", "all", "this_month", "last_month", "this_quarter", "last_quarter"]


@tool("Performance", Scope.PERFORMANCE_READ, "top_partners", "other_partners", "programs")
def get_performance(
    request: ToolRequest,
    *,
    program_id: int,
    period: ReportPeriod = "7d",
    date_from: Timestamp | None = None,
    date_to: Timestamp | None = None,
    breakdown: Part = Part.NONE,
    top_partners: Annotated[int, Field(ge=0, le=20)] = 0,
    compare_with: Annotated[list[RowId], Field(min_length=1, max_length=20)] | None = None,
) -> JsonRow:
    """Return what a program did in a period and in the one before."""
    if top_partners and Scope.PARTNERS_READ not in request.key.scopes:
        raise InsufficientScope(hint="Leave top_partners out.", required_scope=Scope.PARTNERS_READ)
    reachable = request.key.program_ids
    if compare_with and reachable is not None and not set(compare_with) <= set(reachable):
        raise ProgramNotAllowed
    query = report_range(request, period, date_from, date_to)
    request.applied_query["breakdown"], compared = comparison.compare(
        request.connection,
        program_id,
        query,
        at=request.at,
        part=breakdown,
        top_partners=top_partners,
        others=compare_with or (),
        workspace_id=request.key.workspace_id,
    )
    return compared


def report_range(request: ToolRequest, period: str, *dates: str | None) -> DateRangeQuery:
    """Return the range of both dates if one is sent, else of the period, a whole month or quarter for those."""
    if any(dates):
        if not all(dates):
            raise ValidationError.of("date_from", "Send date_from and date_to together, or neither")
        request.applied_query.pop("period", None)
        return DateRangeQuery(None, dates[0], dates[1])
    if period in REPORTED:
        return DateRangeQuery(period)
    if period in {Period.THIS_MONTH, Period.THIS_QUARTER}:
        window, before = calendar(RUNNING[Period(period)], request.at)
        return window.query(before)
    return pick(DateRangeQuery(period), at=request.at)


@tool("Breakdown", Scope.PERFORMANCE_READ, "rows")
def get_breakdown(
    request: ToolRequest,
    *,
    program_id: int,
    by: Annotated[Identifier, Field(description=",".join(Dimension))],
    period: Identifier = "7d",
    compare: Identifier | None = None,
    filters: Identifier | None = None,
    metrics: Identifier | None = None,
    limit: Limit = 25,
) -> JsonRow:
    """Return a program's results in groups of one or two dimensions."""
    first, *second = _names(by) or [""]
    if len(second) > 1:
        raise ValidationError.of("by", f"One or two of {', '.join(Dimension)}")
    asked = query(first, *second, filters=_filters(filters), shown=_names(metrics), limit=limit)
    dates = _beside(request, program_id, _range(request, period), compare)
    result = breakdown.read_breakdown(request.connection, program_id, dates, asked, at=request.at)
    figures = partial(_figures, asked.metrics)
    named = ((json_of(each.values, is_untrusted=True), each) for each in result.ranked.groups)
    shown = fitting(
        [values + figures(each.totals) + (figures(each.before) if dates.before else []) for values, each in named]
    )
    groups = result.ranked.shortened(len(shown))
    sums = {"other": figures(groups.other.totals), "total": figures(groups.total.totals)}
    return {
        "columns": [*asked.by, *asked.metrics, *(f"compared_{each}" for each in asked.metrics if dates.before)],
        "untrusted": [*asked.by],
        "rows": shown,
        "sums": sums | ({"compared_total": figures(groups.total.before)} if dates.before else {}),
        **result.window._asdict(),
        "currency": result.currency,
        "other_groups": groups.other_groups,
        "compared": dates.before,
    }


def _figures(metrics: Iterable[Metric], totals: GroupTotals) -> list[Any]:
    return [totals.figure(metric) for metric in metrics]


def _names(text: str | None) -> list[str]:
    return [name for each in (text or "").split(",") if (name := each.strip())]


def _filters(text: str | None) -> dict[str, str]:
    try:
        filters = dict(parse_qsl(text or "", strict_parsing=bool(text), max_num_fields=len(Dimension)))
    except ValueError:
        filters = {"\0": ""}
    if any("\0" in each for pair in filters.items() for each in pair):  # no database compares with a NUL
        raise ValidationError.of("filters", "Dimensions with their values, such as country=DE&device=mobile")
    return filters


def _range(request: ToolRequest, period: str) -> DateRangeQuery:
    """Return the range of a period's name, or of two dates with a slash between them."""
    date_from, slash, date_to = period.partition("/")
    if slash:
        return DateRangeQuery(None, date_from, date_to)
    if period not in get_args(ReportPeriod):
        raise InvalidPeriod(hint=f"Send {', '.join(get_args(ReportPeriod))}, or 2026-01-01/2026-01-31.")
    return report_range(request, period)


def _beside(request: ToolRequest, program_id: int, dates: DateRangeQuery, compare: str | None) -> DateRangeQuery:
    """Return dates with the window to compare them with: none, the one before them, or that of another range."""
    if compare is None:
        return dates._replace(before=None)
    query = dates if compare == "previous" else _range(request, compare)
    *_, scope = performance.choose_period(request.connection, program_id, query, at=request.at)
    return dates._replace(before=(scope.compared(query) if compare == "previous" else scope).window)
