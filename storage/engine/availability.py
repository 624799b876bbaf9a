"""Whether storage is available, judged by the last reads or writes; the service logs each change once."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from storage.engine.failures import reason_of
from storage.rules.errors import OutcomeUnknown, StorageUnavailable

QUIET_SECONDS = 1.0  # of successes after the last failure, before storage counts as available again
log = logging.getLogger(__name__)


class Availability:
    """The availability of storage for `reading` or for `writing`."""

    def __init__(self, purpose: str) -> None:
        self._purpose = purpose
        self._failed_at: float | None = None

    @property
    def is_known_bad(self) -> bool:
        """Whether it failed, and has not recovered yet."""
        return self._failed_at is not None

    @contextmanager
    def observed(self) -> Iterator[None]:
        """Record how a transaction ends; any error except an outage means that storage works."""
        try:
            yield
        except (StorageUnavailable, OutcomeUnknown) as outage:
            if outage.is_of_one_node:
                log.warning("a node is unavailable for %s: %s", self._purpose, reason_of(outage))
                self._note_success()
                raise
            if self._failed_at is None:
                log.error("storage is unavailable for %s: %s", self._purpose, reason_of(outage))  # noqa: TRY400 - one line
            self._failed_at = time.monotonic()
            raise
        except Exception:
            self._note_success()
            raise
        self._note_success()

    def _note_success(self) -> None:
        if self._failed_at is not None and time.monotonic() - self._failed_at >= QUIET_SECONDS:
            self._failed_at = None
            log.warning("storage is available for %s again", self._purpose)
