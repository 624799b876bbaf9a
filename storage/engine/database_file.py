"""The SQLite file: private, checked for being removed or replaced, and locked against a restore while it is served."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

PRIVATE = 0o600


class DatabaseFileReplacedError(OSError):
    """The database file was removed or replaced after the service opened it."""


class DatabaseFile:
    """A path, and the file that was there when the service opened it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._opened = self._identity()

    @property
    def exists(self) -> bool:
        """Whether the file existed before opening; only otherwise may a new one be created."""
        return self._opened is not None

    def make_private(self) -> None:
        """Create the file if it never existed, and let its owner alone read it; SQLite gives -wal and -shm its mode."""
        if not self.exists:
            with suppress(OSError):  # SQLite then names the problem
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDONLY, PRIVATE))
        for ending in ("", "-wal", "-shm"):
            with suppress(OSError):  # another account's file stays as that account has it
                self.path.with_name(self.path.name + ending).chmod(PRIVATE)

    def created(self) -> None:
        """Remember the file that was created on opening."""
        self._opened = self._opened or self._identity()

    def check(self) -> None:
        """Raise DatabaseFileReplacedError unless the path still names the opened file."""
        if self.exists and self._identity() != self._opened:
            raise DatabaseFileReplacedError(
                f"{self.path} was removed or replaced. Stop the service, put the file back or run "
                "`svc admin restore FILE`, and start the service."
            )

    def _identity(self) -> tuple[int, int] | None:
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return None
        return status.st_dev, status.st_ino


@contextmanager
def hold_lock(database: Path, *, alone: bool) -> Iterator[bool]:
    """Hold the lock beside the file, exclusively (restore) or shared (services); yield whether that succeeded."""
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
