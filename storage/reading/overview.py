"""A program's overview, in one read of the database: its report, top partners, checklist and rejected calls."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from storage.reading import checklist, performance, rejected_calls
from storage.reading.checklist import ChecklistStep
from storage.reading.performance import PartnerResult, Performance
from storage.reading.rejected_calls import Cause
from storage.rules.period import DateRangeQuery, Window


class Overview(NamedTuple):
    """The data of a program's overview page; `partners` are those with the most revenue in the report's window."""

    report: Performance
    partners: list[PartnerResult]
    steps: list[ChecklistStep]
    causes: list[Cause]


def get_overview(
    connection: Connection,
    program_id: int,
    wanted: DateRangeQuery,
    *,
    at: datetime,
    base_url: str,
    before: Window | None = None,
) -> Overview:
    """Return the overview for a range, compared with the window before unless another is given.

    Raises InvalidPeriod, InvalidRange, NotFound.
    """
    report = performance.get_report(connection, program_id, wanted, at=at, before=before)
    partners = performance.by_partner(connection, program_id, report.window)
    steps = checklist.list_all_steps(connection, program_id, base_url=base_url)
    return Overview(report, partners, steps, rejected_calls.by_cause(connection, program_id))
