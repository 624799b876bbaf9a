"""Imports partners, customers and commissions that another tool has exported, and undoes an import within an hour."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from operator import itemgetter
from typing import Any

from sqlalchemy import Column, Connection, case, delete, func, insert, select, update

from storage.engine import audit, ids
from storage.management.import_report import ImportedPartners, Importing, ImportReport, OnConflict, Totals, matching
from storage.management.imported_events import ImportedEvents
from storage.rules import tool_exports
from storage.rules.attribution import site_url
from storage.rules.errors import NotFound, ValidationError, required
from storage.rules.settlement import CustomerStatus
from storage.rules.tool_exports import FileKind, ImportFile, ImportLine
from storage.tables import commissions, customers, imports, metadata, programs, sales
from storage.tracking import currencies, program_terms, rollups
from storage.tracking.rollups import Increment

ASK_UNIT = "the amounts are whole numbers: say whether they count units or cents"
LASTS = timedelta(hours=1)
ADDED = (  # the columns of what an import adds, in an order in which no row refers to a deleted one
    *(("flags.customer_id", "customers"), ("flags.partner_id", "partners")),
    *(("ledger_entries.commission_id", "commissions"), ("commissions.id", "commissions"), ("sales.id", "sales")),
    *(("leads.customer_id", "customers"), ("payment_customers.click_id", "clicks"), ("customers.id", "customers")),
    *(("clicks.click_id", "clicks"), ("partners.id", "partners")),
)
BUILT_ON = (
    *(("clicks.partner_id", "partners"), ("customers.partner_id", "partners"), ("commissions.partner_id", "partners")),
    *(("ledger_entries.partner_id", "partners"), ("ledger_entries.commission_id", "commissions")),
    *(("sales.customer_id", "customers"), ("sales.customer_id", "buyers"), ("leads.customer_id", "customers")),
    *(("refunds.sale_id", "sales"), ("payout_items.commission_id", "commissions")),
    *(("payout_lines.partner_id", "partners"), ("payout_methods.partner_id", "partners")),
)
Added = dict[str, list[Any]]


def run(
    connection: Connection,
    program_id: int,
    files: Sequence[ImportFile],
    *,
    on_conflict: OnConflict = OnConflict.STOP,
    dry_run: bool,
    by: audit.By,
) -> ImportReport:
    """Import files and return the report; what is there stays. A dry run and undecided conflicts undo everything."""
    program = program_terms.load_one(connection, program_id)
    row = select(programs.c.sandbox_of.is_not(None), programs.c.domain).where(programs.c.id == program_id)
    is_sandbox, domain = connection.execute(row).one()
    report = ImportReport(program.currency)
    work = Importing(connection, program, on_conflict, by, report, bool(is_sandbox), site_url(domain))
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
            audit.write(connection, program_id, [imported], by=by)
            report.import_id = _save(work, steps)
    report.problems.sort(key=itemgetter("file", "line"))
    return report


def _totals(connection: Connection, program_id: int) -> Totals:
    row = commissions.c
    sums = select(row.partner_id, row.status, func.count(), func.sum(row.amount_cents))
    of_program = sums.where(row.program_id == program_id).group_by(row.partner_id, row.status)
    totals: Totals = Counter()
    for partner_id, status, count, cents in connection.execute(of_program):
        totals[partner_id, status, "commissions"] = count
        totals[partner_id, status, "cents"] = int(cents)
    return totals


def _lines(work: Importing, file: ImportFile) -> Iterator[ImportLine]:
    currency, at = work.program.currency, work.by.at
    latest = at + timedelta(days=1)  # without a zone, a day may begin elsewhere
    if file.unit is None:
        work.report.is_stopped = True
        work.report.conflicts.append({"file": file.name, "line": 1, "message": ASK_UNIT})
    for number, row in file.rows if file.unit else ():
        with work.reported(file.name, number):
            line = tool_exports.line_of(file, number, row, currency=currency, digits=currencies.digits(currency))
            if max(line.at or at, line.paid_at or at) > latest:
                raise ValueError("a time in the future")
            yield line


def _add(work: Importing, lines: Sequence[ImportLine]) -> None:
    """Enrol the partners, then add customers and commissions, and sum the commissions up."""
    of_files = ImportedPartners(work)
    for line in lines:
        if line.kind == FileKind.PARTNERS or line.name:
            with work.reported(line.file, line.number):
                of_files.enrol(line)
    events = ImportedEvents(work, lines)
    for line in lines:
        if line.kind != FileKind.PARTNERS:
            with work.reported(line.file, line.number):
                events.add(line, of_files.named(line))
    events.record()
    codes = of_files.end()
    for partner_id, status in sorted({key[:2] for key in work.expected}):
        sums = {what: work.expected[partner_id, status, what] for what in ("commissions", "cents")}
        work.report.totals.append({"partner": codes[partner_id], "status": status, **sums})


def _save(work: Importing, steps: Iterable[Increment]) -> int:
    """Save what an import added, by the names in ADDED, and return its id; forget the imports of over an hour ago."""
    connection, program_id, at, added, row = work.connection, work.program.id, work.by.at, work.ids, imports.c
    connection.execute(delete(imports).where(row.program_id == program_id, row.at < at - LASTS))
    added["customers"] = [each.id for each in work.rows(customers.c.click_id, added["clicks"], customers.c.id)]
    buyers = {each.customer_id for each in work.rows(sales.c.id, added["sales"], sales.c.customer_id)}
    added["buyers"] = sorted(buyers - {*added["customers"]})
    undone = [(each.partner_id, each.day.isoformat(), *(-count for count in each[3:])) for each in steps]
    saved = {"added": added, "steps": undone, "built": _built_on(connection, program_id, added)}
    [import_id] = ids.after(at, 1)
    connection.execute(insert(imports).values(program_id=program_id, id=import_id, at=at, undo=json.dumps(saved)))
    return import_id


def list_recent(connection: Connection, program_id: int, *, at: datetime) -> Sequence[Any]:
    """Return the `id` and the time (`at`) of the imports that can be undone, the newest first."""
    row = imports.c
    mine = (row.program_id == program_id, row.at >= at - LASTS)
    return connection.execute(select(row.id, row.at).where(*mine).order_by(row.id.desc())).all()


def undo(connection: Connection, program_id: int, import_id: int, *, by: audit.By) -> None:
    """Delete what an import added. Raises NotFound, ValidationError if something has been built on it since."""
    row = imports.c
    mine = (row.program_id == program_id, row.id == import_id, row.at >= by.at - LASTS)
    stored = connection.execute(delete(imports).where(*mine).returning(row.undo)).scalar()
    saved = json.loads(required(stored, NotFound("An import can be undone within an hour.")))
    added = saved["added"]
    if _built_on(connection, program_id, added) != saved["built"]:
        raise ValidationError("The import cannot be undone: its partners, customers or commissions have changed since.")
    for name, kind in ADDED:
        column = _column(name)
        for each in matching(program_id, column, added[kind]):
            connection.execute(delete(column.table).where(each))
    buyer = customers.c  # who was there before, and no buyer any more if only the import's sales made them one
    theirs = (sales.c.program_id == buyer.program_id, sales.c.customer_id == buyer.id)
    has_bought = select(sales.c.id).where(*theirs).exists()
    status = case((buyer.signup_at.is_(None), CustomerStatus.PROVISIONAL), else_=CustomerStatus.LEAD)
    for each in matching(program_id, buyer.id, added["buyers"]):
        connection.execute(update(customers).where(each, ~has_bought).values(first_purchase_at=None, status=status))
    steps = ((partner_id, date.fromisoformat(day), *counts) for partner_id, day, *counts in saved["steps"])
    rollups.add(connection, [Increment(program_id, *each) for each in steps])
    audit.write(connection, program_id, [audit.Change("program.undo_import", import_id)], by=by)


def _built_on(connection: Connection, program_id: int, added: Added) -> dict[str, int]:
    """Return how many rows name what an import added, and how its commissions stand."""
    counts: Counter[str] = Counter()
    for name, kind in BUILT_ON:
        for mine in matching(program_id, _column(name), added[kind]):
            number = connection.execute(select(func.count()).where(mine)).scalar_one()
            counts[f"{name.partition('.')[0]} of {kind}"] += number
    for mine in matching(program_id, commissions.c.id, added["commissions"]):
        counts.update(connection.execute(select(commissions.c.status).where(mine)).scalars())
    return dict(counts)


def _column(name: str) -> Column[Any]:
    table, _, column = name.partition(".")
    return metadata.tables[table].c[column]
