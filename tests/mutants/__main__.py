"""`python -m tests.mutants`: put each fault of mutants.toml into a copy of the checkout, and say which test notices it.

First run the tests that mirror the file's folder; if none notices, those that `--then PATH...` and `-m EXPR` select.
A mutant with `by` is for those tests to notice, with many examples.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.needs import EMBEDDED, ROOT

MUTANTS: list[dict[str, Any]] = tomllib.loads((ROOT / "tests/mutants/mutants.toml").read_text(encoding="utf-8"))[
    "mutant"
]
NOTICED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


def main() -> int:
    """Run the mutants; return 1 unless all are noticed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", action="append", default=[""], help="mutants whose name contains this; repeatable")
    parser.add_argument("--then", nargs="*", default=[], metavar="PATH", help="the second run's tests (all)")
    parser.add_argument("-m", dest="marks", default=EMBEDDED, metavar="EXPR", help=f"its marks ({EMBEDDED})")
    parser.add_argument("--out", type=Path, help="write who noticed each to this file as JSON")
    options = parser.parse_args()
    names = options.only[1:] or options.only
    noticed: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = copied(Path(folder))
        for mutant in (each for each in MUTANTS if any(part in each["name"] for part in names)):
            then = [*options.then, "-m", options.marks]
            noticed[mutant["name"]] = judge(copy, mutant, then)
            sys.stdout.write(f"{mutant['name']}: {noticed[mutant['name']] or 'survived'}\n")
            sys.stdout.flush()
            if options.out:
                options.out.write_text(json.dumps(noticed, indent=1), encoding="utf-8")
    kinds = Counter((name.partition(":")[0], "noticed" if by else "survived") for name, by in noticed.items())
    sys.stdout.writelines(f"{kind:12}{result:12}{count}\n" for (kind, result), count in sorted(kinds.items()))
    return 0 if all(noticed.values()) else 1


def copied(folder: Path) -> Path:
    """Copy the files that git tracks, as they are now."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    return folder


def judge(copy: Path, mutant: dict[str, Any], then: list[str]) -> str:
    """Put a mutant into the copy, run the tests, put the file back, and return the test that noticed it, or nothing."""
    path = copy / mutant["file"]
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if text.count(mutant["old"]) != 1:
        sys.exit(f"{mutant['name']} does not apply: its old text is not in {mutant['file']} once")
    write(path, text.replace(mutant["old"], mutant["new"]))
    mirrored = next(each for each in Path(mutant["file"]).parents if (copy / "tests" / each).is_dir())
    selections = [[f"tests/{mirrored}", "-m", EMBEDDED], then]
    if "by" in mutant:
        selections = [[mutant["by"], "--hypothesis-profile", "many"]]
    found = next(filter(None, tried(copy, *selections)), "")
    write(path, text)
    return found


def tried(copy: Path, *selections: list[str]) -> Iterator[str]:
    """Yield of each selection of tests the first that failed, or nothing."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    for selection in selections:
        environment = os.environ | {"PYTHONPATH": str(copy)}
        done = subprocess.run(
            [*command, *selection], cwd=copy, env=environment, capture_output=True, text=True, check=False
        )
        failed = NOTICED.search(done.stdout)
        yield (failed[1] if failed else f"pytest ended with {done.returncode}") if done.returncode not in {0, 5} else ""


def write(path: Path, text: str) -> None:
    """Write a module and delete its compiled form: Python takes one of the same second and size for unchanged."""
    path.write_text(text, encoding="utf-8")
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


if __name__ == "__main__":
    sys.exit(main())
