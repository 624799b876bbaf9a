"""An explanation as pages show it: who, which click, why credited or not, and what to do."""

from typing import Any, NamedTuple

from storage.diagnosis.explanation import Explanation
from storage.lists.programs import Program
from storage.rules.outcome import SaleOutcome

GOOD = {SaleOutcome.CREDITED, SaleOutcome.CREDITED_IN_PART}
OPEN = {
    SaleOutcome.POSSIBLE_DUPLICATE,
    SaleOutcome.NO_SALE,
    SaleOutcome.NO_LEAD,
    SaleOutcome.LEAD_PROVISIONAL,
    SaleOutcome.ONLY_A_TEST,
    SaleOutcome.PAYMENT_WAITING,
    SaleOutcome.PAYMENT_HELD,
}
TITLES = {"transaction_id": "Transaction", "customer_key": "Customer", "click_id": "Click"}
IN_CENTS = {"refunds", "arithmetic"}  # these steps' texts; pages write their amounts as money


class StoryView(NamedTuple):
    """An explanation in its program; `facts` are those of its steps by the step's name."""

    program: Program
    explanation: Explanation
    kind: str
    value: str
    facts: dict[str, dict[str, Any]]

    @property
    def title(self) -> str:
        """What the story is about."""
        return TITLES[self.kind]

    @property
    def tone(self) -> str:
        """The class of the badge."""
        outcome = self.explanation.outcome
        return "approved" if outcome in GOOD else "pending" if outcome in OPEN else "rejected"

    @property
    def steps(self) -> list[tuple[str, str, str]]:
        """The steps as name, state and text, without those that are about amounts."""
        return [(each.step, each.state, each.text) for each in self.explanation.steps if each.step not in IN_CENTS]

    @property
    def path(self) -> str:
        """The path of the program's pages."""
        return f"/programs/{self.program.id}"


def of(program: Program, explanation: Explanation) -> StoryView:
    """Return the view of an explanation."""
    kind, value = next((kind, value) for kind, value in explanation.subject._asdict().items() if value is not None)
    return StoryView(program, explanation, kind, value, {each.step: each.facts for each in explanation.steps})
