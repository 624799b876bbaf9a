"""A lock beside the SQLite file: while a service holds it, no restore replaces the file."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl


@contextmanager
def hold(database: Path, *, alone: bool) -> Iterator[bool]:
    """Hold the lock, exclusively (restore) or shared (services); yield whether that succeeded."""
    path = database.with_name(f"{database.name}.lock")
    path.touch(0o600)  # who can open the file can hold the lock, and keep the service from starting
    with path.open("ab") as file:
        held = True
        if sys.platform != "win32":  # Windows does not rename a file that is open
            try:
                fcntl.flock(file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
            except BlockingIOError:
                held = False
        yield held
