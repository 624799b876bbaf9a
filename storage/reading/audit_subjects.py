"""What audit entries are about, by name: people read names, the log keeps ids."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, select

from storage.engine import audit
from storage.engine.audit import Entry
from storage.engine.pagination import Page, Paging
from storage.tables import assistants, commissions, flags, partners, payment_events, users


class SubjectName(NamedTuple):
    """The name of a partner, member, assistant, payment or kind of flag; of a commission also its amount."""

    name: str
    amount_cents: int | None = None
    currency: str | None = None


class NamedEntry(NamedTuple):
    """An entry of the audit log; `subject` is None if what it is about has no name or is gone."""

    entry: Entry
    noun: str
    subject: SubjectName | None


def list_named(connection: Connection, program_id: int, paging: Paging) -> Page[NamedEntry]:
    """Return a page of a program's audit log, newest first. Raises ValidationError for an invalid cursor."""
    page = audit.list_entries(connection, program_id, paging)
    names = _names(connection, program_id, page.data)
    nouns = [entry.action.partition(".")[0] for entry in page.data]
    rows = [
        NamedEntry(entry, noun, names.get((noun, entry.subject_id)))
        for entry, noun in zip(page.data, nouns, strict=True)
    ]
    return Page(rows, page.next_cursor)


def _names(
    connection: Connection, program_id: int, entries: Iterable[Entry]
) -> dict[tuple[str, str | None], SubjectName]:
    ids: defaultdict[str, set[int]] = defaultdict(set)
    for entry in entries:
        if entry.subject_id is not None and entry.subject_id.isascii() and entry.subject_id.isdigit():
            ids[entry.action.partition(".")[0]].add(int(entry.subject_id))
    selects = _selects(program_id)
    return {
        (noun, str(row.id)): SubjectName(*row[1:])
        for noun, named in ids.items()
        if noun in selects
        for row in connection.execute(selects[noun][0].where(selects[noun][1].in_(named)))
    }


def _selects(program_id: int) -> dict[str, tuple[Select[Any], Any]]:
    """Return for each noun the statement of its names, and the column of the ids."""
    earned, flag, paid = commissions.c, flags.c, payment_events.c
    theirs = (partners.c.program_id == earned.program_id) & (partners.c.id == earned.partner_id)
    amounts = select(earned.id, partners.c.name, earned.amount_cents, earned.currency).join(partners, theirs)
    people = select(users.c.id, users.c.email)
    return {
        "partner": (select(partners.c.id, partners.c.name).where(partners.c.program_id == program_id), partners.c.id),
        "commission": (amounts.where(earned.program_id == program_id), earned.id),
        "flag": (select(flag.id, flag.kind).where(flag.program_id == program_id), flag.id),
        "member": (people, users.c.id),
        "account": (people, users.c.id),
        "assistant": (select(assistants.c.id, assistants.c.name), assistants.c.id),
        "payment_event": (select(paid.id, paid.event_id).where(paid.program_id == program_id), paid.id),
    }
