"""The statement of a partner for a payout: each commission, each entry that it set off, and the totals."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.engine import statements
from storage.lists.declaration import ListScope
from storage.lists.find import get
from storage.lists.payouts import PAYOUT_LINES, PayoutLine
from storage.lists.programs import Program, read_program
from storage.rules.errors import NotFound, required
from storage.tables.columns import Timestamp

_LINE = statements.read_statement("statement_line")
_COMMISSIONS = statements.read_statement("statement_commissions", earned_at=Timestamp)
_ENTRIES = statements.read_statement("statement_entries", at=Timestamp)


class PartnerStatement(NamedTuple):
    """What a payout paid a partner, in cents of the program's currency; `number` and amounts never change."""

    number: int
    line: PayoutLine
    program: Program
    partner_email: str | None
    commissions: Sequence[Any]  # the newest 2,000, as statement_commissions.sql has them
    entries: Sequence[Any]  # since the partner's statement before, as statement_entries.sql has them
    carried_cents: int  # what was left of earlier entries
    corrected: str | None


def read_statement(connection: Connection, program_id: int, number: int, *, at: datetime) -> PartnerStatement:
    """Return the statement of a program that has a number. Raises NotFound."""
    named = {"program_id": program_id, "statement_number": number}
    missing = NotFound("The program has no such statement.")
    found = required(connection.execute(_LINE, named).one_or_none(), missing)
    line = get(connection, PAYOUT_LINES, ListScope(program_id, at), found.id)
    mine = {"program_id": program_id, "partner_id": line.partner_id}
    newest = connection.execute(_COMMISSIONS, mine | {"payout_id": line.payout_id}).all()
    entries = connection.execute(_ENTRIES, mine | {"until": line.created_at}).all()
    return PartnerStatement(
        number=number,
        line=line,
        program=read_program(connection, program_id),
        partner_email=found.email,
        commissions=newest[::-1],
        entries=entries,
        carried_cents=line.adjusted_cents - line.set_off_cents - sum(each.cents for each in entries),
        corrected=found.failure,
    )
