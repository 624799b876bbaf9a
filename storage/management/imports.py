"""Imports what another tool has exported: partners, their customers, and the commissions that they earned."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from operator import itemgetter

from sqlalchemy import Connection, func, select

from storage.engine import audit
from storage.engine.audit import Actor
from storage.management import import_undo
from storage.management.import_report import Importing, ImportReport, OnConflict, Totals
from storage.management.imported_events import ImportedEvents
from storage.management.imported_partners import ImportedPartners
from storage.rules import tool_exports
from storage.rules.attribution import site_url
from storage.rules.errors import ValidationError
from storage.rules.tool_exports import FileKind, ImportFile, ImportLine
from storage.tables import commissions, programs
from storage.tracking import currencies, program_terms, rollups

ASK_UNIT = "the amounts are whole numbers: say whether they count units or cents"


def run(
    connection: Connection,
    program_id: int,
    files: Sequence[ImportFile],
    *,
    on_conflict: OnConflict = OnConflict.STOP,
    dry_run: bool,
    actor: Actor,
    at: datetime,
) -> ImportReport:
    """Import files and return the report; a dry run and undecided conflicts undo everything.

    What is there is not changed. Raises ValidationError if what is stored does not add up to what the files say.
    """
    program = program_terms.load_one(connection, program_id)
    row = select(programs.c.sandbox_of.is_not(None), programs.c.domain).where(programs.c.id == program_id)
    is_sandbox, domain = connection.execute(row).one()
    report = ImportReport(program.currency)
    work = Importing(connection, program, on_conflict, actor, at, report, bool(is_sandbox), site_url(domain))
    before = _totals(connection, program_id)
    with connection.begin_nested() as everything, rollups.gathered(connection) as steps:
        _add(work, [line for kind in FileKind for file in files if file.kind == kind for line in _lines(work, file)])
        if _totals(connection, program_id) - before != work.expected:
            raise ValidationError("Nothing is imported: what was stored does not add up to what the files say.")
        if dry_run or report.is_stopped:
            steps.clear()
            everything.rollback()
        else:
            imported = audit.Change("program.import", None, after=report.logged())
            audit.write(connection, program_id, [imported], actor=actor, at=at)
            report.import_id = import_undo.save(connection, program_id, work.ids, steps, at=at)
    report.problems.sort(key=itemgetter("file", "line"))
    return report


def _totals(connection: Connection, program_id: int) -> Totals:
    row = commissions.c
    sums = select(row.partner_id, row.status, func.count(), func.sum(row.amount_cents)).where(
        row.program_id == program_id
    )
    totals: Totals = Counter()
    for partner_id, status, count, cents in connection.execute(sums.group_by(row.partner_id, row.status)):
        totals[partner_id, status, "commissions"], totals[partner_id, status, "cents"] = count, int(cents)
    return totals


def _lines(work: Importing, file: ImportFile) -> Iterator[ImportLine]:
    """Yield the lines of a file, and report those that cannot be read."""
    currency, latest = work.program.currency, work.at + timedelta(days=1)  # without a zone, a day may begin elsewhere
    if file.unit is None:
        work.report.is_stopped = True
        work.report.conflicts.append({"file": file.name, "line": 1, "message": ASK_UNIT})
    for number, row in file.rows if file.unit else ():
        with work.reported(file.name, number):
            line = tool_exports.line_of(file, number, row, currency=currency, digits=currencies.digits(currency))
            if max(line.at or work.at, line.paid_at or work.at) > latest:
                raise ValueError("a time in the future")
            yield line


def _add(work: Importing, lines: Sequence[ImportLine]) -> None:
    """Enrol the partners, then add customers and commissions, and sum the commissions up."""
    partners = ImportedPartners(work)
    for line in lines:
        if line.kind == FileKind.PARTNERS or line.name:
            with work.reported(line.file, line.number):
                partners.enrol(line)
    events = ImportedEvents(work, lines)
    for line in lines:
        if line.kind != FileKind.PARTNERS:
            with work.reported(line.file, line.number):
                events.add(line, partners.named(line))
    events.record()
    codes = partners.end()
    for partner_id, status in sorted({key[:2] for key in work.expected}):
        sums = {what: work.expected[partner_id, status, what] for what in ("commissions", "cents")}
        work.report.totals.append({"partner": codes[partner_id], "status": status, **sums})
