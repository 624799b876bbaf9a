"""Imports what another tool has exported: partners, their customers, and the commissions that they earned."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import DataError, IntegrityError

from storage.engine import audit
from storage.engine.audit import Actor
from storage.management import imported_events, partners
from storage.rules import tool_exports
from storage.rules.attribution import PartnerStatus
from storage.rules.errors import ServiceError
from storage.rules.tool_exports import FileKind, ImportFile, ImportTool, PartnerReference
from storage.tables import partners as partners_table
from storage.tracking import currencies, rollups

MOST_TRIES = 5


@dataclass
class ImportReport:
    """What an import added, what was there before, and which lines it could not take."""

    added: dict[FileKind, int] = field(default_factory=lambda: dict.fromkeys(FileKind, 0))
    there: dict[FileKind, int] = field(default_factory=lambda: dict.fromkeys(FileKind, 0))
    problems: list[dict[str, Any]] = field(default_factory=list)


def run(
    connection: Connection,
    program_id: int,
    files: Sequence[tuple[str, ImportFile]],
    tool: ImportTool,
    *,
    dry_run: bool,
    actor: Actor,
    at: datetime,
) -> ImportReport:
    """Import named files and return the report; a dry run undoes everything. What is there is not changed."""
    report = ImportReport()
    with connection.begin_nested() as everything, rollups.gathered(connection) as steps:
        rows = _Rows(connection, program_id, tool, actor, at)
        for kind in FileKind:
            for name, file in files:
                if file.kind == kind:
                    rows.add(name, file, report)
        rows.end_partners()
        counted = {kind.value: count for kind, count in report.added.items()}
        audit.write(connection, program_id, [audit.Change("program.import", None, after=counted)], actor=actor, at=at)
        if dry_run:
            steps.clear()
            everything.rollback()
    return report


class _Rows:
    """Adds the rows of files to a program, whose partners it knows by what rows call them."""

    def __init__(self, connection: Connection, program_id: int, tool: ImportTool, actor: Actor, at: datetime) -> None:
        self._connection, self._program_id, self._tool = connection, program_id, tool
        self._actor, self._at = actor, at
        mine = partners_table.c.program_id == program_id
        columns = (partners_table.c.code, func.lower(partners_table.c.email).label("email"))
        rows = connection.execute(select(*columns).where(mine)).all()
        self._codes: set[str] = {row.code for row in rows}
        self._by_email: dict[str, str] = {row.email: row.code for row in rows if row.email}
        self._by_id: dict[str, str] = {}
        self._to_end: dict[int, PartnerStatus] = {}

    def add(self, name: str, file: ImportFile, report: ImportReport) -> None:
        """Add the rows of a file; one that cannot be added is a problem in the report."""
        add_row = {
            FileKind.PARTNERS: self._partner,
            FileKind.CUSTOMERS: self._customer,
            FileKind.COMMISSIONS: self._commission,
        }[file.kind]
        for line, row in file.rows:
            try:
                counts = report.added if self._once(add_row, row) else report.there
                counts[file.kind] += 1
            except (ServiceError, ValueError) as problem:
                report.problems.append({"file": name, "line": line, "message": str(problem)})

    def end_partners(self) -> None:
        """Let the partners who have left leave, after their history is there."""
        for partner_id, status in self._to_end.items():
            changes = {"status": status}
            partners.change(self._connection, self._program_id, partner_id, changes, actor=self._actor, at=self._at)

    def _once(self, add_row: Callable[[dict[str, str]], bool], row: dict[str, str] | None) -> bool:
        """Add a row in a savepoint; a second try draws other ids for what happened in the same microsecond."""
        if row is None:
            raise ValueError("no CSV, or a cell of more than 128 KiB")
        for _ in range(MOST_TRIES):
            with (
                suppress(IntegrityError, DataError),
                self._connection.begin_nested(),
                rollups.gathered(self._connection),
            ):
                return add_row(row)
        raise ValueError("the database rejects it: is it a duplicate of another row?")

    def _partner(self, row: dict[str, str]) -> bool:
        """Enrol a partner, unless their code is there."""
        imported = tool_exports.partner(row)
        self._require_past(imported.created_at)
        self._by_id[imported.id] = imported.code
        if imported.email:
            self._by_email.setdefault(imported.email.lower(), imported.code)
        if imported.code in self._codes:
            return False
        partner = partners.enrol(
            self._connection,
            self._program_id,
            name=imported.name,
            code=imported.code,
            email=imported.email,
            at=imported_events.spread(imported.created_at or self._at),
            actor=self._actor,
        )
        self._codes.add(imported.code)
        if imported.status != PartnerStatus.ACTIVE:
            self._to_end[partner.id] = imported.status
        return True

    def _customer(self, row: dict[str, str]) -> bool:
        imported = tool_exports.customer(row)
        self._require_past(imported.at)
        code = self._code(imported.partner)
        return imported_events.customer(self._connection, self._program_id, imported, code, at=self._at)

    def _commission(self, row: dict[str, str]) -> bool:
        imported = tool_exports.commission(row, self._tool, currencies.digits)
        self._require_past(imported.at, imported.paid_at, imported.customer.at)
        code = self._code(imported.customer.partner)
        return imported_events.commission(self._connection, self._program_id, imported, code)

    def _require_past(self, *times: datetime | None) -> None:
        """Raise ValueError for a time in the future; a day without a time zone may have begun elsewhere."""
        if any(time is not None and time > self._at + timedelta(days=1) for time in times):
            raise ValueError("a time in the future")

    def _code(self, reference: PartnerReference) -> str:
        """Return the code of the partner whom a row names. Raises ValueError."""
        codes = (reference.code, self._by_email.get(reference.email, ""), self._by_id.get(reference.id, ""))
        code = next((code for code in codes if code in self._codes), None)
        if code is None:
            raise ValueError(f"no partner {next(filter(None, reference))[:64]!r}: import the partners' file too")
        return code
