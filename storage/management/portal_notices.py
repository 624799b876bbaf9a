"""E-mails to partners: a payment, and for those who use the portal a summary of each month; each can be turned off."""

from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from sqlalchemy import Connection, select, update

from storage.engine.database import insert_for
from storage.engine.statements import read_statement
from storage.tables import portal_accounts

AT_ONCE = 100
_row = portal_accounts.c
_DUE = read_statement("portal_summaries")


class NoticeKind(StrEnum):
    """What an e-mail is about."""

    PAYMENTS = "payments"
    SUMMARIES = "summaries"


class MonthSummary(NamedTuple):
    """What a partner earned in a month, whose first day this is, in cents of the program's currency."""

    program_id: int
    partner_id: int
    email: str
    name: str
    program: str
    currency: str
    cents: int
    clicks: int
    month: date


def list_due(connection: Connection, *, at: datetime) -> list[MonthSummary]:
    """Return summaries of last month that are due, a few at most; a month without a click or a sale has none."""
    this_month = at.date().replace(day=1)
    month = (this_month - timedelta(days=1)).replace(day=1)
    due = connection.execute(_DUE, {"first_day": month, "end_day": this_month, "most": AT_ONCE})
    return [MonthSummary(**row, month=month) for row in due.mappings()]


def mark(connection: Connection, sent: MonthSummary) -> None:
    """Note that a summary was sent: only then, so that an outage of the mail server delays it and loses none."""
    mine = (_row.program_id == sent.program_id, _row.partner_id == sent.partner_id)
    following = (sent.month + timedelta(days=31)).replace(day=1)
    connection.execute(update(portal_accounts).where(*mine).values(summarized_on=following))


def list_wanted(connection: Connection, program_id: int, partner_id: int) -> list[NoticeKind]:
    """Return the e-mails that a partner wants: until they say otherwise, those about payments."""
    mine = (_row.program_id == program_id, _row.partner_id == partner_id)
    wanted = connection.execute(select(_row.mails_payments, _row.mails_summaries).where(*mine)).one_or_none()
    return [kind for kind, is_wanted in zip(NoticeKind, wanted or (True, False), strict=True) if is_wanted]


def change(connection: Connection, /, program_id: int, partner_id: int, *, at: datetime, **wanted: bool) -> None:
    """Turn e-mails of these kinds on or off."""
    values = {f"mails_{kind}": is_wanted for kind, is_wanted in wanted.items()}
    known = {"program_id": program_id, "partner_id": partner_id, "summarized_on": at.date().replace(day=1)}
    row = insert_for(connection)(portal_accounts).values(known | {"mails_summaries": False} | values)
    connection.execute(row.on_conflict_do_update(index_elements=["program_id", "partner_id"], set_=values))
