"""The list of questions about missing sales: what partners asked, and what they were answered."""

from datetime import date, datetime
from typing import Annotated, NamedTuple

from storage.lists.declaration import Column, Filter, List, Theirs
from storage.lists.partners import named
from storage.lists.related import of_partner
from storage.rules.untrusted import Untrusted
from storage.tables import sale_questions

_row = sale_questions.c
_is_open = _row.answered_at.is_(None)


class SaleQuestion(NamedTuple):
    """A sale that a partner misses, by its day and the customer's order number, and the program's answer."""

    id: int
    created_at: Annotated[datetime, Column("Asked", is_day=True)]
    partner_id: int
    partner_name: Annotated[Untrusted, Column("Partner", of_partner(sale_questions, "name"), sorts=True)]
    partner_code: Annotated[Untrusted, Column(sql=of_partner(sale_questions, "code"))]
    sold_on: Annotated[date, Column("Sold on")]
    transaction_id: Annotated[Untrusted, Column("Order number")]
    note: Untrusted | None
    answer: Annotated[str | None, Column("Answer")]
    answered_by: str | None
    answered_at: datetime | None


SALE_QUESTIONS = List(
    "sale-questions",
    SaleQuestion,
    sale_questions,
    title="Missing sales",
    one="question",
    about="What partners asked about missing sales",
    at=_row.created_at,
    theirs=Theirs(_row.partner_id, "id created_at sold_on transaction_id note answer answered_at"),
    filters=(
        Filter("open", bool, "true: only those that wait for an answer; false: all others.", _is_open.is_, "Waiting"),
        Filter("partner_id", int, "Only this partner's.", _row.partner_id.__eq__),
    ),
    finds="Partner or order number",
    search=lambda scope, text: (_row.transaction_id == text) | _row.partner_id.in_(named(scope.program_id, text)),
)
