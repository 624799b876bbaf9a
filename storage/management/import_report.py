"""An import under way: what it reports, and whom the lines of its files name."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain, count
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, and_, select

from storage.engine.audit import By
from storage.management import partners
from storage.management.applications import code_of
from storage.rules.attribution import PartnerStatus, code_key
from storage.rules.errors import ServiceError
from storage.rules.tool_exports import FileKind, ImportLine
from storage.tables import partners as rows
from storage.tracking.program_terms import ProgramTerms

LONGEST_MADE = 50
AT_ONCE = 500  # values in a condition
MOST_LOGGED = 20
_ADDRESS = re.compile(r"\S+@\S+")
MOST_SHOWN = 5  # rows of each kind as they will be stored
Totals = Counter[tuple[int, str, str]]  # commissions, and their cents, by partner and status


class OnConflict(StrEnum):
    """What becomes of lines that contradict each other, or what is there."""

    STOP = "stop"  # the import
    SKIP = "skip"  # the lines
    ACCEPT = "accept"  # they name the holder of a code and the partner of a commission; a customer keeps their partner


@dataclass
class ImportReport:
    currency: str  # of all money, which is in cents
    added: dict[FileKind, int] = field(default_factory=lambda: dict.fromkeys(FileKind, 0))
    there: dict[FileKind, int] = field(default_factory=lambda: dict.fromkeys(FileKind, 0))
    totals: list[dict[str, Any]] = field(default_factory=list)  # by partner and status
    first: dict[FileKind, list[dict[str, Any]]] = field(default_factory=lambda: {kind: [] for kind in FileKind})
    conflicts: list[dict[str, Any]] = field(default_factory=list)
    problems: list[dict[str, Any]] = field(default_factory=list)
    is_stopped: bool = False  # until a question is decided
    import_id: int | None = None  # None: nothing was imported

    def add(self, kind: FileKind, **row: Any) -> None:
        self.added[kind] += 1
        if len(self.first[kind]) < MOST_SHOWN:
            self.first[kind].append({name: str(value) for name, value in row.items() if value not in {None, ""}})

    def logged(self) -> dict[str, Any]:
        """Return what the audit log keeps: counts, totals and the first lines that were left out, without addresses."""
        counts = {kind.value: count for kind, count in self.added.items()}
        left_out = [{**each, "message": _ADDRESS.sub("(e-mail)", each["message"])} for each in self.problems]
        return {**counts, "totals": self.totals[:MOST_LOGGED], "problems": left_out[:MOST_LOGGED]}


class LeftOutError(Exception):
    """The line is left out because of a conflict."""


@dataclass
class Importing:
    connection: Connection
    program: ProgramTerms
    on_conflict: OnConflict
    by: By
    report: ImportReport
    is_sandbox: bool
    url: str
    ids: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))  # of what it adds
    expected: Totals = field(default_factory=Counter)  # what its commissions have to add up to

    def conflict(self, line: ImportLine, message: str) -> None:
        """Report a conflict; raises LeftOutError unless the file is right."""
        self.report.conflicts.append({"file": line.file, "line": line.number, "message": message})
        self.report.is_stopped |= self.on_conflict == OnConflict.STOP
        if self.on_conflict != OnConflict.ACCEPT:
            raise LeftOutError

    def rows(self, column: Column[Any], values: Iterable[Any], *more: Column[Any]) -> Iterator[Any]:
        """Yield a column and `more` of the program's rows that have one of the values in it."""
        for mine in matching(self.program.id, column, values):
            yield from self.connection.execute(select(column, *more).where(mine))

    @contextmanager
    def reported(self, file: str, number: int) -> Iterator[None]:
        try:
            yield
        except LeftOutError:
            pass
        except (ServiceError, ValueError) as problem:
            self.report.problems.append({"file": file, "line": number, "message": str(problem)})


def matching(program_id: int, column: Column[Any], values: Iterable[Any]) -> Iterator[ColumnElement[bool]]:
    """Yield conditions for the program's rows that have one of the values in a column, for some values at a time."""
    wanted = sorted(values)
    for start in range(0, len(wanted), AT_ONCE):
        yield and_(column.table.c.program_id == program_id, column.in_(wanted[start : start + AT_ONCE]))


class ImportedPartners:
    """Enrols the partners of an import, and finds those whom its lines name."""

    def __init__(self, work: Importing) -> None:
        row = rows.c
        here = select(row.id, row.code, row.name, row.email, row.status).where(row.program_id == work.program.id)
        self._work = work
        self._known: dict[str, Any] = {}  # the partners of the program, by the key of their code
        self._ours = defaultdict[str, set[str]](set)  # the keys of codes, by the e-mail address
        self._theirs = defaultdict[str, set[str]](set)  # by the ids and addresses in the files, which come first
        self._listed, self._disputed = set[str](), set[str]()
        self._to_end: dict[int, PartnerStatus] = {}
        for each in work.connection.execute(here.order_by(row.id)):
            key = code_key(each.code)
            self._known.setdefault(key, each)
            if each.email:
                self._ours[each.email.lower()].add(key)

    def enrol(self, line: ImportLine) -> None:
        """Enrol the partner whom a line describes, unless they are there. Raises LeftOutError, ServiceError."""
        email = line.partner_email.lower()
        of_address = [*sorted(self._theirs.get(email, ())), *sorted(self._ours.get(email, ()))]
        code = line.code or next((self._known[key].code for key in of_address), "")
        name = line.name or email.partition("@")[0]
        base = code_of(name)[:LONGEST_MADE]
        made = chain([base], (f"{base}-{n}" for n in count(2)))
        code = code or next(each for each in made if each not in self._known)
        key = code_key(code)
        known = self._known.get(key)
        for name in filter(None, (line.partner_id, email)):
            self._theirs[name].add(key)
        if known is not None and _is_other(known, line):
            self._disputed.add(key)
            self._work.conflict(line, _belongs(known))
        if known is not None and key not in self._listed:
            self._work.report.there[FileKind.PARTNERS] += 1
        elif known is None:
            work = self._work
            who: dict[str, Any] = {"code": code, "name": line.name or code, "email": line.partner_email or None}
            partner = partners.enrol(work.connection, work.program.id, **who, joined_at=line.at, by=work.by)
            work.report.add(FileKind.PARTNERS, **who, status=line.partner_status, at=line.at)
            work.ids["partners"].append(partner.id)
            if line.partner_status != PartnerStatus.ACTIVE:
                self._to_end[partner.id] = line.partner_status
            self._known[key] = partner
        self._listed.add(key)

    def named(self, line: ImportLine) -> Any:
        """Return the partner whom a line names. Raises LeftOutError, ValueError."""
        email = line.partner_email.lower()
        by_code = {code_key(line.code)} & self._known.keys() if line.code else set()
        by_address = self._theirs.get(email) or self._ours.get(email)
        found = [each for each in (by_code, self._theirs.get(line.partner_id), by_address) if each]
        if not found:
            name = next(filter(None, (line.code, email, line.partner_id)))
            raise ValueError(f"no partner {name[:64]!r}: import the partners' file too")
        chosen = set.intersection(*found) or found[0]
        partner = self._known[min(chosen)]
        if len(chosen) > 1 or not set.intersection(*found):
            codes = ", ".join(sorted(set.union(*found)))
            self._work.conflict(line, f"it names several partners: {codes}")
        elif chosen & self._disputed or _is_other(partner, line):
            self._work.conflict(line, _belongs(partner))
        if partner.status == PartnerStatus.INACTIVE:
            raise ValueError(f"the partner {partner.code!r} has left: activate them first")
        return partner

    def end(self) -> dict[int, str]:
        """Let those who have left leave, after their history is there; return the codes of all partners by id."""
        work = self._work
        for partner_id, status in self._to_end.items():
            changes = {"status": status}
            partners.change(work.connection, work.program.id, partner_id, changes, by=work.by)
        return {partner.id: partner.code for partner in self._known.values()}


def _belongs(known: Any) -> str:
    return f"the code {known.code!r} belongs to {known.name!r} {(known.email or '').lower()}".strip()


def _is_other(known: Any, line: ImportLine) -> bool:
    """Return whether a line describes someone else: by another address or, where one is missing, by another name."""
    if known.email and line.partner_email:
        return str(known.email).lower() != line.partner_email.lower()
    return bool(line.name) and known.name.lower() != line.name.lower()
