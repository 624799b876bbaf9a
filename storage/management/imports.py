"""Imports what another tool has exported: partners, their customers, and the commissions that they earned."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import IntegrityError

from storage.engine import audit
from storage.engine.audit import Actor
from storage.management import imported_events, partners
from storage.rules import import_rows
from storage.rules.attribution import PartnerStatus
from storage.rules.errors import ServiceError
from storage.rules.import_layouts import FileKind, ImportFile, ImportTool
from storage.rules.import_rows import ImportedPartner, PartnerReference
from storage.tables import partners as partners_table
from storage.tracking import currencies

ORDER = tuple(FileKind)
MOST_TRIES = 5


@dataclass
class ImportReport:
    """What an import added, what was there before, and which lines it could not take."""

    added: dict[FileKind, int] = field(default_factory=lambda: dict.fromkeys(FileKind, 0))
    there: dict[FileKind, int] = field(default_factory=lambda: dict.fromkeys(FileKind, 0))
    problems: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class _Known:
    """The program's partners, by what rows call them."""

    by_code: dict[str, int]
    by_email: dict[str, str]
    by_id: dict[str, str] = field(default_factory=dict)
    to_end: dict[int, PartnerStatus] = field(default_factory=dict)

    def code(self, reference: PartnerReference) -> str:
        """Return the code of the partner whom a row names. Raises ValueError."""
        codes = (reference.code, self.by_email.get(reference.email, ""), self.by_id.get(reference.id, ""))
        code = next((code for code in codes if code in self.by_code), None)
        if code is None:
            raise ValueError(f"no partner {next(filter(None, reference))[:64]!r}: import the partners' file too")
        return code


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
    with connection.begin_nested() as everything:
        known = _known(connection, program_id)
        for kind in ORDER:
            for name, each in files:
                if each.kind == kind:
                    _import(connection, program_id, (name, each), tool, known=known, report=report, actor=actor, at=at)
        for partner_id, status in known.to_end.items():
            partners.change(connection, program_id, partner_id, {"status": status}, actor=actor, at=at)
        counted = {kind.value: count for kind, count in report.added.items()}
        audit.write(connection, program_id, [audit.Change("program.import", None, after=counted)], actor=actor, at=at)
        if dry_run:
            everything.rollback()
    return report


def _import(
    connection: Connection,
    program_id: int,
    named: tuple[str, ImportFile],
    tool: ImportTool,
    *,
    known: _Known,
    report: ImportReport,
    actor: Actor,
    at: datetime,
) -> None:
    name, file = named

    def import_row(row: dict[str, str]) -> bool:
        if file.kind == FileKind.PARTNERS:
            return _partner(connection, program_id, import_rows.partner(row), known, actor=actor, at=at)
        if file.kind == FileKind.CUSTOMERS:
            customer = import_rows.customer(row)
            return imported_events.customer(connection, program_id, customer, known.code(customer.partner), at=at)
        commission = import_rows.commission(row, tool, currencies.digits)
        code = known.code(commission.customer.partner)
        return imported_events.commission(connection, program_id, commission, code)

    for line, row in file.rows:
        try:
            counts = report.added if _once(connection, partial(import_row, row)) else report.there
            counts[file.kind] += 1
        except (ServiceError, ValueError) as problem:
            report.problems.append({"file": name, "line": line, "message": str(problem)})


def _once(connection: Connection, import_row: Callable[[], bool]) -> bool:
    """Import a row in a savepoint; a second try draws other ids for what happened in the same microsecond."""
    for tries in range(1, MOST_TRIES + 1):
        try:
            with connection.begin_nested():
                return import_row()
        except IntegrityError:
            if tries == MOST_TRIES:
                raise ValueError("the database rejects it: is it a duplicate of another row?") from None
    raise AssertionError


def _partner(
    connection: Connection,
    program_id: int,
    imported: ImportedPartner,
    known: _Known,
    *,
    actor: Actor,
    at: datetime,
) -> bool:
    """Enrol a partner, unless their code is there; one who has left leaves after their history is imported."""
    known.by_id[imported.id] = imported.code
    if imported.email:
        known.by_email.setdefault(imported.email.lower(), imported.code)
    if imported.code in known.by_code:
        return False
    created_at = imported_events.spread(imported.created_at or at)
    partner = partners.enrol(
        connection,
        program_id,
        name=imported.name,
        code=imported.code,
        email=imported.email,
        at=created_at,
        actor=actor,
    )
    known.by_code[imported.code] = partner.id
    if imported.status != PartnerStatus.ACTIVE:
        known.to_end[partner.id] = imported.status
    return True


def _known(connection: Connection, program_id: int) -> _Known:
    mine = partners_table.c.program_id == program_id
    columns = (partners_table.c.id, partners_table.c.code, func.lower(partners_table.c.email).label("email"))
    rows = connection.execute(select(*columns).where(mine)).all()
    return _Known({row.code: row.id for row in rows}, {row.email: row.code for row in rows if row.email})
