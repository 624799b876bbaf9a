"""Runs `svc` in processes forked from one that has imported it, since importing takes longer than most commands do."""

import json
import os
import sys
import warnings
from collections.abc import Iterable
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

IMPORTED = ["cli.admin.command", "cli.integrator.project", "cli.serve", "asgi", "tests.forked"]
FORKS = get_context("forkserver")
FORKS.set_forkserver_preload(IMPORTED)
SECONDS = 60


class Done(NamedTuple):
    """How a command ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """The one object on stdout."""
        return json.loads(self.stdout)


def run(arguments: Iterable[object], *, cwd: Path, env: dict[str, str], stdin: str) -> Done:
    """Run one command of `svc` to its end, in a process with this environment and nothing of ours.

    Raises:
        TimeoutError: It did not end within a minute; it was killed.
    """
    with TemporaryDirectory() as folder:
        streams = [Path(folder, name) for name in ("stdin", "stdout", "stderr")]
        streams[0].write_text(stdin, encoding="utf-8")
        process = FORKS.Process(target=_become, args=([*map(str, arguments)], streams, cwd, env))
        process.start()
        process.join(SECONDS)
        if process.exitcode is None:
            process.kill()
            raise TimeoutError(arguments)
        stdout, stderr = (stream.read_text(encoding="utf-8") for stream in streams[1:])
        return Done(process.exitcode, stdout, stderr)


def _become(arguments: list[str], streams: list[Path], cwd: Path, env: dict[str, str]) -> None:
    """Turn this process into `svc` with these arguments."""
    for number, path in enumerate(streams):
        os.dup2(os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT), number)
    standard = [os.fdopen(number, mode, encoding="utf-8", closefd=False) for number, mode in enumerate("rww")]
    sys.stdin, sys.stdout, sys.stderr = standard
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    if env.get("PYTHONWARNINGS") == "error::ResourceWarning":
        warnings.simplefilter("error", ResourceWarning)
    from cli.main import app  # noqa: PLC0415

    sys.argv = ["svc", *arguments]
    app(prog_name="svc")
