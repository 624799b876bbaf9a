"""Sends calls in threads of their own, so that a caller never waits longer than the timeout, whatever hangs."""

import threading
import time
from concurrent.futures import Future
from typing import Any

from svc_affiliate import log, posting, result
from svc_affiliate.codes import ErrorCode
from svc_affiliate.fields import PreparedCall
from svc_affiliate.outbox import Outbox
from svc_affiliate.result import SERVER_ERROR, Status, TrackResult
from svc_affiliate.settings import Target

MOST_AT_ONCE = 64  # threads that may hang, for example on a name server
RETRY_AFTER_SECONDS = 0.05
_free = threading.BoundedSemaphore(MOST_AT_ONCE)


class Sending:
    """One call on its way in a thread; the caller takes the result of `future`, or gives up."""

    def __init__(self, call: PreparedCall, target: Target, *, seconds: float, agent: str) -> None:
        self.future: Future[TrackResult[Any]] = Future()
        self.future.set_running_or_notify_cancel()  # a caller that gives up cannot cancel it
        self._call, self._target = call, target
        self._is_given_up = threading.Event()
        if not _free.acquire(blocking=False):
            self._fail(f"{MOST_AT_ONCE} calls to the service hang.")
            return
        try:
            threading.Thread(target=self._run, args=(seconds, agent), daemon=True, name="svc-affiliate").start()
        except RuntimeError as problem:  # too many threads, or the interpreter is ending
            _free.release()
            self._fail(str(problem))

    def give_up(self) -> TrackResult[Any]:
        """Return the result of a call that took too long; if it succeeds after all, it leaves the outbox."""
        self._is_given_up.set()
        return result.failed(self._call, ErrorCode.TIMED_OUT, "The service took too long to respond.")

    def _fail(self, problem: str) -> None:
        self.future.set_result(result.failed(self._call, ErrorCode.SERVICE_UNREACHABLE, problem))

    def _run(self, seconds: float, agent: str) -> None:
        try:
            sent = attempt(self._call, self._target, seconds=seconds, agent=agent)
            if self._is_given_up.is_set() and self._target.outbox and sent.status != Status.FAILED:
                Outbox(self._target.outbox).remove(self._call)
            self.future.set_result(sent)
        except Exception as problem:  # noqa: BLE001 - the waiting caller turns it into a result
            self.future.set_exception(problem)
        finally:
            _free.release()


def attempt(call: PreparedCall, target: Target, *, seconds: float, agent: str) -> TrackResult[Any]:
    """Send a call, and once more with the same ids if the first attempt fails and there is time."""
    deadline = time.monotonic() + seconds
    sent = _once(call, target, deadline, agent)
    if (pause := _pause_before_retry(sent)) and time.monotonic() + pause < deadline:
        time.sleep(pause)
        sent = _once(call, target, deadline, agent)
    return sent


def _pause_before_retry(sent: TrackResult[Any]) -> float | None:
    """Return how long to wait before the second attempt; None if it would fail like the first."""
    error = sent.error
    if sent.status != Status.FAILED or error is None or error.code == ErrorCode.NOT_CONFIGURED:
        return None
    is_outage = error.http_status is None or error.http_status >= SERVER_ERROR
    return (error.retry_after_seconds or RETRY_AFTER_SECONDS) if is_outage else None


def _once(call: PreparedCall, target: Target, deadline: float, agent: str) -> TrackResult[Any]:
    if not target.key:
        return result.failed(call, ErrorCode.NOT_CONFIGURED, "There is no program key: set SERVICE_API_KEY.")
    headers = {
        "Content-Type": "application/json",
        "Authorization": f"Bearer {target.key}",
        "Idempotency-Key": call.repeat_key,
        "User-Agent": agent,
    }
    answer = posting.post(f"{target.base_url}/api/v1/track/{call.name}", call.body, headers, deadline=deadline)
    if isinstance(answer, str):
        return result.failed(call, ErrorCode.SERVICE_UNREACHABLE, answer)
    if not result.is_of_the_service(answer.content):
        text = f"{target.base_url} responded {answer.http_status}, but not as the service does."
        return result.failed(call, ErrorCode.NOT_THE_SERVICE, text)
    log.warn_once(answer.content.get("warnings", ()))
    return result.of_response(call, answer.http_status, answer.content)
