"""The list of programs that people read: those of their workspaces, searched, sorted, and paged both ways."""

from collections.abc import Sequence

from sqlalchemy import Connection, func, or_, select

from storage.engine import listing
from storage.engine.listing import Columns, Listed, ListQuery
from storage.management import program_settings as stored
from storage.management.program_settings import Program
from storage.rules.attribution import ProgramStatus
from storage.tables import programs, workspaces


def read(
    connection: Connection,
    workspace_ids: Sequence[int],
    query: ListQuery,
    *,
    search: str | None = None,
    status: ProgramStatus | None = None,
) -> Listed[Program]:
    """Return a page of the workspaces' programs; `search` is in their name or domain, or in the workspace's name.

    Raises ValidationError for an invalid cursor.
    """
    row, workspace = programs.c, workspaces.c
    name, domain = func.lower(row.name), func.lower(row.domain)
    mine = row.workspace_id.in_(workspace_ids)
    matching = select(row.id).where(mine)
    if status is not None:
        matching = matching.where(row.status == status)
    if search is not None:
        named, *own = (
            text.contains(search.lower(), autoescape=True) for text in (func.lower(workspace.name), name, domain)
        )
        matching = matching.where(or_(*own, row.workspace_id.in_(select(workspace.id).where(named))))
    columns = Columns(row.id, {"name": name, "domain": domain})
    return listing.read(connection, matching, stored.select_rows().where(mine), columns, query, of_row=stored.of_row)
