"""Each verdict in words: what it means, and the smallest change that would have credited the sale."""

from storage.rules.errors import BY_CODE
from storage.rules.outcome import Meaning, Verdict

MEANINGS: dict[Verdict, Meaning] = {
    Verdict.CREDITED: Meaning("The sale is recorded and its commission credited.", None),
    Verdict.CREDITED_IN_PART: Meaning(
        "The sale is credited; a refund took its share of the commission back.",
        "None: the refunded part earns nothing. A refund made in error is corrected by a new sale.",
    ),
    Verdict.FULLY_REFUNDED: Meaning(
        "The sale was credited, then refunded whole: its commission was taken back.",
        "No refund. A refund made in error is corrected by a new sale with its own transaction_id.",
    ),
    Verdict.COMMISSION_REJECTED: Meaning(
        "The sale was credited; somebody then rejected the commission.",
        "The decision itself: the audit log says who rejected it. A rejection is final.",
    ),
    Verdict.COMMISSION_RATE_ZERO: Meaning(
        "The sale is recorded, but the rate in force paid nothing.",
        "A commission_rate above 0 before the sale; a change now holds for later sales only.",
    ),
    Verdict.COMMISSION_ROUNDS_TO_ZERO: Meaning(
        "The sale is recorded; its commission is less than half a cent.",
        "A larger amount_cents (it is in cents, not in whole units of the currency), or a higher commission_rate.",
    ),
    Verdict.RECURRING_PERIOD_OVER: Meaning(
        "The sale is recorded, but came after the months in which later sales of a customer earn.",
        "A longer recurring_months (null: for life) before the sale; a change now holds for later sales only.",
    ),
    Verdict.ONLY_A_TEST: Meaning(
        "Only a test-mode call with this transaction_id was received.",
        "Send the same sale without additional_data.test_mode.",
    ),
    Verdict.NO_SALE: Meaning(
        "The customer is a settled lead; no sale of theirs has reached the service.",
        "Send POST /api/v1/track/sale with this customer_key and the program key.",
    ),
    Verdict.LEAD_PROVISIONAL: Meaning(
        "A browser sent the lead and no server has confirmed it: it is provisional, and no sale has arrived.",
        "Send POST /api/v1/track/lead with the program key, the click_id and the customer_key; then the sale.",
    ),
    Verdict.NO_LEAD: Meaning(
        "The click is recorded; nobody has signed up or paid with it.",
        "Send a lead with this click_id and the program key at signup, or the click_id with the sale.",
    ),
    Verdict.CLICK_FILTERED: Meaning(
        "The click came from a known bot or a prefetch: it is stored, and not counted.",
        "A click by a person's browser. A lead or sale with this click_id would still be attributed.",
    ),
    Verdict.NOT_RECORDED: Meaning(
        "No call with this identifier has reached the service, nor was one refused in the last 30 days.",
        "Send the call. If it was sent: check that it carries this program's key and this exact identifier.",
    ),
}
MEANINGS |= {
    Verdict(code): Meaning(error.message, error.hint) for code, error in BY_CODE.items() if code in set(Verdict)
}
