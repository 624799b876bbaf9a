"""E-mails to partners: a payment, and for those who use the portal a summary of each month; each can be turned off."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Date, select, update

from storage.engine.database import insert_for
from storage.engine.statements import read_statement
from storage.tables import payout_lines, portal_accounts

AT_ONCE = 100
MAILED_WITHIN = timedelta(days=1)  # later, a partner knows of a payment without the e-mail
_row = portal_accounts.c
_DUE, _PAYMENTS = read_statement("portal_summaries", month=Date), read_statement("payment_mails")


class NoticeKind(StrEnum):
    PAYMENTS = "payments"
    SUMMARIES = "summaries"


def list_payments(connection: Connection, *, at: datetime) -> Sequence[Any]:
    """Return the program and the number of statements that are due, a few at most."""
    return connection.execute(_PAYMENTS, {"since": at - MAILED_WITHIN, "most": AT_ONCE}).all()


def mark_payment(connection: Connection, sent: Any) -> None:
    """Note that a statement was sent, as `mark` does."""
    mine = (payout_lines.c.program_id == sent.program_id, payout_lines.c.number == sent.number)
    connection.execute(update(payout_lines).where(*mine).values(mail_is_due=False))


def list_due(connection: Connection, *, at: datetime) -> Sequence[Any]:
    """Return the rows of last month's summaries that are due, a few at most; no click and no sale, no summary."""
    this_month = at.date().replace(day=1)
    month = (this_month - timedelta(days=1)).replace(day=1)
    return connection.execute(_DUE, {"first_day": month, "end_day": this_month, "most": AT_ONCE}).all()


def mark(connection: Connection, sent: Any) -> None:
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
