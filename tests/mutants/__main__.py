"""`python -m tests.mutants [PART...]`: put faults into a copy of the checkout, and say which test notices each.

They are those of mutants.toml whose name contains a part, one at a time. The tests that mirror the file's folder run
first; if none notices, all that need Python alone. A mutant with `by` is for those tests, with many examples.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.needs import EMBEDDED, ROOT
from tests.tables import table

NOTICED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


def main() -> int:
    """Run the mutants; return 1 unless all are noticed."""
    parts = sys.argv[1:] or [""]
    survivors = 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        subprocess.run(["git", "checkout-index", "--all", f"--prefix={folder}/"], cwd=ROOT, check=True)
        for mutant in table("mutants/mutants.toml")["mutant"]:
            if any(part in mutant["name"] for part in parts):
                noticed = judge(Path(folder), mutant)
                survivors += not noticed
                print(f"{mutant['name']}: {noticed or 'survived'}", flush=True)  # noqa: T201 - a command's output
    return int(survivors > 0)


def judge(copy: Path, mutant: dict[str, Any]) -> str:
    """Put a mutant into the copy, run the tests, put the file back, and return the test that noticed it, or nothing."""
    path = copy / mutant["file"]
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if text.count(mutant["old"]) != 1:
        sys.exit(f"{mutant['name']} does not apply: its old text is not in {mutant['file']} once")
    write(path, text.replace(mutant["old"], mutant["new"]))
    mirrored = next(each for each in Path(mutant["file"]).parents if (copy / "tests" / each).is_dir())
    selections = [[f"tests/{mirrored}", "-m", EMBEDDED], ["-m", EMBEDDED]]
    if "by" in mutant:
        selections = [[mutant["by"], "--hypothesis-profile", "many"]]
    noticed = next(filter(None, (first_failure(copy, *each) for each in selections)), "")
    write(path, text)
    return noticed


def first_failure(copy: Path, *selection: str) -> str:
    """Return the first test of a selection that fails, or nothing."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *selection]
    environment = os.environ | {"PYTHONPATH": str(copy)}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    failed = NOTICED.search(done.stdout)
    return (failed[1] if failed else f"pytest ended with {done.returncode}") if done.returncode not in {0, 5} else ""


def write(path: Path, text: str) -> None:
    """Write a module and delete its compiled form: Python takes one of the same second and size for unchanged."""
    path.write_text(text, encoding="utf-8")
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


if __name__ == "__main__":
    sys.exit(main())
