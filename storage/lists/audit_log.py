"""The audit log: who changed what, from what to what; people read names, the log keeps ids."""

from collections import defaultdict
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, or_, select

from storage.engine.audit import Actor
from storage.lists.declaration import Column, Filter, List, ListScope
from storage.lists.related import contains, of_partner
from storage.rules.untrusted import UNTRUSTED, Untrusted
from storage.tables import assistants, audit_entries, commissions, customers, flags, partners, payment_events, users

_row = audit_entries.c


class SubjectName(NamedTuple):
    """The name of a partner, member, assistant, payment or kind of flag; of a commission also its amount."""

    name: str
    amount_cents: int | None = None
    currency: str | None = None


class Entry(NamedTuple):
    """One change; `before` and `after` are the JSON values that the field had.

    `subject` is None if what `subject_id` names has no name or is gone.
    """

    id: int
    at: Annotated[datetime, Column("When")]
    actor_name: Annotated[Untrusted, Column("Who", sorts=True)]
    actor_type: str
    actor_id: str
    action: Annotated[str, Column("What", sorts=True)]
    subject_id: str | None
    field: Annotated[str | None, Column("Field", sorts=True)]
    before: Annotated[object, Column("Before"), UNTRUSTED]  # outsiders wrote some values, such as names
    after: Annotated[object, Column("After"), UNTRUSTED]
    subject: SubjectName | None = None

    @property
    def noun(self) -> str:
        """What the action is about: partner in partner.change."""
        return self.action.partition(".")[0]

    @property
    def actor(self) -> Actor:
        return Actor(self.actor_type, self.actor_id, self.actor_name)


class Noun(StrEnum):
    PARTNER = "partner"
    CUSTOMER = "customer"
    COMMISSION = "commission"
    FLAG = "flag"
    MEMBER = "member"
    ACCOUNT = "account"
    PAYMENT_EVENT = "payment_event"
    PAYMENT_ACCOUNT = "payment_account"
    PROGRAM = "program"
    PROGRAM_KEY = "program_key"
    AGENT_CAPS = "agent_caps"
    SANDBOX = "sandbox"
    SAVED_VIEW = "saved_view"
    PLAN = "plan"


def _named(action: str) -> ColumnElement[bool]:
    return (_row.action == str(action)) | _row.action.startswith(f"{action}.", autoescape=True)


def _with_subjects(connection: Connection, scope: ListScope, rows: list[Entry]) -> list[Entry]:
    ids: defaultdict[str, set[int]] = defaultdict(set)
    for row in rows:
        if row.noun in _NAMES and row.subject_id is not None and row.subject_id.isascii() and row.subject_id.isdigit():
            ids[row.noun].add(int(row.subject_id))
    names: dict[tuple[str, str], SubjectName] = {}
    for noun, some in ids.items():
        table = _NAMES[noun][-1].table.c
        mine = () if "program_id" not in table else (table.program_id == scope.program_id,)
        named = connection.execute(select(table.id, *_NAMES[noun]).where(table.id.in_(some), *mine))
        names |= {(noun, str(each.id)): SubjectName(*each[1:]) for each in named}
    return [row._replace(subject=names.get((row.noun, row.subject_id or ""))) for row in rows]


_NAMES: dict[str, tuple[Any, ...]] = {
    "partner": (partners.c.name,),
    "customer": (customers.c.customer_key,),
    "commission": (of_partner(commissions, "name"), commissions.c.amount_cents, commissions.c.currency),
    "flag": (flags.c.kind,),
    "member": (users.c.email,),
    "account": (users.c.email,),
    "assistant": (assistants.c.name,),
    "payment_event": (payment_events.c.event_id,),
}
_decided = _named(Noun.COMMISSION)
AUDIT_LOG = List(
    "audit-log",
    Entry,
    audit_entries,
    one="change",
    about="Who changed what",
    at=_row.at,
    filters=(
        Filter("action", str, "Such as partner.change, or the noun before its dot.", _named),
        Filter("noun", Noun, f"Only changes of one of {', '.join(Noun)}.", _named, "About", is_for_pages=True),
        Filter("decisions", bool, "Only decisions on single commissions (true), or none of them.", _decided.is_),
        Filter("field", str, "Only changes of this field.", _row.field.__eq__),
    ),
    finds="Who, field, or the id of what changed",
    search=lambda _, text: or_(contains(_row.actor_name, text), contains(_row.field, text), _row.subject_id == text),
    finish=_with_subjects,
)
