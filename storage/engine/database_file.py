"""The SQLite file that a connection opened, by device and inode: what is written to a removed file is lost."""

from pathlib import Path


class DatabaseFileReplacedError(OSError):
    """The database file was removed or replaced after the service opened it."""


class DatabaseFile:
    """A path, and the file that was there when the service opened it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._opened = self._identity()

    @property
    def exists(self) -> bool:
        """Whether the file was there to be opened; a new one may be created only where it was not."""
        return self._opened is not None

    def created(self) -> None:
        """Remember the file that was created on opening."""
        self._opened = self._opened or self._identity()

    def check(self) -> None:
        """Raise DatabaseFileReplacedError unless the path still leads to the file that was opened."""
        if self.exists and self._identity() != self._opened:
            raise DatabaseFileReplacedError(
                f"{self.path} was removed or replaced. Stop the service, put the file back or run "
                "`svc admin restore FILE`, and start the service."
            )

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino
