"""The real `svc` as a process of its own, on an embedded database in a temporary folder."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.forked import Done, run

CHECKOUT = Path(__file__).parents[2]


def execute(database: Path, *statements: str) -> list[Any]:
    """Run statements on a SQLite file, and return the rows of the last one."""
    with closing(sqlite3.connect(database)) as connection:
        rows = [connection.execute(each).fetchall() for each in statements]
        connection.commit()
    return rows[-1]


def command(arguments: Iterable[object]) -> list[str]:
    return [sys.executable, "-m", "cli", *map(str, arguments)]


class Svc:
    """Runs commands in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = folder / "svc.db"
        self.url = f"sqlite+aiosqlite:///{self.database}"

    def __call__(self, *arguments: object, stdin: str = "", **environment: str) -> Done:
        return run(arguments, cwd=self.folder, env=self._env() | environment, stdin=stdin)

    def set_up(self, owner: str = "ada@b.example") -> None:
        """Create the tables and the workspace Acme."""
        for arguments, stdin in (
            (("db", "upgrade"), ""),
            (("workspace", "create", "Acme", "--owner-email", owner, "--password-stdin"), "correct horse"),
        ):
            assert self("admin", *arguments, stdin=stdin).code == 0

    @contextmanager
    def running(self, *arguments: object, stderr: int | None = None, **env: str) -> Iterator[subprocess.Popen[str]]:
        """Run a command that serves; it is terminated at the end."""
        process = subprocess.Popen(
            command(arguments), cwd=self.folder, env=self._env() | env, stdout=subprocess.PIPE, stderr=stderr, text=True
        )
        try:
            yield process
        finally:
            process.terminate()
            process.communicate(timeout=30)

    @contextmanager
    def serving(self, *options: object, **environment: Any) -> Iterator[tuple[subprocess.Popen[str], str]]:
        """Run `svc serve` on a free port; give its process and its URL."""
        with self.running("serve", "--port", 0, *options, **environment) as server:
            assert server.stdout
            address = server.stdout.readline().split()[2]
            assert httpx.get(f"{address}/readyz", timeout=60).status_code == 200
            yield server, address

    def _env(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
        temporary = {"TMPDIR": str(self.folder)}
        return kept | temporary | {"PYTHONPATH": str(CHECKOUT), "PYTHONWARNINGS": "error::ResourceWarning"}


@pytest.fixture
def svc(tmp_path: Path) -> Svc:
    return Svc(tmp_path)
