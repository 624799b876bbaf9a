"""Sends calls in threads, so that no caller waits longer than the timeout; what must wait is a file of the outbox."""

import json
import os
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.request import HTTPErrorProcessor, Request, build_opener

from svc_affiliate import result
from svc_affiliate.codes import ErrorCode
from svc_affiliate.fields import PreparedCall
from svc_affiliate.result import Status, TrackResult
from svc_affiliate.settings import VERSION, Options, Target, target_of

AGENT = f"svc-affiliate-python/{VERSION}"
MOST_AT_ONCE = 64  # threads that may hang, for example on a name server
LARGEST_RESPONSE = 1024 * 1024
MOST_WAITING = 10_000
LOCK_SECONDS = 60  # a lock that was not touched for so long was left by a process that ended
RESEND_SECONDS = 10.0  # how long a call from the outbox may take
SHORTEST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 1.0, 60.0
_starting = threading.Lock()
_threads: dict[Path, threading.Thread] = {}
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
        pause = error.retry_after_seconds or 0.05
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
    headers |= {"Svc-Dry-Run": "true"} if target.is_dry else {}
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
        return response

    https_response = http_response


OPENER = build_opener(AnyStatus)


def _content(response: Any, deadline: float) -> dict[str, Any]:
    """Return the JSON object of a response, empty if it is none or is too large. Raises TimeoutError."""
    read = bytearray()
    while piece := response.read1(16 * 1024):
        read += piece
        if time.monotonic() > deadline:
            raise TimeoutError("the response takes too long")
        if len(read) > LARGEST_RESPONSE:
            return {}
    try:
        content = json.loads(read)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def waiting(folder: Path) -> list[Path]:
    """Return the files of the calls that wait, oldest first."""
    return sorted(folder.glob("*.json")) if folder.is_dir() else []


def put(folder: Path, call: PreparedCall) -> bool:
    """Let a call wait, unless too many do; return whether it waits. Raises OSError."""
    if len(waiting(folder)) >= MOST_WAITING:
        return False
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{time.time_ns():020}-{call.repeat_key}.json"
    being_written = path.with_suffix(f".{uuid.uuid4().hex}")
    with os.fdopen(os.open(being_written, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(call._asdict(), file)
        file.flush()
        os.fsync(file.fileno())
    being_written.replace(path)
    return True


def start(folder: Path, options: Options) -> None:
    """Resend in the background until nothing waits. Raises RuntimeError if there can be no thread."""

    def repeat() -> None:
        seconds = SHORTEST_WAIT_SECONDS
        try:
            while waiting(folder):
                time.sleep(seconds)
                resend(folder, options)
                seconds = min(seconds * 2, LONGEST_WAIT_SECONDS)
        except Exception:  # noqa: BLE001 - the next call starts another thread
            result.LOGGER.exception("The outbox %s cannot be resent.", folder)

    with _starting:
        thread = _threads.get(folder)
        if thread is None or not thread.is_alive():
            _threads[folder] = threading.Thread(target=repeat, daemon=True, name="svc-outbox")
            _threads[folder].start()


def resend(folder: Path, options: Options) -> int:
    """Send what waits, in order, until the service or the key is out; return how many calls still wait."""
    lock = folder / "lock"
    with _held(lock) as is_ours:
        for path in waiting(folder) if is_ours else ():
            os.utime(lock)  # this process is still sending
            target = target_of(options)
            if target.outbox != folder:
                break
            try:
                call = PreparedCall(**json.loads(path.read_text(encoding="utf-8")))
            except FileNotFoundError:  # another process has sent it
                continue
            sent = attempt(call, target, seconds=RESEND_SECONDS)
            result.report(sent)
            if sent.status == Status.REJECTED:  # kept for a person to read
                path.replace(path.with_suffix(".rejected"))
            elif sent.status != Status.FAILED:
                path.unlink(missing_ok=True)
            elif sent.error is None or sent.error.code != ErrorCode.INTERNAL_ERROR:  # which is about this call
                break
    return len(waiting(folder))


@contextmanager
def _held(lock: Path) -> Iterator[bool]:
    """Give whether this process may send now: one at a time, so that a lead comes before its sale."""
    with suppress(FileNotFoundError):
        if time.time() - lock.stat().st_mtime > LOCK_SECONDS:
            lock.unlink(missing_ok=True)
    try:
        lock.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        yield False
        return
    try:
        yield True
    finally:
        lock.unlink(missing_ok=True)
