"""Saved views of Explore: a name and the page's query; one may be open to all who have its link, until a time."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from storage.engine import audit, ids
from storage.engine.audit import By, Change
from storage.rules.errors import LinkExpired, NotFound, ValidationError, required
from storage.tables import programs, saved_views

LASTS = timedelta(days=30)
LONGEST_NAME, LONGEST_QUERY = 160, 2048
_row = saved_views.c


def list_views(connection: Connection, program_id: int) -> Sequence[Any]:
    """Return the rows of a program's views by name; the link of one opens until `shared_until`, None if not shared."""
    mine = select(saved_views).where(_row.program_id == program_id)
    return connection.execute(mine.order_by(_row.name, _row.id)).all()


def save(connection: Connection, program_id: int, name: str, query: str, *, by: By) -> None:
    """Save a view. Raises ValidationError."""
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise ValidationError.of("name", f"Enter a name of at most {LONGEST_NAME} characters")
    if len(query) > LONGEST_QUERY or not query.isprintable():
        raise ValidationError.of("query", f"Use fewer filters: at most {LONGEST_QUERY} characters")
    [view_id] = ids.after(by.at, 1)
    connection.execute(insert(saved_views).values(program_id=program_id, id=view_id, name=name, query=query))
    audit.write(connection, program_id, [Change("saved_view.save", view_id, after=name)], by=by)


def change(connection: Connection, program_id: int, view_id: int, action: str, *, by: By) -> None:
    """Share a view by a new link of 30 days, revoke its link, or delete both. Raises NotFound."""
    until = by.at + LASTS if action == "share" else None
    statement: Any = delete(saved_views) if action == "delete" else update(saved_views).values(shared_until=until)
    mine = (_row.program_id == program_id, _row.id == view_id)
    name = connection.execute(statement.where(*mine).returning(_row.name)).scalar()
    named = {"before" if action == "delete" else "after": required(name, NotFound)}
    audit.write(connection, program_id, [Change(f"saved_view.{action}", view_id, **named)], by=by)


def get_shared(connection: Connection, program_id: int, view_id: int, *, until: datetime) -> Any:
    """Return the view of the link that ends then, with the name of its `program`. Raises LinkExpired."""
    mine = (_row.program_id == program_id, _row.id == view_id, _row.shared_until == until)
    rows = select(saved_views, programs.c.name.label("program")).join(programs, programs.c.id == _row.program_id)
    view = connection.execute(rows.where(*mine)).first()
    return required(view, LinkExpired(hint="Ask whoever sent you the link for a new one."))
