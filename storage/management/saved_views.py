"""Saved views of Explore: a name and the page's query; one may be open to all who have its link, until a time."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from storage.engine import audit, ids
from storage.engine.audit import Actor, Change
from storage.rules.errors import FieldError, LinkExpired, NotFound, ValidationError
from storage.tables import programs, saved_views

LONGEST_NAME, LONGEST_QUERY = 160, 2048
_row = saved_views.c


class SavedView(NamedTuple):
    """A saved view. Its link opens until `shared_until`; None for one that is not shared."""

    id: int
    name: str
    query: str
    shared_until: datetime | None


def list_views(connection: Connection, program_id: int) -> Sequence[SavedView]:
    """Return a program's views by name."""
    rows = select(_row.id, _row.name, _row.query, _row.shared_until).where(_row.program_id == program_id)
    return [SavedView(*row) for row in connection.execute(rows.order_by(_row.name, _row.id))]


def save(connection: Connection, program_id: int, name: str, query: str, *, actor: Actor, at: datetime) -> None:
    """Save a view. Raises ValidationError."""
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise ValidationError(fields=[FieldError("name", f"Enter a name of at most {LONGEST_NAME} characters")])
    if len(query) > LONGEST_QUERY or not query.isprintable():
        raise ValidationError(fields=[FieldError("query", f"Use fewer filters: at most {LONGEST_QUERY} characters")])
    [view_id] = ids.after(at, 1)
    connection.execute(insert(saved_views).values(program_id=program_id, id=view_id, name=name, query=query))
    audit.write(connection, program_id, [Change("saved_view.save", view_id, after=name)], actor=actor, at=at)


def share(
    connection: Connection, program_id: int, view_id: int, until: datetime | None, *, actor: Actor, at: datetime
) -> None:
    """Open a view to all who have its new link, or (None) end its link. Raises NotFound."""
    changed = update(saved_views).where(_row.program_id == program_id, _row.id == view_id).values(shared_until=until)
    name = connection.execute(changed.returning(_row.name)).scalar()
    if name is None:
        raise NotFound
    change = Change("saved_view.share" if until else "saved_view.revoke", view_id, after=name)
    audit.write(connection, program_id, [change], actor=actor, at=at)


def remove(connection: Connection, program_id: int, view_id: int, *, actor: Actor, at: datetime) -> None:
    """Delete a view and its link. Raises NotFound."""
    gone = delete(saved_views).where(_row.program_id == program_id, _row.id == view_id).returning(_row.name)
    name = connection.execute(gone).scalar()
    if name is None:
        raise NotFound
    audit.write(connection, program_id, [Change("saved_view.delete", view_id, before=name)], actor=actor, at=at)


def find_shared(connection: Connection, program_id: int, view_id: int, *, until: datetime) -> tuple[SavedView, str]:
    """Return the view of the link that ends then, and its program's name. Raises LinkExpired."""
    mine = (_row.program_id == program_id, _row.id == view_id, _row.shared_until == until)
    rows = select(_row.id, _row.name, _row.query, _row.shared_until, programs.c.name.label("program")).where(*mine)
    found = connection.execute(rows.join(programs, programs.c.id == _row.program_id)).first()
    if found is None:
        raise LinkExpired(hint="Ask whoever sent you the link for a new one.")
    return SavedView(*found[:4]), found.program
