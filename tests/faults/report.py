"""The table of docs/reliability.md: a run of some faults replaces their lines and leaves the others."""

import re
import statistics
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from tests.faults.campaign import Outcome

PAGE = Path(__file__).parent.parent.parent / "docs" / "reliability.md"
HEADINGS = ("fault", "times", "acknowledged", "lost", "doubled", "untrue", "500", "answers", "recovery", "measured")
_LINE = "| {} |"


def write(outcomes: list[Outcome], names: list[str]) -> None:
    """Put the outcomes into the page's table, in the order of `names`."""
    before, table, after = _parts(PAGE.read_text(encoding="utf-8"))
    lines = {line.split(" | ")[0].removeprefix("| "): line for line in table}
    lines |= {outcome.name: _line(outcome) for outcome in outcomes}
    rows = [_LINE.format(" | ".join(HEADINGS)), "|---|---:|---:|---:|---:|---:|---:|---|---|---|"]
    rows += [lines[name] for name in names if name in lines]
    PAGE.write_text("\n".join([*before, *rows, *after]) + "\n", encoding="utf-8")


def _parts(page: str) -> tuple[list[str], list[str], list[str]]:
    """Return what stands before the first table, its lines, and what follows."""
    lines = page.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("| fault"))
    end = next((number for number, line in enumerate(lines) if number > start and not line.startswith("|")), len(lines))
    return lines[:start], lines[start + 2 : end], lines[end:]


def _line(outcome: Outcome) -> str:
    verdict = outcome.verdict
    answers = Counter[str]()
    for answer, count in outcome.answers.items():
        answers[_status(answer)] += count
    fields = (
        outcome.name,
        f"{outcome.times:,}",
        f"{outcome.acknowledged:,}",
        len(verdict.lost),
        len(verdict.doubled),
        len(verdict.untrue) + len(verdict.wrong) + len(outcome.surprises) + bool(outcome.complaints),
        sum(count for status, count in answers.items() if status.startswith("500")),
        ", ".join(f"{status}: {count:,}" for status, count in sorted(answers.items())),
        f"{statistics.median(outcome.recoveries):.1f} s, at most {max(outcome.recoveries):.1f} s",
        datetime.now(UTC).strftime("%Y-%m-%d"),
    )
    return _LINE.format(" | ".join(map(str, fields)))


def _status(answer: str) -> str:
    """Leave out the codes of what was rejected: 503 alone has two meanings here."""
    found = re.match(r"503 (?:overloaded|storage_unavailable|outcome_unknown)|\d{3}", answer)
    return found[0] if found else answer
