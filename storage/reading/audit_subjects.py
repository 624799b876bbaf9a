"""What audit entries are about, by name: people read names, the log keeps ids."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, func, or_, select

from storage.engine import audit, listing, pagination
from storage.engine.audit import Entry
from storage.engine.listing import Columns, Listed, ListQuery
from storage.rules.periods.period import ALWAYS, Span
from storage.tables import assistants, audit_entries, commissions, flags, partners, payment_events, users


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


class EntryMatch(NamedTuple):
    """What entries have to match: `noun` is before the dot of their action.

    `search` is in the name of who made the change or in the field, or it is the id of what was changed.
    """

    search: str | None = None
    noun: str | None = None
    span: Span = ALWAYS


def list_named(connection: Connection, program_id: int, query: ListQuery, match: EntryMatch) -> Listed[NamedEntry]:
    """Return a page of a program's audit log. Raises ValidationError for an invalid cursor."""
    row = audit_entries.c
    matching = select(row.id).where(row.program_id == program_id, *pagination.within(row.id, row.at, match.span))
    if match.noun is not None:
        matching = matching.where(row.action.startswith(f"{match.noun}.", autoescape=True))
    if match.search is not None:
        texts = (func.lower(row.actor_name), row.field)
        found = [text.contains(match.search.lower(), autoescape=True) for text in texts]
        matching = matching.where(or_(*found, row.subject_id == match.search))
    rows = select(audit_entries).where(row.program_id == program_id)
    sorts = {"who": func.lower(row.actor_name), "what": row.action, "field": func.coalesce(row.field, "")}
    listed = listing.read(connection, matching, rows, Columns(row.id, sorts), query, of_row=audit.of_row)
    names = _names(connection, program_id, listed.data)
    nouns = [entry.action.partition(".")[0] for entry in listed.data]
    named = [
        NamedEntry(entry, noun, names.get((noun, entry.subject_id)))
        for entry, noun in zip(listed.data, nouns, strict=True)
    ]
    return Listed(named, *listed[1:])


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
