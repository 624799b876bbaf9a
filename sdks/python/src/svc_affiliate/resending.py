"""Resends what waits in an outbox: in the background while a process runs, or when it is asked to."""

import threading
import time
from pathlib import Path

from svc_affiliate import delivery, log
from svc_affiliate.codes import ErrorCode
from svc_affiliate.outbox import Outbox
from svc_affiliate.result import Status
from svc_affiliate.settings import Options, target_of

TIMEOUT_SECONDS = 10.0
SHORTEST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 1.0, 60.0


class Resender:
    """Resends the calls of one Track."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self, folder: Path) -> None:
        """Resend in the background until nothing waits. Raises RuntimeError if there can be no thread."""
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._repeat, args=(folder,), daemon=True, name="svc-outbox")
                self._thread.start()

    def resend(self, folder: Path) -> int:
        """Send what waits, in order, until the service or the key is out; return how many calls still wait."""
        outbox = Outbox(folder)
        with outbox.locked() as is_ours:
            for path in outbox.waiting() if is_ours else ():
                outbox.keep_lock()
                call, target = outbox.read(path), target_of(self._options)
                if target.outbox != folder:
                    break
                if call is None:
                    continue
                sent = delivery.attempt(call, target, seconds=TIMEOUT_SECONDS)
                log.report(sent)
                if sent.status == Status.REJECTED:
                    outbox.set_aside(path)
                elif sent.status != Status.FAILED:
                    path.unlink(missing_ok=True)
                elif sent.error is None or sent.error.code != ErrorCode.INTERNAL_ERROR:  # which is about this call
                    break
        return len(outbox.waiting())

    def _repeat(self, folder: Path) -> None:
        seconds = SHORTEST_WAIT_SECONDS
        try:
            while Outbox(folder).waiting():
                time.sleep(seconds)
                self.resend(folder)
                seconds = min(seconds * 2, LONGEST_WAIT_SECONDS)
        except Exception:  # noqa: BLE001 - the next call starts another thread
            log.LOGGER.exception("The outbox %s cannot be resent.", folder)
