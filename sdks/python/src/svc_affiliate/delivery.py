"""Sends calls in threads of their own, so that a caller never waits longer than the timeout, whatever hangs."""

import json
import threading
import time
from concurrent.futures import Future
from http.client import HTTPException
from typing import Any
from urllib.request import HTTPErrorProcessor, Request, build_opener

from svc_affiliate import result
from svc_affiliate.codes import ErrorCode
from svc_affiliate.fields import PreparedCall
from svc_affiliate.result import Status, TrackResult
from svc_affiliate.settings import VERSION, Target

AGENT = f"svc-affiliate-python/{VERSION}"
MOST_AT_ONCE = 64  # threads that may hang, for example on a name server
RETRY_AFTER_SECONDS = 0.05
LARGEST_RESPONSE = 1024 * 1024
PIECE = 16 * 1024
_free = threading.BoundedSemaphore(MOST_AT_ONCE)


def send(call: PreparedCall, target: Target, *, seconds: float) -> Future[TrackResult[Any]]:
    """Send a call in a thread. Who gives up cancels the future: a call that succeeds after all leaves the outbox."""
    future: Future[TrackResult[Any]] = Future()
    problem = f"{MOST_AT_ONCE} calls to the service hang."
    if _free.acquire(blocking=False):
        arguments = (call, target, seconds, future)
        try:
            threading.Thread(target=_run, args=arguments, daemon=True, name="svc-affiliate").start()
        except RuntimeError as error:  # too many threads, or the interpreter is ending
            _free.release()
            problem = str(error)
        else:
            return future
    future.set_result(result.failed(call, ErrorCode.SERVICE_UNREACHABLE, problem))
    return future


def _run(call: PreparedCall, target: Target, seconds: float, future: Future[TrackResult[Any]]) -> None:
    try:
        sent = attempt(call, target, seconds=seconds)
    except Exception as problem:  # noqa: BLE001 - the waiting caller gets a result
        sent = result.broken(call.name, problem)
    finally:
        _free.release()
    if future.set_running_or_notify_cancel():
        future.set_result(sent)
    elif target.outbox and sent.status != Status.FAILED:
        for path in target.outbox.glob(f"*-{call.repeat_key}.json"):
            path.unlink(missing_ok=True)


def attempt(call: PreparedCall, target: Target, *, seconds: float) -> TrackResult[Any]:
    """Send a call, and once more with the same ids if an outage ends the first attempt and there is time."""
    deadline = time.monotonic() + seconds
    sent = _once(call, target, deadline)
    error = sent.error
    if error is not None and error.is_outage and error.code != ErrorCode.NOT_CONFIGURED:
        pause = error.retry_after_seconds or RETRY_AFTER_SECONDS
        if time.monotonic() + pause < deadline:
            time.sleep(pause)
            sent = _once(call, target, deadline)
    return sent


def _once(call: PreparedCall, target: Target, deadline: float) -> TrackResult[Any]:
    if not target.key:
        return result.failed(call, ErrorCode.NOT_CONFIGURED, "There is no program key: set SERVICE_API_KEY.")
    if not target.base_url.startswith(("http://", "https://")):
        return result.failed(call, ErrorCode.SERVICE_UNREACHABLE, f"{target.base_url} is not an http or https URL.")
    url = f"{target.base_url}/api/v1/track/{call.name}"
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {target.key}", "User-Agent": AGENT}
    request = Request(url, call.body.encode(), headers, method="POST")  # noqa: S310 - the scheme is checked above
    try:
        with OPENER.open(request, timeout=max(deadline - time.monotonic(), 0.001)) as response:
            content = _content(response, deadline)
    except (OSError, HTTPException, ValueError) as problem:
        return result.failed(call, ErrorCode.SERVICE_UNREACHABLE, f"{url} does not respond: {problem}")
    error = content.get("error")
    if content.get("success") is not True and not (isinstance(error, dict) and "code" in error):
        text = f"{target.base_url} responded {response.status}, but not as the service does."
        return result.failed(call, ErrorCode.NOT_THE_SERVICE, text)
    result.warn_once(content.get("warnings", ()))
    return result.of_response(call, response.status, content)


class AnyStatus(HTTPErrorProcessor):
    """Gives a response as it is: an error has a body, and a redirect would carry the key to another server."""

    def http_response(self, request: Request, response: Any) -> Any:  # noqa: ARG002 - the signature of urllib
        """Return the response."""
        return response

    https_response = http_response


OPENER = build_opener(AnyStatus)


def _content(response: Any, deadline: float) -> dict[str, Any]:
    """Return the JSON object of a response, empty if it is none, is too large or takes too long."""
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
