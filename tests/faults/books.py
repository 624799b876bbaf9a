"""The clients' journal of requests and responses, compared by SQL of our own with what the service stored."""

import asyncio
import re
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tests import postgres

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


COMMISSION_PERCENT = 20
OUR_MARK = re.compile(r"(p\d-)?[a-z-]+-\d+")  # a malformed request may be a good click after all
_MARKS = {
    Kind.CLICK: "SELECT page_title, click_id FROM clicks",
    Kind.LEAD: "SELECT c.customer_key, l.id FROM leads l JOIN customers c"
    " ON c.program_id = l.program_id AND c.id = l.customer_id",
    Kind.SALE: "SELECT transaction_id, id FROM sales",
    Kind.REFUND: "SELECT reason, id FROM refunds",
}
_SALES = "SELECT id, transaction_id, amount_cents, refunded_cents FROM sales"
_REFUNDS = "SELECT sale_id, reason, amount_cents, reversed_cents FROM refunds"
_COMMISSIONS = "SELECT sale_id, amount_cents, id FROM commissions"
_ENTRIES = "SELECT commission_id, kind, amount_cents FROM ledger_entries"
_CUSTOMERS = "SELECT customer_key, id FROM customers"


@dataclass
class Books:
    """What the tables hold."""

    marks: dict[Kind, list[tuple[str, str]]]
    customers: list[Any]
    sales: list[Any]
    refunds: list[Any]
    commissions: list[Any]
    entries: list[Any]


@dataclass
class Verdict:
    """What the comparison found; each list should be empty."""

    lost: list[str]
    doubled: list[str]
    untrue: list[str]
    wrong: list[str]


async def read(url: str) -> Books:
    """Read the tables of a database by its driver alone."""
    marks = {kind: [(str(mark), str(stored)) for mark, stored in await _rows(url, sql)] for kind, sql in _MARKS.items()}
    others = [await _rows(url, sql) for sql in (_CUSTOMERS, _SALES, _REFUNDS, _COMMISSIONS, _ENTRIES)]
    return Books(marks, *others)


async def _rows(url: str, sql: str) -> list[Any]:
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(f"file:{url.partition(':///')[2]}?mode=ro", uri=True)) as file:
            return file.execute(sql).fetchall()
    async with postgres.connected(url) as connection:
        return [tuple(row) for row in await connection.fetch(sql)]


def compare(journal: Journal, books: Books) -> Verdict:
    """Compare the tables with the journal."""
    verdict = Verdict([], [], [], [])
    for kind in Kind:
        requests = {request.mark: request for request in journal.requests if request.kind == kind}
        stored: dict[str, list[str]] = defaultdict(list)
        for mark, identifier in books.marks[kind]:
            if OUR_MARK.fullmatch(mark):
                stored[mark].append(identifier)
        verdict.doubled += [mark for mark, found in stored.items() if len(found) > 1]
        verdict.wrong += [f"{mark} is stored without a request" for mark in stored.keys() - requests.keys()]
        for request in requests.values():
            _judge(request, stored[request.mark], verdict)
    keys = Counter(key for key, _ in books.customers if key is not None)
    verdict.doubled += [f"customer {key}" for key, count in keys.items() if count > 1]
    verdict.wrong += _wrong_sums(journal, books)
    return verdict


def _judge(request: Request, stored: list[str], verdict: Verdict) -> None:
    if request.is_acknowledged and (not stored or (request.receipt and request.receipt not in stored)):
        verdict.lost.append(request.mark)
    if stored and not request.may_be_stored:
        verdict.untrue.append(f"{request.mark} is stored after {request.answers}")


def _wrong_sums(journal: Journal, books: Books) -> Iterator[str]:
    """Yield each sale whose amount, refunds, commission or ledger entries are not what the journal's requests make."""
    sent = {request.mark: request for request in journal.requests}
    returned, reversed_cents = Counter[int](), Counter[int]()
    for sale_id, mark, cents, back in books.refunds:
        returned[sale_id] += cents
        reversed_cents[sale_id] += back
        if mark in sent and sent[mark].cents != cents:
            yield f"{mark} took {cents} cents back, not {sent[mark].cents}"
    earned = {sale_id: (commission_id, cents) for sale_id, cents, commission_id in books.commissions}
    entries = defaultdict[int, list[int]](list)
    for commission_id, _, cents in books.entries:
        entries[commission_id].append(cents)
    for sale_id, mark, cents, refunded in books.sales:
        commission_id, commission = earned.get(sale_id, (0, 0))
        refunds = [request for request in _refunds_of(sent, mark) if request.is_acknowledged]
        found = (cents, refunded, commission, reversed_cents[sale_id], sorted(entries[commission_id], reverse=True)[:1])
        back = returned[sale_id] * COMMISSION_PERCENT // 100
        whole = cents * COMMISSION_PERCENT // 100
        if found != (sent[mark].cents, returned[sale_id], whole, back, [whole]) or sum(entries[commission_id]) != (
            whole - back
        ):
            yield f"{mark}: {found}, entries {entries[commission_id]}"
        if returned[sale_id] < sum(request.cents for request in refunds):
            yield f"{mark}: less was refunded than was acknowledged"
    if len(books.commissions) != len(books.sales):
        yield f"{len(books.commissions)} commissions for {len(books.sales)} sales"


def _refunds_of(sent: dict[str, Request], sale: str) -> Iterator[Request]:
    return (request for request in sent.values() if request.sale == sale)
