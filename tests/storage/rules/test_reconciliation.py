"""Whatever is recorded beside whatever was paid: what is found can be fixed, and fixed, it is found no more."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from storage.rules import reconciliation
from storage.rules.attribution import PartnerStatus
from storage.rules.reconciliation import CORRECTED, Code, Payment, PaymentFinding, Recorded
from storage.rules.settlement import Settlement
from storage.tracking.customers import Customer
from tests.world import NOW

JANE = Customer(PartnerStatus.ACTIVE, None, 1, 1, 1, "click-1", NOW, NOW, "user-1", settlement=Settlement.SETTLED)
PAID = Payment(2, ("pi_1", "ch_1"), 10_000, 0, "USD", NOW)
SOLD = Recorded("pi_1", 10_000, 0, "USD", NOW, frozenset({"pi_1"}), by_processor=False)
amounts, currencies = st.sampled_from([1, 5_000, 9_999, 10_000, 12_000]), st.sampled_from(["USD", "JPY"])
times = st.integers(0, 30).map(lambda minutes: NOW + timedelta(minutes=minutes))


@st.composite
def payments(draw: st.DrawFn) -> list[Payment]:
    """Return a customer's payments, some of them alike and near each other."""
    made = []
    for line in range(2, 2 + draw(st.integers(1, 4))):
        returned_cents = draw(st.integers(0, cents := draw(amounts)))
        made.append(Payment(line, (f"pi_{line}", f"ch_{line}"), cents, returned_cents, draw(currencies), draw(times)))
    return made


@st.composite
def sales(draw: st.DrawFn) -> list[Recorded]:
    """Return what may be recorded of them: under their names, under names of the shop's own, wrong, and refunded."""
    names = draw(st.lists(st.sampled_from(["pi_2", "pi_3", "ch_2", "order-1", "order-2", "order-3"]), unique=True))
    made = []
    for name in names:
        refunded_cents = draw(st.sampled_from([0, (cents := draw(amounts)) // 2, cents]))
        by_processor, about = draw(st.booleans()), (draw(currencies), draw(times), frozenset({name}))
        made.append(Recorded(name, cents, refunded_cents, *about, by_processor=by_processor))
    return made


def fix(recorded: list[Recorded], findings: list[PaymentFinding], *, calls: int | None = None) -> list[Recorded]:
    """Apply the corrections of the findings, or only the first `calls` of them."""
    known = {sale.transaction_id: sale for sale in recorded}
    for call, sent in [each for finding in findings for each in finding.calls][:calls]:
        name = sent["transaction_id"]
        if call.endswith("/sale"):
            assert name not in known
            names = frozenset({name, name.removesuffix(CORRECTED)})
            paid = (sent["amount_cents"], 0, sent["currency"], sent["occurred_at"])
            known[name] = Recorded(name, *paid, names, by_processor=False)
        else:
            refunded = known[name].refunded_cents + sent["refund_amount_cents"]
            assert known[name].refunded_cents < refunded <= known[name].amount_cents
            known[name] = known[name]._replace(refunded_cents=refunded)
    return list(known.values())


@given(paid=payments(), recorded=sales())
def test_a_fixed_difference_is_not_found_again(paid: list[Payment], recorded: list[Recorded]):
    found = reconciliation.judge(paid, recorded, JANE)

    fixed = fix(recorded, found)

    assert all(finding.calls for finding in found)
    assert reconciliation.judge(paid, fixed, JANE) == []


@given(paid=payments(), recorded=sales(), calls=st.integers(0, 8))
def test_an_interrupted_run_is_completed_by_the_next_one(paid: list[Payment], recorded: list[Recorded], calls: int):
    found = reconciliation.judge(paid, recorded, JANE)
    whole = fix(recorded, found)

    broken = fix(recorded, found, calls=calls)
    again = fix(broken, reconciliation.judge(paid, broken, JANE))

    assert left(again) == left(whole)


def left(recorded: list[Recorded]) -> dict[str, tuple[int, str]]:
    """Return what is left of each sale of which something is."""
    remaining = [each for each in recorded if each.left_cents > 0]
    return {each.transaction_id: (each.amount_cents - each.refunded_cents, each.currency) for each in remaining}


@given(paid=payments())
def test_correctly_recorded_payments_give_no_finding(paid: list[Payment]):
    recorded = [
        Recorded(each.names[0], *each[2:6], frozenset({each.names[0]}), by_processor=False)  # amount to occurred_at
        for each in paid
    ]

    assert reconciliation.judge(paid, recorded, JANE) == []


def test_each_difference_has_its_code():
    own = SOLD._replace(transaction_id="order-1", names=frozenset({"order-1"}))
    earlier = JANE._replace(first_purchase_at=NOW - timedelta(days=30))
    cases = [
        (PAID, [], JANE, Code.MISSING),
        (PAID, [], earlier, Code.RENEWAL_NOT_REPORTED),
        (PAID, [SOLD, own], JANE, Code.DOUBLED),
        (PAID, [SOLD._replace(amount_cents=9_000)], JANE, Code.AMOUNT_MISMATCH),
        (PAID, [SOLD._replace(amount_cents=11_000)], JANE, Code.AMOUNT_MISMATCH),
        (PAID, [SOLD._replace(currency="EUR")], JANE, Code.CURRENCY_MISMATCH),
        (PAID._replace(returned_cents=1), [SOLD], JANE, Code.REFUND_MISSING),
    ]
    equal = [
        (PAID, [SOLD._replace(refunded_cents=2_000)]),  # the shop knows of a refund that is not in this export
        (PAID, [own]),
        (PAID, [SOLD, SOLD._replace(transaction_id="in_9", names=frozenset({"in_9"}), by_processor=True)]),
        (PAID._replace(returned_cents=10_000), []),
    ]

    for paid, recorded, buyer, code in cases:
        assert [finding.code for finding in reconciliation.judge([paid], recorded, buyer)] == [code], (paid, recorded)
    assert [reconciliation.judge([paid], recorded, JANE) for paid, recorded in equal] == [[]] * 4
