"""What an import reports: what it adds, what was there before, what contradicts, and what it cannot read."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, and_

from storage.engine.audit import Actor
from storage.rules.errors import ServiceError
from storage.rules.tool_exports import FileKind, ImportLine
from storage.tracking.program_terms import ProgramTerms

AT_ONCE = 500  # values in a condition
MOST_LOGGED = 20
_ADDRESS = re.compile(r"\S+@\S+")
MOST_SHOWN = 5  # rows of each kind as they will be stored
Totals = Counter[tuple[int, str, str]]  # commissions, and their cents, by partner and status


class OnConflict(StrEnum):
    """What becomes of lines that contradict each other, or what is there.

    They stop the import; they are left out; or they are right: the holder of a code is the partner in the file, and a
    commission is of the partner whom its line names. A customer stays with the partner whom they have.
    """

    STOP = "stop"
    SKIP = "skip"
    ACCEPT = "accept"


@dataclass
class ImportReport:
    """The result of an import; money is in cents of the program's `currency`, `totals` are by partner and status.

    `first` are the first rows of each kind as they are stored. It `is_stopped` if a question has to be decided first.
    `import_id` is None if nothing was imported.
    """

    currency: str
    added: dict[FileKind, int] = field(default_factory=lambda: dict.fromkeys(FileKind, 0))
    there: dict[FileKind, int] = field(default_factory=lambda: dict.fromkeys(FileKind, 0))
    totals: list[dict[str, Any]] = field(default_factory=list)
    first: dict[FileKind, list[dict[str, Any]]] = field(default_factory=lambda: {kind: [] for kind in FileKind})
    conflicts: list[dict[str, Any]] = field(default_factory=list)
    problems: list[dict[str, Any]] = field(default_factory=list)
    is_stopped: bool = False
    import_id: int | None = None

    def add(self, kind: FileKind, **row: Any) -> None:
        """Count a row that is added."""
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
    """An import under way: `ids` are those of what it adds, `expected` is what its commissions have to add up to."""

    connection: Connection
    program: ProgramTerms
    on_conflict: OnConflict
    actor: Actor
    at: datetime
    report: ImportReport
    is_sandbox: bool
    url: str
    ids: dict[str, list[Any]] = field(
        default_factory=lambda: {"partners": [], "clicks": [], "sales": [], "commissions": []}
    )
    expected: Totals = field(default_factory=Counter)

    def conflict(self, line: ImportLine, message: str) -> None:
        """Report a conflict; raises LeftOutError unless the file is right."""
        self.report.conflicts.append({"file": line.file, "line": line.number, "message": message})
        self.report.is_stopped |= self.on_conflict == OnConflict.STOP
        if self.on_conflict != OnConflict.ACCEPT:
            raise LeftOutError

    @contextmanager
    def reported(self, file: str, number: int) -> Iterator[None]:
        """Report what is wrong with a line, and go on with the next."""
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
