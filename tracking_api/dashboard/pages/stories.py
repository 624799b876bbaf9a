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
PEOPLE: dict[str, tuple[str, str]] = {
    "customer_not_found": (
        "We do not know this customer.",
        "No lead with this customer key arrived, and the sale named no click. So no partner can be credited.",
    ),
    "not_recorded": ("It never arrived.", "Your server has reported nothing with this number, and no customer has it."),
    "no_sale": ("No sale arrived.", "The customer signed up, but your server has not reported that they paid."),
    "attribution_window_expired": (
        "The customer's visit was too long ago.",
        "The partner's link was followed longer ago than the program's attribution window allows.",
    ),
    "customer_not_attributed": ("The partner has left the program.", "So no one earns on this customer's sales."),
    "sale_before_click": ("The customer paid before they followed the link.", "So no partner can be credited."),
    "currency_not_supported": ("There is no exchange rate for it.", "So the commission cannot be computed."),
    "identifier_conflict": (
        "It names two different customers.",
        "The click belongs to one customer and the customer key to another, so it is not known whose sale it is.",
    ),
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
    def sentence(self) -> tuple[str, str]:
        """What happened in people's words, and what follows from it."""
        return PEOPLE.get(self.explanation.outcome, (self.explanation.text, self.explanation.smallest_change or ""))

    @property
    def path(self) -> str:
        """The path of the program's pages."""
        return f"/programs/{self.program.id}"


def of(program: Program, explanation: Explanation) -> StoryView:
    """Return the view of an explanation."""
    kind, value = next((kind, value) for kind, value in explanation.subject._asdict().items() if value is not None)
    return StoryView(program, explanation, kind, value, {each.step: each.facts for each in explanation.steps})
