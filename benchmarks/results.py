"""What a benchmark reports: subjects measured in turn, each with its ratios to others of the same run."""

import os
import platform
import sqlite3
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from statistics import median
from typing import NamedTuple

from benchmarks.load import Load

WARM_UP_SECONDS = 1.5
CALM = 0.85  # of the fastest round, in a run that nothing disturbed
HEADINGS = ("", "calls/s", "p50 ms", "p99 ms", "CPU us a call", "measured", "target", "")


class Plan(NamedTuple):
    """How much to measure."""

    rounds: int = 7
    seconds: float = 3.0
    many_clicks: int = 10_000_000


class Subject(NamedTuple):
    """What measures a round, the subjects `of` whose rate its own is a ratio, with its targets, and its longest p99."""

    measure: Callable[[float], Awaitable[Load]]
    of: Mapping[str, float | None] = {}
    p99_ms: float | None = None


class Note(NamedTuple):
    """What is said of a subject: a figure, and its target where it has one."""

    text: str
    target: str = ""
    is_met: bool = True


class Line(NamedTuple):
    """A measured subject: its rounds, of which the first was a warm-up, and its notes."""

    name: str
    loads: list[Load]
    notes: Sequence[Note] = ()

    def figures(self, field: str) -> list[float]:
        """Return a field of every round but the warm-up."""
        return [getattr(each, field) for each in self.loads[1:]]


async def compare(subjects: Mapping[str, Subject], plan: Plan) -> list[Line]:
    """Measure the subjects in turn, in short rounds, so that a busy machine slows all as much."""
    lines = {name: Line(name, [await each.measure(WARM_UP_SECONDS)]) for name, each in subjects.items()}
    for _ in range(plan.rounds):
        for name, subject in subjects.items():
            lines[name].loads.append(await subject.measure(plan.seconds))
    return [each._replace(notes=list(_notes(subjects[each.name], each, lines))) for each in lines.values()]


def _notes(subject: Subject, line: Line, lines: Mapping[str, Line]) -> Iterator[Note]:
    rates = line.figures("rate")
    for name, at_least in subject.of.items():
        ratios = [mine / theirs for mine, theirs in zip(rates, lines[name].figures("rate"), strict=True)]
        text = f"{median(ratios):.3g} times {name} ({min(ratios):.3g} to {max(ratios):.3g})"
        yield Note(text, f"at least {at_least:g}", median(ratios) >= at_least) if at_least else Note(text)
    if subject.p99_ms:
        yield at_most("p99", median(line.figures("p99_ms")), subject.p99_ms, "ms")
    if not subject.of and len(lines) > 1:  # a ceiling has one thread, and loses more to other work than a service
        calm = min(rates) / max(rates)
        text = f"slowest round {calm:.2f} of the fastest"
        yield Note(text if calm > CALM else f"{text}, DISTURBED: ratios to it are too good")


def at_most(what: str, value: float, limit: float, unit: str) -> Note:
    return Note(f"{what} {value:.1f} {unit}", f"at most {limit:g} {unit}", value <= limit)


def print_table(lines: Sequence[Line]) -> None:
    """Print the machine and the table, as docs/performance.md has them."""
    libraries = ", ".join(f"{name} {version(name)}" for name in ("sqlalchemy", "starlette", "uvicorn", "uvloop"))
    print(
        f"{os.cpu_count()} cores, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {libraries}:\n"
    )
    for row in (HEADINGS, ("---", *("---:",) * 4, *("---",) * 3), *_rows(lines)):
        print(f"| {' | '.join(row)} |")


def _rows(lines: Sequence[Line]) -> Iterator[tuple[str, ...]]:
    for line in lines:
        rate, p50, p99, service, database = (median(line.figures(field)) for field in Load._fields[1:])
        spent = f"{service:.0f}" + f" + {database:.0f}" * (database > 0) if service else ""
        start = (line.name, f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}", f"{p50:.1f}", f"{p99:.1f}", spent)
        for text, target, is_met in line.notes or [Note("")]:
            yield (*start, text, target, ("met" if is_met else "MISSED") if target else "")
            start = ("", "", "", "", "")
