"""A copy of the checkout, whose files can be changed and whose tests can be run."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
LONGEST_SECONDS = 3600
KILLED, SURVIVED, BROKEN = "killed", "survived", "broken"
ENDS = {0: SURVIVED, 1: KILLED, 5: SURVIVED}  # pytest's exit codes; 5: it selected no test
_NOTICED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


class Outcome(NamedTuple):
    """How tests ended; `by` is the first test that failed, or why the run says nothing."""

    result: str
    by: str = ""


class Copy:
    """The files that git tracks, as they are now, in a folder of their own. Raises ImportError if Python ignores it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
        imported = self._run("-c", "import storage; print(storage.__file__)").stdout.strip()
        if not Path(imported).is_relative_to(folder):
            raise ImportError(f"The tests would import {imported}.")

    def text(self, name: str) -> str:
        """Return a file's text; none for a file that does not exist."""
        path = self.folder / name
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def write(self, name: str, text: str) -> None:
        """Write a module and delete its compiled form: Python takes one of the same second and size for unchanged."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()

    def mirror(self, name: str) -> str:
        """Return the folder of tests that mirrors a file's folder, or the nearest one above it."""
        mirrored = (f"tests/{parent}" for parent in Path(name).parents)
        return next(path for path in mirrored if (self.folder / path).is_dir())

    def test(self, selection: Sequence[str]) -> Outcome:
        """Run tests until the first one fails."""
        try:
            done = self._run("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *selection)
        except subprocess.TimeoutExpired:
            return Outcome(BROKEN, "the tests hang")
        if done.returncode not in ENDS:
            return Outcome(BROKEN, done.stdout[-300:])
        noticed = _NOTICED.search(done.stdout)
        return Outcome(ENDS[done.returncode], noticed[1] if noticed else "")

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": str(self.folder), "CI": "1"},  # with CI, hypothesis has no random examples
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST_SECONDS,
        )
