"""A program's overview, in one crossing to the database: its report, top partners, checklist and refused calls."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from storage import checklist, performance, refused_calls
from storage.checklist import Step
from storage.performance import PartnerResult, Performance
from storage.refused_calls import Cause
from storage.rules.period import Wanted


class Overview(NamedTuple):
    """What the first page of a program shows; `partners` are those who brought most in the report's window."""

    report: Performance
    partners: list[PartnerResult]
    steps: list[Step]
    causes: list[Cause]


def read(connection: Connection, program_id: int, wanted: Wanted, *, at: datetime) -> Overview:
    """Return the overview for the range that is wanted. Raises InvalidPeriod, InvalidRange, NotFound."""
    report = performance.read(connection, program_id, wanted, at=at)
    partners = performance.by_partner(connection, program_id, report.window)
    steps, causes = checklist.read(connection, program_id), refused_calls.by_cause(connection, program_id)
    return Overview(report, partners, steps, causes)
