"""`make faults`: every fault at length, its line written into docs/reliability.md; `--only WORDS`, `--times N`."""

import argparse
import asyncio
import re
import statistics
import sys
import traceback
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

from tests.conftest import ROOT
from tests.faults import campaign, catalog
from tests.faults.campaign import Fault, Outcome

PAGE = ROOT / "docs" / "reliability.md"
HEAD = (
    "| fault | times | acknowledged | lost | doubled | untrue | 500 | answers | recovery | measured |",
    "|---|---:|---:|---:|---:|---:|---:|---|---|---|",
)


def main() -> int:
    """Run the faults one after the other; return 1 if one of them did harm, or could not happen on this machine."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--only", default="", help="run faults whose name contains this")
    parser.add_argument("--times", type=int, help="let each happen so often")
    options = parser.parse_args()
    results = [_run(fault, options.times) for fault in catalog.FAULTS if options.only in fault.name]
    return 0 if all(results) else 1


def _run(fault: Fault, times: int | None) -> bool:
    """Run a fault, write its line, and say whether it did no harm."""
    try:
        outcome = asyncio.run(campaign.run(fault, times or fault.times))
    except Exception:  # noqa: BLE001 - the other faults still happen
        sys.stdout.write(f"{fault.name}: {traceback.format_exc()}\n")
        return False
    sys.stdout.write(f"{fault.name}: {'clean' if outcome.is_clean else outcome}\n")
    sys.stdout.flush()
    _write(fault.name, f"| {' | '.join(map(str, _fields(outcome)))} |")
    return outcome.is_clean


def _write(name: str, line: str) -> None:
    """Put a fault's line into the table of the page, and leave the others."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(HEAD[0])
    earlier, _, after = rest.partition("\n\n")
    lines = {each.split(" | ")[0].removeprefix("| "): each for each in earlier.splitlines()[2:]} | {name: line}
    table = "\n".join([*HEAD, *(lines[fault.name] for fault in catalog.FAULTS if fault.name in lines)])
    PAGE.write_text(f"{before}{table}\n\n{after}", encoding="utf-8")


def _fields(outcome: Outcome) -> Iterable[object]:
    verdict, journal = outcome.verdict, outcome.journal
    answers = Counter[str]()
    for answer, count in journal.answers.items():  # without the codes of what was rejected; 503 has three meanings
        status = re.match(r"503 (?:overloaded|storage_unavailable|outcome_unknown)|\d{3}", answer)
        answers[status[0] if status else answer] += count
    return (
        outcome.name,
        f"{outcome.times:,}",
        f"{journal.acknowledged:,}",
        len(verdict.lost),
        len(verdict.doubled),
        len(verdict.untrue) + len(journal.surprises) + bool(outcome.complaints),
        sum(count for status, count in answers.items() if status.startswith("500")),
        ", ".join(f"{status}: {count:,}" for status, count in sorted(answers.items())),
        f"{statistics.median(outcome.recoveries):.1f} s, at most {max(outcome.recoveries):.1f} s",
        datetime.now(UTC).strftime("%Y-%m-%d"),
    )


if __name__ == "__main__":
    sys.exit(main())
