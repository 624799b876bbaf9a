"""The service as operators run it, a process of its own on one port: started, killed, and started again."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import httpx

from tests import forked, postgres
from tests.conftest import ROOT
from tests.serving import PLAIN

LONGEST_STOP_SECONDS = 15


class Service:
    """`svc serve` over a database; what it writes to its log is kept in a file."""

    def __init__(self, folder: Path, database_url: str, environment: dict[str, str], workers: int = 1) -> None:
        self.port = postgres.free_port()
        self.base_url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "service.log"
        settings = {"SVC_DATABASE_URL": database_url, "SVC_RATE_LIMIT": "off", "PYTHONPATH": str(ROOT)}
        self._environment = os.environ | settings | environment
        self._folder = folder
        self._workers = workers
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it is ready."""
        command = [sys.executable, "-m", "cli", "serve", "--port", str(self.port), "--workers", str(self._workers)]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command, env=self._environment, cwd=self._folder, stdout=log, stderr=log, start_new_session=True
            )
        self.wait_until(200)

    def kill(self) -> None:
        """End it as a crash does: without a word."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """Stop it as an operator does."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(timeout=LONGEST_STOP_SECONDS)

    def wait_until(self, status: int) -> None:
        """Wait until /readyz answers with a status; the process should not end before."""
        assert self._process is not None
        while self._readiness() != status:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=0.05)
                raise AssertionError(self.log.read_text())

    def check(self) -> str:
        """Run `svc admin db check` and return its complaints."""
        done = forked.run(["admin", "db", "check"], cwd=self._folder, env=self._environment, stdin="")
        return "" if done.code == 0 else done.stdout + done.stderr

    def _readiness(self) -> int:
        try:
            return httpx.get(f"{self.base_url}/readyz", timeout=5, verify=PLAIN).status_code
        except httpx.TransportError:
            return 0
