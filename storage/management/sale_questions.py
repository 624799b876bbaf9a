"""Questions of partners about missing sales, and the answers of managers."""

from datetime import date

from sqlalchemy import Connection, func, insert, select

from storage.engine import audit, ids
from storage.lists.sale_questions import SALE_QUESTIONS, SaleQuestion
from storage.management import one_row, partners
from storage.rules.errors import ValidationError
from storage.tables import sale_questions

MOST_OPEN = 20  # of a partner
_row = sale_questions.c


def ask(
    connection: Connection,
    program_id: int,
    partner_id: int,
    *,
    sold_on: date,
    transaction_id: str,
    note: str | None,
    by: audit.By,
) -> None:
    """Ask about a sale. Raises ValidationError for a day to come, and while too many questions wait."""
    partners.require(connection, program_id, partner_id)
    if sold_on > by.at.date():
        raise ValidationError.of("sold_on", "This day is yet to come")
    mine = (_row.program_id == program_id, _row.partner_id == partner_id, _row.answered_at.is_(None))
    if connection.execute(select(func.count()).where(*mine)).scalar_one() >= MOST_OPEN:
        raise ValidationError("Wait for the answers to your earlier questions.")
    [question_id] = ids.after(by.at, 1)
    asked = {"sold_on": sold_on, "transaction_id": transaction_id, "note": note, "created_at": by.at}
    new = {"program_id": program_id, "id": question_id, "partner_id": partner_id, **asked}
    connection.execute(insert(sale_questions).values(new))
    audit.write(connection, program_id, [audit.Change("sale_question.ask", question_id)], by=by)


def answer(connection: Connection, program_id: int, question_id: int, *, text: str, by: audit.By) -> SaleQuestion:
    """Answer a question, or change the answer; the partner sees it. Raises NotFound."""
    before = one_row.lock(connection, SALE_QUESTIONS, program_id, question_id, at=by.at)
    answered = {"answer": text, "answered_by": by.actor.name, "answered_at": by.at}
    change = audit.Change("sale_question.answer", question_id, "answer", before.answer, text)
    return one_row.change(connection, SALE_QUESTIONS, program_id, question_id, change, by=by, **answered)
