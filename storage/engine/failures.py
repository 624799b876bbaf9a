"""Classifies a driver's error as a conflict, an outage or neither, and notes whether storage is available."""

import logging
import math
import sqlite3
import time
from asyncio import CancelledError
from collections.abc import Iterator
from contextlib import contextmanager

from storage.rules.errors import OutcomeUnknown, StorageUnavailable

RETRY_SECONDS = 2
WARNING_SECONDS = 60.0
QUIET_SECONDS = 1.0  # of successes after the last failure, before storage counts as available again
log = logging.getLogger(__name__)
_CONFLICTS = {"23505", "40001", "40P01"}  # unique violation, serialization failure, deadlock
READ_ONLY = "25006"  # a write in recovery or on a read-only server; on a lane that only reads, it is a bug
LOCKED = "55P03"  # another transaction holds a lock for longer than `lock_timeout`
_OUTAGES = {"25P03", "57014", "XX001", "XX002", READ_ONLY, LOCKED}  # idle too long, canceled, corrupt
_OUTAGE_CLASSES = {"08", "53", "57P", "58"}  # connection, resources, operator, system
_SQLITE_CONFLICTS = {sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY}
_SQLITE_OUTAGES = {
    *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_CANTOPEN),
    *(sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY),
    *(sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB),
}


class StaleReadError(Exception):
    """Another transaction changed what this one had read, before it could write: run the write again."""


def is_conflict(error: BaseException) -> bool:
    """Return whether the write lost a race and may succeed when it runs again."""
    return isinstance(error, StaleReadError) or any(
        getattr(each, "sqlstate", None) in _CONFLICTS or getattr(each, "sqlite_errorcode", None) in _SQLITE_CONFLICTS
        for each in chain(error)
    )


def is_outage(error: BaseException, *, read_only: bool = False) -> bool:
    """Return whether the database, its disk or its network failed, and not the write."""
    return any(isinstance(each, OSError) or _is_outage_code(each, read_only) for each in chain(error))


def unavailable(cause: BaseException, *, is_partial: bool = False) -> StorageUnavailable:
    """Return the error that callers get in an outage; its cause is for the log."""
    error = StorageUnavailable(retry_after_seconds=RETRY_SECONDS)
    error.is_partial = is_partial
    error.__cause__ = cause
    return error


def is_reported(error: BaseException, *codes: str) -> bool:
    """Return whether the server itself reported the error: with one of these codes, or (none given) with any."""
    states = [getattr(each, "sqlstate", None) for each in chain(error)]
    return any(state is not None and (not codes or state in codes) for state in states)


def reason_of(error: BaseException) -> str:
    """Return in one line what the server said, or else the driver: asyncpg's later errors only follow from that."""
    errors = list(chain(error))
    if isinstance(errors[-1], TimeoutError | CancelledError):
        return "there was no response in time"
    reported = [each for each in errors if getattr(each, "severity", None) is not None]
    cause = (reported or errors)[-1]
    return " ".join(str(cause).split()) or type(cause).__name__


def _is_outage_code(error: BaseException, read_only: bool) -> bool:  # noqa: FBT001 - private
    state = str(getattr(error, "sqlstate", None) or "")
    code = getattr(error, "sqlite_errorcode", None)
    if read_only and (state == READ_ONLY or code == sqlite3.SQLITE_READONLY):
        return False
    known = state in _OUTAGES or state[:2] in _OUTAGE_CLASSES or state[:3] in _OUTAGE_CLASSES
    return known or (code is not None and code & 0xFF in _SQLITE_OUTAGES)


def chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what led to it: if a full disk ends a transaction, it is the context of a later error."""
    each: BaseException | None = error
    while each is not None:
        yield each
        each = getattr(each, "orig", None) or each.__cause__ or each.__context__


class Availability:
    """Whether a database works for a purpose, by its last uses; each change is logged once."""

    def __init__(self, purpose: str) -> None:
        self._purpose = purpose
        self._failed_at: float | None = None
        self._warned_at = -math.inf
        self.succeeded_at = 0.0  # in seconds since 1970

    @property
    def is_known_bad(self) -> bool:
        return self._failed_at is not None

    @contextmanager
    def observed(self) -> Iterator[None]:
        """Record how a transaction ends; any error except an outage means that storage works."""
        try:
            yield
        except (StorageUnavailable, OutcomeUnknown) as outage:
            if outage.is_partial:
                self.succeeded()
                if time.monotonic() - self._warned_at >= WARNING_SECONDS:
                    self._warned_at = time.monotonic()
                    log.warning("a part of storage is unavailable for %s: %s", self._purpose, reason_of(outage))
            else:
                self.failed(reason_of(outage))
            raise
        except Exception:
            self.succeeded()
            raise
        self.succeeded()

    def failed(self, reason: str) -> None:
        if self._failed_at is None:
            log.error("storage is unavailable for %s: %s", self._purpose, reason)
        self._failed_at = time.monotonic()

    def succeeded(self) -> None:
        self.succeeded_at = time.time()
        if self._failed_at is not None and time.monotonic() - self._failed_at >= QUIET_SECONDS:
            self._failed_at = None
            log.warning("storage is available for %s again", self._purpose)
