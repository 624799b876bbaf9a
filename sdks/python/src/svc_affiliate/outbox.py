"""Calls that wait for the service or for a new key: a folder with one file for each, sent in their order."""

import json
import os
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from svc_affiliate import delivery, result
from svc_affiliate.codes import ErrorCode
from svc_affiliate.fields import PreparedCall
from svc_affiliate.result import Status
from svc_affiliate.settings import Options, target_of

MOST_WAITING = 10_000
LOCK_SECONDS = 60  # a lock that was not touched for so long was left by a process that ended
TIMEOUT_SECONDS = 10.0
SHORTEST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 1.0, 60.0
_starting = threading.Lock()
_threads: dict[Path, threading.Thread] = {}


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
    with _starting:
        thread = _threads.get(folder)
        if thread is None or not thread.is_alive():
            _threads[folder] = threading.Thread(target=_repeat, args=(folder, options), daemon=True, name="svc-outbox")
            _threads[folder].start()


def _repeat(folder: Path, options: Options) -> None:
    seconds = SHORTEST_WAIT_SECONDS
    try:
        while waiting(folder):
            time.sleep(seconds)
            resend(folder, options)
            seconds = min(seconds * 2, LONGEST_WAIT_SECONDS)
    except Exception:  # noqa: BLE001 - the next call starts another thread
        result.LOGGER.exception("The outbox %s cannot be resent.", folder)


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
            sent = delivery.attempt(call, target, seconds=TIMEOUT_SECONDS)
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
