"""A program's overview, in one read of the database: its results, top partners, checklist and what needs action."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from storage.lists import rejected_calls
from storage.lists.rejected_calls import Cause
from storage.management import pending_work
from storage.management.pending_work import PendingWork
from storage.reports import chart, checklist, performance
from storage.reports.chart import Results
from storage.reports.checklist import ChecklistStep
from storage.reports.performance import PartnerResult
from storage.rules.periods.period import DateRangeQuery, Window


class Overview(NamedTuple):
    """The data of a program's overview page; `partners` are those with the most revenue in the results' window."""

    results: Results
    partners: list[PartnerResult]
    steps: list[ChecklistStep]
    causes: list[Cause]
    pending: PendingWork


def read_overview(
    connection: Connection,
    program_id: int,
    wanted: DateRangeQuery,
    *,
    at: datetime,
    base_url: str,
    before: Window | None = None,
) -> Overview:
    """Return the overview for a range, compared with another. Raises InvalidPeriod, InvalidRange, NotFound."""
    found = chart.read_results(connection, program_id, wanted, at=at, before=before)
    return Overview(
        results=found,
        partners=performance.read_partners(connection, program_id, found.report.window),
        steps=checklist.list_all_steps(connection, program_id, base_url=base_url),
        causes=rejected_calls.by_cause(connection, program_id),
        pending=pending_work.get_pending_work(connection, program_id, at=at),
    )
