"""`python -m tests.mutants`: put each fault of mutants.toml into a copy of the checkout, and say which test notices it.

First run the tests that mirror the file's folder; if none notices, run a second selection: `--then PATH...`, `-m EXPR`.
"""

import argparse
import json
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from queue import Queue
from typing import Any, NamedTuple

from tests.mutants.copied import KILLED, SURVIVED, Copy, Outcome
from tests.needs import EMBEDDED

MUTANTS: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("mutants.toml").read_text(encoding="utf-8"))[
    "mutant"
]
NO_FIT = Outcome("does not apply", "its old text is not there once")


class Verdict(NamedTuple):
    """What became of a mutant, and which test noticed it."""

    name: str
    folder: str
    result: str
    by: str
    seconds: int


def main() -> int:
    """Run the mutants; return 1 unless all are killed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", action="append", default=[], help="run mutants whose name contains this; repeatable")
    parser.add_argument("--then", nargs="*", default=[], metavar="PATH", help="the second run's tests (all)")
    parser.add_argument("-m", dest="marks", default=EMBEDDED, metavar="EXPR", help=f"its marks ({EMBEDDED!r})")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time")
    parser.add_argument("--out", type=Path, help="write the verdicts to this file as JSON")
    options = parser.parse_args()
    chosen = [each for each in MUTANTS if not options.only or any(part in each["name"] for part in options.only)]
    verdicts: list[Verdict] = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(options.jobs) as threads:
        copies: Queue[Copy] = Queue()
        for number in range(options.jobs):
            copies.put(Copy(Path(folder) / str(number)))
        _require_sound(copies.queue[0], chosen)
        for verdict in threads.map(partial(_judge, copies, [*options.then, "-m", options.marks]), chosen):
            verdicts.append(verdict)
            sys.stdout.write(f"{verdict.name}: {verdict.result} {verdict.by} ({verdict.seconds} s)\n")
            sys.stdout.flush()
            if options.out:
                options.out.write_text(json.dumps([each._asdict() for each in verdicts], indent=1), encoding="utf-8")
    counts = Counter((each.folder, each.result) for each in verdicts)
    sys.stdout.writelines(f"{folder:32}{result:16}{count}\n" for (folder, result), count in sorted(counts.items()))
    return 0 if all(each.result == KILLED for each in verdicts) else 1


def _require_sound(copy: Copy, chosen: Sequence[dict[str, Any]]) -> None:
    """Exit unless the first tests pass without a mutant."""
    found = copy.test([*dict.fromkeys(copy.mirror(each["file"]) for each in chosen), "-m", EMBEDDED])
    if found.result != SURVIVED:
        sys.exit(f"The first tests fail without a mutant: {found.by}")


def _judge(copies: "Queue[Copy]", then: Sequence[str], mutant: dict[str, Any]) -> Verdict:
    """Put a mutant into a copy, run the tests, and put the file back."""
    copy, started_at = copies.get(), time.monotonic()
    name, text = mutant["file"], copy.text(mutant["file"])
    if text.count(mutant["old"]) == 1:
        copy.write(name, text.replace(mutant["old"], mutant["new"]))
        found = copy.test([copy.mirror(name), "-m", EMBEDDED])
        if found.result == SURVIVED:
            found = copy.test(then)
        copy.write(name, text)
    else:
        found = NO_FIT
    copies.put(copy)
    return Verdict(mutant["name"], str(Path(name).parent), *found, round(time.monotonic() - started_at))


if __name__ == "__main__":
    sys.exit(main())
