"""Why the database cannot be used when the service starts: one line, and what to do."""

import sqlite3
from pathlib import Path

from asyncpg import InterfaceError, PostgresError
from sqlalchemy.engine import URL

from cli.integrator.output import Failure
from storage.engine import database
from storage.engine.failures import chain

_ACCESS = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}


def explain(problem: Exception, database_url: str) -> Failure | None:
    """Return the message for the operator; None for an error that is not the database's."""
    url = database.parse_url(database_url)
    for error in chain(problem):
        if isinstance(error, sqlite3.Error):
            return _sqlite(error, database.file_of(url))
        if isinstance(error, PostgresError | InterfaceError | OSError):
            return _postgresql(error, url)
    return None


def _sqlite(error: sqlite3.Error, path: Path) -> Failure:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if not path.parent.is_dir():
        message, hint = f"The folder {path.parent} does not exist.", "Create it, or change SVC_DATABASE_URL."
    elif path.is_dir():
        message, hint = f"{path} is a folder.", "Name a file in SVC_DATABASE_URL."
    elif code in _ACCESS:
        message = f"This user may not write {path}."
        hint = f"Give it write permission for the file and for {path.parent}, or change SVC_DATABASE_URL."
    elif code == sqlite3.SQLITE_NOTADB:
        message = f"{path} is not a SQLite database."
        hint = "Change SVC_DATABASE_URL, or restore a backup with `svc admin restore FILE`."
    else:
        message, hint = f"{path} cannot be used: {error}.", "Check the disk, or restore a backup."
    return Failure("database_error", message, hint)


def _postgresql(error: Exception, url: URL) -> Failure:
    reason = " ".join(str(error).split()) or type(error).__name__
    return Failure(
        "database_unreachable",
        f"PostgreSQL at {url.host or 'localhost'}:{url.port or 5432} cannot be used: {reason.rstrip('.')}.",
        "Start it, or change SVC_DATABASE_URL.",
    )
