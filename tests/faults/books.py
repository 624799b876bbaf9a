"""The clients' journal of requests and responses, compared by SQL of our own with what the service stored."""

import asyncio
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tests import postgres

PATIENCE_SECONDS = 120.0
NO_ANSWER = "no answer"
UNDECIDED = {NO_ANSWER, "503 outcome_unknown"}  # after these the row may be there


class Kind(StrEnum):
    CLICK = "click"
    LEAD = "lead"
    SALE = "sale"
    REFUND = "refund"


@dataclass
class Request:
    """One thing to record: `mark` is in its row, `receipt` is the id that the service answered with."""

    kind: Kind
    mark: str
    cents: int = 0
    answers: list[str] = field(default_factory=list)
    receipt: str | None = None
    is_acknowledged: bool = False

    @property
    def may_be_stored(self) -> bool:
        """Whether an answer leaves open that the row is there."""
        return self.is_acknowledged or bool(UNDECIDED.intersection(self.answers))


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


_EVENTS = {  # their marks, ids and cents
    Kind.CLICK: "SELECT page_title, click_id, 0 FROM clicks",
    Kind.LEAD: "SELECT c.customer_key, l.id, 0 FROM leads l JOIN customers c"
    " ON c.program_id = l.program_id AND c.id = l.customer_id",
    Kind.SALE: "SELECT transaction_id, id, amount_cents FROM sales",
    Kind.REFUND: "SELECT reason, id, amount_cents FROM refunds",
}


@dataclass
class Verdict:
    """What the comparison found; each list should be empty."""

    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    untrue: list[str] = field(default_factory=list)


async def compare(journal: Journal, url: str) -> Verdict:
    """Compare the tables with the journal; that they agree with each other is what `svc admin db check` says."""
    verdict = Verdict()
    for kind, sql in _EVENTS.items():
        requests = {request.mark: request for request in journal.requests if request.kind == kind}
        stored: dict[str, list[str]] = defaultdict(list)
        for mark, identifier, cents in await _rows(url, sql):
            stored[mark].append(str(identifier))
            sent = requests[mark].cents if mark in requests else None
            verdict.untrue += [f"{mark} has {cents} cents, and {sent} were sent"] if cents != sent else []
        verdict.doubled += [mark for mark, found in stored.items() if len(found) > 1]
        for request in requests.values():
            _judge(request, stored[request.mark], verdict)
    return verdict


async def _rows(url: str, sql: str) -> list[Any]:
    """Read a table of a database by its driver alone."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(f"file:{url.partition(':///')[2]}?mode=ro", uri=True)) as file:
            return file.execute(sql).fetchall()
    async with postgres.connected(url) as connection:
        return [tuple(row) for row in await connection.fetch(sql)]


def _judge(request: Request, stored: list[str], verdict: Verdict) -> None:
    if request.is_acknowledged and (not stored or (request.receipt and request.receipt not in stored)):
        verdict.lost.append(request.mark)
    if stored and not request.may_be_stored:
        verdict.untrue.append(f"{request.mark} is stored after {request.answers}")
