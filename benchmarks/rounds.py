"""Short alternating rounds, so that a busy machine slows the ceiling as much as its subjects; medians of the rounds."""

from collections.abc import Iterator
from statistics import median
from typing import NamedTuple

from benchmarks.load import Load, drive
from benchmarks.servers import Server

WARM_UP_SECONDS = 1.5


class Plan(NamedTuple):
    """How much to measure."""

    rounds: int = 7
    seconds: float = 3.0
    many_clicks: int = 10_000_000
    most_clicks: int = 20_000_000
    memory_clicks: int = 1_000_000
    memory_warm_up: int = 50_000
    mcp_calls: int = 50_000


QUICK = Plan(
    rounds=2,
    seconds=1.0,
    many_clicks=200_000,
    most_clicks=200_000,
    memory_clicks=30_000,
    memory_warm_up=10_000,
    mcp_calls=5_000,
)


class Subject(NamedTuple):
    """A server with the requests it gets; an answer without `expected` ends the benchmark."""

    server: Server
    requests: Iterator[bytes]
    expected: bytes = b"200 OK"


class Rates(NamedTuple):
    """The medians of all rounds, and every round's rate in their order."""

    rate: float
    p50_ms: float
    p99_ms: float
    rounds: list[float]
    answers: int

    def over(self, other: "Rates") -> float:
        """Return the median of the ratios to another subject's rate in the same round."""
        return median(mine / theirs for mine, theirs in zip(self.rounds, other.rounds, strict=True))


async def alternate(subjects: dict[str, Subject], plan: Plan) -> dict[str, Rates]:
    """Drive the subjects in turn, round by round, after a warm-up each."""
    warm = {name: await _drive(subject, WARM_UP_SECONDS) for name, subject in subjects.items()}
    loads: dict[str, list[Load]] = {name: [] for name in subjects}
    for _ in range(plan.rounds):
        for name, subject in subjects.items():
            loads[name].append(await _drive(subject, plan.seconds))
    return {name: measured(loads[name], warm[name].answers) for name in subjects}


async def _drive(subject: Subject, seconds: float) -> Load:
    return await drive(subject.server.port, subject.requests, seconds=seconds, expected=subject.expected)


def measured(loads: list[Load], warm_up_answers: int) -> Rates:
    """Return the medians of the rounds of one subject."""
    return Rates(
        median(load.rate for load in loads),
        median(load.p50_ms for load in loads),
        median(load.p99_ms for load in loads),
        [load.rate for load in loads],
        warm_up_answers + sum(load.answers for load in loads),
    )
