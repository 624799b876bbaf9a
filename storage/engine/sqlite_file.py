"""The file of an embedded database: private, locked while it is served, and watched for what others do to it."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import NamedTuple

if sys.platform != "win32":
    import fcntl

PRIVATE = 0o600
FILES = ("", "-wal", "-shm")
IN_WAL_MODE = b"\2\2"  # bytes 18 and 19 of the database
ADVICE = "Stop the service, put the file back or run `svc admin restore FILE`, and start the service."


class DatabaseFileReplacedError(OSError):
    """A file that holds data was removed, replaced or changed by something that is not SQLite."""


class WalRemovedError(DatabaseFileReplacedError):
    """The -wal file was removed: what it held is still in the open one, and can be saved."""


class FileStatus(NamedTuple):
    identity: tuple[int, int]
    mtime_ns: int
    size: int


class DatabaseFile:
    """A path, and the files that hold the data there: the one that the service opened, and its -wal file.

    SQLite moves pages from the -wal file to the other one, and says so in the -shm file (The WAL-Index File Format):
    its bytes 32 to 39 change when the -wal file begins anew, 96 to 99 say how much is moved, 128 to 131 how much is to
    be. What changes the database while these stay as they are is not SQLite.

    To close a file releases all locks that the process holds on it, SQLite's included; another process, a command for
    example, would then delete the -wal file and rebuild the -shm file (How To Corrupt An SQLite Database File, 2.2).
    So what this opens stays open for as long as a connection does.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._main, self._wal, self._shm = (str(path) + ending for ending in FILES)
        status = _status(self._main)
        self._opened = status and status.identity
        self._opened_wal: tuple[int, int] | None = None  # while a lane is open, or the file is lost
        self._lanes = 0  # that are open
        self._connections = 0  # those of the lanes, and those that are being opened or closed
        self._held: list[FileIO] = []  # until there are no connections
        self._watched: tuple[FileIO, FileIO] | None = None  # the database and its -shm file, while a lane is open
        self._seen: tuple[FileStatus | None, bytes] = (None, b"")
        self._is_overwritten = False
        self._lock = threading.Lock()

    def make_private(self) -> None:
        """Create the file if it never existed, and let its owner alone read it; SQLite gives -wal and -shm its mode."""
        if self._opened is None:
            with suppress(OSError):  # SQLite then names the problem
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDONLY, PRIVATE))
        for ending in FILES:
            with suppress(OSError):  # another account's file stays as that account has it
                self.path.with_name(self.path.name + ending).chmod(PRIVATE)

    def opening(self) -> None:
        """Count a connection before SQLite has one."""
        with self._lock:
            self._connections += 1

    def opened(self) -> None:
        """Remember the file that a lane has opened, and created if it never existed."""
        with self._lock:
            self._lanes += 1
            status = _status(self._main)
            self._opened = self._opened or (status and status.identity)
            if self._watched is None:
                self._seen = (None, b"")
                with suppress(OSError):  # no -shm file
                    for path in (self._main, self._shm):
                        self._held.append(FileIO(path))
                    self._watched = self._held[-2], self._held[-1]
        self.look()

    def closing(self) -> None:
        """Forget what SQLite may change when the last lane closes: it deletes the -wal file."""
        with self._lock:
            self._lanes -= 1
            if self._lanes == 0:
                self._watched = None
                wal = _status(self._wal)
                if wal and self._opened_wal == wal.identity:
                    self._opened_wal = None

    def closed(self) -> None:
        """Close the files once SQLite has no connection whose locks that would release."""
        with self._lock:
            self._connections -= 1
            while self._held and not self._connections:
                self._held.pop().close()

    def check(self) -> None:
        """Raise DatabaseFileReplacedError unless all is in its place and only SQLite has changed it."""
        main, wal = self.look(), _status(self._wal)
        if self._opened is not None and (main is None or main.identity != self._opened):
            raise DatabaseFileReplacedError(f"{self.path} was removed or replaced. {ADVICE}")
        if self._opened_wal is not None and (wal is None or wal.identity != self._opened_wal):
            raise WalRemovedError(f"{self._wal}, which holds the newest writes, was removed. {ADVICE}")
        if self._is_overwritten:
            raise DatabaseFileReplacedError(f"Something that is not SQLite has written to {self.path}. {ADVICE}")
        if wal is not None and self._lanes:
            self._opened_wal = wal.identity

    def look(self) -> FileStatus | None:
        """Note whether something that is not SQLite has changed the database since the last look."""
        with self._lock:
            index, main = self._read_index(), _status(self._main)
            is_moving = index[8:12] != index[12:]
            if (main, index) != self._seen and not is_moving and index == self._read_index():
                (before, seen), self._seen = self._seen, (main, index)
                is_same = main is not None and before is not None and main.identity == before.identity
                if is_same and main != before and self._watched and index:
                    in_wal_mode = index != seen and _read(self._watched[0], 18, 2) == IN_WAL_MODE
                    self._is_overwritten = self._is_overwritten or not in_wal_mode
            return main

    def _read_index(self) -> bytes:
        """Return what says how many pages are moved; nothing if no lane is open."""
        index = _read(self._watched[1], 32, 100) if self._watched else b""
        return index[:8] + index[64:68] + index[96:]


def _status(path: str) -> FileStatus | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - each commit does this
    except FileNotFoundError:
        return None
    return FileStatus((status.st_dev, status.st_ino), status.st_mtime_ns, status.st_size)


def _read(file: FileIO, position: int, size: int) -> bytes:
    file.seek(position)
    return file.read(size)


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
