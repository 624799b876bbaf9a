"""The clients' requests and the responses to them, with which the books are compared."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

PATIENCE_SECONDS = 120.0
NO_ANSWER = "no answer"
UNDECIDED = {NO_ANSWER, "503 outcome_unknown"}  # after these the row may be there


class Kind(StrEnum):
    """The kind of a recorded event."""

    CLICK = "click"
    LEAD = "lead"
    SALE = "sale"
    REFUND = "refund"


@dataclass
class Request:
    """One thing to record: `mark` is in its row, `receipt` is the id that the service answered with."""

    kind: Kind
    mark: str
    sale: str = ""  # a refund's
    cents: int = 0
    is_raced: bool = False  # sent many times at once, on purpose
    answers: list[str] = field(default_factory=list)
    receipt: str | None = None
    is_acknowledged: bool = False

    @property
    def may_be_stored(self) -> bool:
        """Whether an answer leaves open that the row is there."""
        return self.is_acknowledged or self.is_raced or bool(UNDECIDED.intersection(self.answers))


class Journal:
    """Every request, every answer, and when the last acknowledgement came."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.answers: Counter[str] = Counter()
        self.surprises: list[str] = []  # responses that no fault excuses
        self.acknowledged = 0
        self.failed = 0  # got 503, or no response
        self._news = asyncio.Event()

    def open(self, request: Request) -> Request:
        """Write down a request before it is sent."""
        self.requests.append(request)
        return request

    def note(self, request: Request, answer: str, *, acknowledges: bool, receipt: str | None = None) -> None:
        """Write down an answer to a request."""
        self.answers[answer] += 1
        request.answers.append(answer)
        if acknowledges and not request.is_acknowledged:
            request.is_acknowledged, request.receipt = True, receipt
            self.acknowledged += 1
        self.failed += not acknowledges
        self._news.set()

    async def grow(self, by: int = 1) -> float:
        """Wait until so many more requests are acknowledged, and return the seconds that took."""
        goal, began = self.acknowledged + by, time.monotonic()
        await self.until(lambda: self.acknowledged >= goal)
        return time.monotonic() - began

    async def fail(self, times: int) -> None:
        """Wait until so many more attempts have failed."""
        goal = self.failed + times
        await self.until(lambda: self.failed >= goal)

    async def until(self, is_reached: Callable[[], bool]) -> None:
        """Wait for something that the next answers show."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not is_reached():
                self._news.clear()
                await self._news.wait()
