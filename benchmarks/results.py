"""What a benchmark reports: lines of a table, each a rate with its ratio and the target it has to reach."""

from typing import NamedTuple

from benchmarks.rounds import Rates

CALM = 0.85  # of the fastest round, in a run that nothing disturbed


class Ratio(NamedTuple):
    """A ratio to another line of the same run; `at_least` is the target, None where there is none."""

    to: str
    value: float
    at_least: float | None = None

    def __str__(self) -> str:
        return f"{self.value:.2f} of {self.to}" if self.value < 5 else f"{self.value:.1f} x {self.to}"

    @property
    def target(self) -> str:
        """The target in words, empty where there is none."""
        return "" if self.at_least is None else f"at least {self.at_least:g}"

    @property
    def is_met(self) -> bool:
        """Say whether the target is reached."""
        return self.at_least is None or self.value >= self.at_least


class Ceiling(NamedTuple):
    """An upper bound on something that is no ratio, such as `p99` or the growth of memory."""

    what: str
    value: float
    at_most: float
    unit: str

    def __str__(self) -> str:
        return f"{self.what} {self.value:.{1 if self.value >= 10 else 2}f} {self.unit}"

    @property
    def target(self) -> str:
        """The target in words."""
        return f"at most {self.at_most:g} {self.unit}"

    @property
    def is_met(self) -> bool:
        """Say whether the bound is kept."""
        return self.value <= self.at_most


class Spread(NamedTuple):
    """The slowest and the fastest round of a ceiling: far apart, another process had part of the core.

    That takes more from the ceiling's one thread than from the service's two: such a run's ratios are too good.
    """

    slowest: float
    fastest: float

    @property
    def target(self) -> str:
        """None: a ceiling promises nothing."""
        return ""

    @property
    def is_met(self) -> bool:
        """It cannot be missed."""
        return True

    def __str__(self) -> str:
        calm = "" if self.slowest > CALM * self.fastest else ", DISTURBED: ratios are too good"
        return f"rounds {self.slowest:,.0f} to {self.fastest:,.0f}{calm}"


class Cost(NamedTuple):
    """The processor time that a call takes of some processes, in microseconds."""

    whose: str
    microseconds: float

    @property
    def target(self) -> str:
        """None: it is read beside another line's."""
        return ""

    @property
    def is_met(self) -> bool:
        """It cannot be missed."""
        return True

    def __str__(self) -> str:
        return f"{self.whose} {self.microseconds:.0f} us a call"


class Line(NamedTuple):
    """A measured subject: calls a second, latencies in milliseconds, and what is promised about it."""

    name: str
    rate: float
    p50_ms: float
    p99_ms: float
    promises: tuple[Ratio | Ceiling | Spread | Cost, ...] = ()


def line(name: str, rates: Rates, *promises: Ratio | Ceiling | Spread | Cost) -> Line:
    """Return the line of a subject's rates."""
    return Line(name, rates.rate, rates.p50_ms, rates.p99_ms, promises)
