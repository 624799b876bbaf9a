"""The supervisor of several workers: it replaces those that end, and stops in time, whatever state they are in."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.cli.conftest import Svc


@contextmanager
def supervised(svc: Svc, postgres_url: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start two workers; give their supervisor and its URL."""
    environment = {"SVC_DATABASE_URL": postgres_url}
    with svc.running("serve", "--port", 0, "--workers", 2, stderr=subprocess.PIPE, **environment) as server:
        assert server.stdout
        yield server, server.stdout.readline().split()[2]


def test_a_worker_that_ends_is_replaced(svc: Svc, postgres_url: str, record_property: Callable[[str, object], None]):
    with supervised(svc, postgres_url) as (server, address):
        assert server.stderr
        for is_starting in (True, False):
            if not is_starting:
                assert httpx.get(f"{address}/readyz", timeout=60).status_code == 200
            worker, began = first_child(server.pid), time.monotonic()

            os.kill(worker, signal.SIGKILL)
            line = next(line for line in server.stderr if "takes its place" in line)

            assert f"worker {worker} ended: worker " in line
            record_property("seconds", seconds := time.monotonic() - began)
            assert seconds < 2


def test_sigterm_ends_all_workers_in_time(svc: Svc, postgres_url: str, record_property: Callable[[str, object], None]):
    with supervised(svc, postgres_url) as (server, _):
        os.kill(first_child(server.pid), signal.SIGSTOP)

        began = time.monotonic()
        server.terminate()
        assert server.wait(timeout=60) == 0
        record_property("seconds", time.monotonic() - began)


def first_child(pid: int) -> int:
    """Return the first worker of a supervisor as soon as it is there, not Python's tracker of shared resources."""
    while True:
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text():
                return int(child)
