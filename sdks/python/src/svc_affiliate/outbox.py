"""Calls that wait for the service or for a new key: a folder with one file for each, sent in their order."""

import json
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from svc_affiliate.fields import PreparedCall

WAITING, REJECTED = ".json", ".rejected"
MOST_WAITING = 10_000
LOCK_SECONDS = 60  # a lock that was not touched for so long was left by a process that ended


class Outbox:
    """The calls of one program that wait. Processes may share the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def waiting(self) -> list[Path]:
        """Return the files of the calls that wait, oldest first."""
        return sorted(self.folder.glob(f"*{WAITING}")) if self.folder.is_dir() else []

    def put(self, call: PreparedCall) -> bool:
        """Let a call wait, unless too many do; return whether it waits. Raises OSError."""
        if len(self.waiting()) >= MOST_WAITING:
            return False
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.folder / f"{time.time_ns():020}-{call.repeat_key}{WAITING}"
        being_written = path.with_suffix(f".{uuid.uuid4().hex}")
        with os.fdopen(os.open(being_written, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(call._asdict(), file)
            file.flush()
            os.fsync(file.fileno())
        being_written.replace(path)
        return True

    def read(self, path: Path) -> PreparedCall | None:
        """Return the call of a file; None if another process has sent it."""
        try:
            return PreparedCall(**json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None

    def remove(self, call: PreparedCall) -> None:
        """Forget a call that was recorded after all."""
        for path in self.folder.glob(f"*-{call.repeat_key}{WAITING}"):
            path.unlink(missing_ok=True)

    def set_aside(self, path: Path) -> None:
        """Keep a call that the service rejected, for a person to read."""
        path.replace(path.with_suffix(REJECTED))

    @contextmanager
    def locked(self) -> Iterator[bool]:
        """Give whether this process may send now: one at a time, so that a lead comes before its sale."""
        lock = self.folder / "lock"
        held = self._take(lock)
        try:
            yield held
        finally:
            if held:
                lock.unlink(missing_ok=True)

    def keep_lock(self) -> None:
        """Say that this process is still sending."""
        os.utime(self.folder / "lock")

    def _take(self, lock: Path) -> bool:
        try:
            if time.time() - lock.stat().st_mtime > LOCK_SECONDS:
                lock.unlink(missing_ok=True)
        except FileNotFoundError:
            pass
        try:
            lock.touch(mode=0o600, exist_ok=False)
        except FileExistsError:
            return False
        return True
