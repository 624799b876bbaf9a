"""The most telling faults, in seconds, and the judge itself: what it must find in books that are wrong."""

from collections.abc import Callable

import pytest

from tests.conftest import ROOT
from tests.faults import books, campaign, catalog, drills
from tests.faults.books import Books, Journal, Kind, Request

FAULTS = {fault.name: fault for fault in catalog.FAULTS}


@pytest.mark.parametrize(
    "name",
    [
        "kill -9, SQLite",
        "kill -9, PostgreSQL",
        "commands beside the service, SQLite",
        "answer to COMMIT cut off",
        "PostgreSQL down",
    ],
)
async def test_nothing_acknowledged_is_lost_or_doubled_and_no_response_is_untrue(name: str):
    outcome = await campaign.run(FAULTS[name], times=1)

    assert outcome.is_clean, str(outcome)
    assert outcome.journal.acknowledged > 0


def test_the_drills_of_the_operations_guide_are_tests():
    page = drills.PAGE.read_text(encoding="utf-8")

    for drill in drills.DRILLS:
        assert f"| {drill.title} | `{drill.file}` | " in page
        assert f"def {drill.test}(" in (ROOT / drill.file).read_text(encoding="utf-8")
    assert "FAILED" not in page


def journal() -> Journal:
    """A click, a lead, a sale of 100.00 and a refund of 15.00, all acknowledged."""
    written = Journal()
    for kind, mark, cents, receipt in (
        (Kind.CLICK, "click-1", 0, "c1"),
        (Kind.LEAD, "user-1", 0, None),
        (Kind.SALE, "invoice-1", 10_000, "7"),
        (Kind.REFUND, "refund-1", 1_500, None),
    ):
        request = written.open(Request(kind, mark, sale="invoice-1" if kind == Kind.REFUND else "", cents=cents))
        written.note(request, "200", acknowledges=True, receipt=receipt)
    return written


def good() -> Books:
    """What the tables hold after that."""
    return Books(
        marks={
            Kind.CLICK: [("click-1", "c1")],
            Kind.LEAD: [("user-1", "5")],
            Kind.SALE: [("invoice-1", "7")],
            Kind.REFUND: [("refund-1", "8")],
        },
        customers=[("user-1", 3)],
        sales=[(7, "invoice-1", 10_000, 1_500)],
        refunds=[(7, "refund-1", 1_500, 300)],
        commissions=[(7, 2_000, 7)],
        entries=[(7, "commission", 2_000), (7, "reversal", -300)],
    )


SPOILED: dict[str, tuple[Callable[[Books], object], str]] = {
    "a click is gone": (lambda held: held.marks[Kind.CLICK].clear(), "lost"),
    "another sale has its place": (lambda held: held.marks[Kind.SALE].__setitem__(0, ("invoice-1", "9")), "lost"),
    "a click is stored twice": (lambda held: held.marks[Kind.CLICK].append(("click-1", "c2")), "doubled"),
    "a refund is stored twice": (lambda held: held.marks[Kind.REFUND].append(("refund-1", "9")), "doubled"),
    "a customer is stored twice": (lambda held: held.customers.append(("user-1", 4)), "doubled"),
    "a sale without a request": (lambda held: held.marks[Kind.SALE].append(("invoice-2", "9")), "wrong"),
    "money goes back twice": (lambda held: held.entries.append((7, "reversal", -300)), "wrong"),
    "a refund of another amount": (lambda held: held.refunds.__setitem__(0, (7, "refund-1", 1_000, 300)), "wrong"),
    "no commission": (lambda held: held.commissions.clear(), "wrong"),
}


@pytest.mark.parametrize(("spoil", "found"), SPOILED.values(), ids=SPOILED)
def test_wrong_books_are_found_and_good_ones_are_clean(spoil: Callable[[Books], object], found: str):
    held = good()
    spoil(held)

    assert getattr(books.compare(journal(), held), found) != []
    assert vars(books.compare(journal(), good())) == {"lost": [], "doubled": [], "untrue": [], "wrong": []}


@pytest.mark.parametrize(("answer", "is_untrue"), [("503 storage_unavailable", True), ("503 outcome_unknown", False)])
def test_a_stored_click_that_got_another_response_is_untrue(answer: str, is_untrue: bool):  # noqa: FBT001
    written, held = journal(), good()
    written.note(written.open(Request(Kind.CLICK, "click-2")), answer, acknowledges=False)
    held.marks[Kind.CLICK].append(("click-2", "c2"))

    assert bool(books.compare(written, held).untrue) == is_untrue
