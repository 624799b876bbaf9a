"""Sends calls in threads of their own, so that a caller never waits longer than the timeout, whatever hangs."""

import json
import threading
import time
from concurrent.futures import Future
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from svc_affiliate import log, result
from svc_affiliate.codes import ErrorCode
from svc_affiliate.fields import PreparedCall
from svc_affiliate.outbox import Outbox
from svc_affiliate.result import SERVER_ERROR, Status, TrackResult
from svc_affiliate.settings import VERSION, Target

AGENT = f"svc-affiliate-python/{VERSION}"
MOST_AT_ONCE = 64  # threads that may hang, for example on a name server
RETRY_AFTER_SECONDS = 0.05
LARGEST_RESPONSE = 1024 * 1024
PIECE = 16 * 1024
_free = threading.BoundedSemaphore(MOST_AT_ONCE)


class Sending:
    """One call on its way in a thread; the caller takes the result of `future`, or gives up."""

    def __init__(self, call: PreparedCall, target: Target, *, seconds: float) -> None:
        self.call, self.target = call, target
        self.future: Future[TrackResult[Any]] = Future()
        self.future.set_running_or_notify_cancel()  # a caller that gives up cannot cancel it
        self._is_given_up = threading.Event()
        if not _free.acquire(blocking=False):
            self._fail(f"{MOST_AT_ONCE} calls to the service hang.")
            return
        try:
            threading.Thread(target=self._run, args=[seconds], daemon=True, name="svc-affiliate").start()
        except RuntimeError as problem:  # too many threads, or the interpreter is ending
            _free.release()
            self._fail(str(problem))

    def give_up(self) -> TrackResult[Any]:
        """Return the result of a call that took too long; if it succeeds after all, it leaves the outbox."""
        self._is_given_up.set()
        return result.failed(self.call, ErrorCode.TIMED_OUT, "The service took too long to respond.")

    def _fail(self, problem: str) -> None:
        self.future.set_result(result.failed(self.call, ErrorCode.SERVICE_UNREACHABLE, problem))

    def _run(self, seconds: float) -> None:
        try:
            sent = attempt(self.call, self.target, seconds=seconds)
            if self._is_given_up.is_set() and self.target.outbox and sent.status != Status.FAILED:
                Outbox(self.target.outbox).remove(self.call)
        except Exception as problem:  # noqa: BLE001 - the waiting caller gets a result
            sent = result.broken(self.call.name, problem)
        finally:
            _free.release()
        self.future.set_result(sent)


def attempt(call: PreparedCall, target: Target, *, seconds: float) -> TrackResult[Any]:
    """Send a call, and once more with the same ids if the first attempt fails and there is time."""
    deadline = time.monotonic() + seconds
    sent = _once(call, target, deadline)
    if (pause := _pause_before_retry(sent)) and time.monotonic() + pause < deadline:
        time.sleep(pause)
        sent = _once(call, target, deadline)
    return sent


def _pause_before_retry(sent: TrackResult[Any]) -> float | None:
    """Return how long to wait before the second attempt; None if it would fail like the first."""
    error = sent.error
    if sent.status != Status.FAILED or error is None or error.code == ErrorCode.NOT_CONFIGURED:
        return None
    is_outage = error.http_status is None or error.http_status >= SERVER_ERROR
    return (error.retry_after_seconds or RETRY_AFTER_SECONDS) if is_outage else None


def _once(call: PreparedCall, target: Target, deadline: float) -> TrackResult[Any]:
    if not target.key:
        return result.failed(call, ErrorCode.NOT_CONFIGURED, "There is no program key: set SERVICE_API_KEY.")
    headers = {
        "Content-Type": "application/json",
        "Authorization": f"Bearer {target.key}",
        "Idempotency-Key": call.repeat_key,
        "User-Agent": AGENT,
    }
    response = _post(f"{target.base_url}/api/v1/track/{call.name}", call.body, headers, deadline)
    if isinstance(response, str):
        return result.failed(call, ErrorCode.SERVICE_UNREACHABLE, response)
    http_status, content = response
    if not result.is_of_the_service(content):
        text = f"{target.base_url} responded {http_status}, but not as the service does."
        return result.failed(call, ErrorCode.NOT_THE_SERVICE, text)
    log.warn_once(content.get("warnings", ()))
    return result.of_response(call, http_status, content)


class NoRedirects(HTTPRedirectHandler):
    """A redirect would carry the key to another server."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow none."""


OPENER = build_opener(NoRedirects)


def _post(url: str, body: str, headers: dict[str, str], deadline: float) -> tuple[int, dict[str, Any]] | str:
    """Return the status and the JSON object of the response (empty if it is none), or why there is no response."""
    if not url.startswith(("http://", "https://")):
        return f"{url} is not an http or https URL."
    request = Request(url, body.encode(), headers, method="POST")  # noqa: S310 - the scheme is checked above
    try:
        with OPENER.open(request, timeout=max(deadline - time.monotonic(), 0.001)) as response:
            return response.status, _content(response, deadline)
    except HTTPError as rejection:
        with rejection:
            return rejection.code, _content(rejection, deadline)
    except (OSError, HTTPException, ValueError) as problem:
        return f"{url} does not respond: {problem}"


def _content(response: Any, deadline: float) -> dict[str, Any]:
    read = bytearray()
    while piece := response.read1(PIECE):
        read += piece
        if len(read) > LARGEST_RESPONSE or time.monotonic() > deadline:
            return {}
    try:
        content = json.loads(read)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}
